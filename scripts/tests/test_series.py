# SPDX-License-Identifier: GPL-2.0
"""The series machinery on a toy kernel: tree, refresh, series, bisect."""

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from kit import patch
from kit.halve import BAD, GOOD, SKIP, first_bad
from kit.run import Failure
from kit.series import allowed, read_list, write_list, NEW_FILES
from toy import TEXT, Toy, write

NEW = "net/sunrpc/tests/new_kunit.c"


class ToyCase(unittest.TestCase):
    """A test with a toy."""

    def setUp(self):
        self.toy = Toy()
        self.addCleanup(self.toy.close)

    def passes(self, name, **env):
        """Run a script that must succeed; its stdout."""
        status, out, err = self.toy.script(name, **env)
        self.assertEqual(status, 0, err)
        return out

    def fails(self, name, *words, **env):
        """Run a script that must fail with one line that has all words."""
        status, _, err = self.toy.script(name, **env)
        self.assertEqual(status, 1, err)
        last = err.strip().splitlines()[-1]
        for word in words:
            self.assertIn(word, last)
        self.assertNotIn("Traceback", err)
        return err

    def three_patches(self):
        """A series: an edit, a new file, an amendment of that file with an edit."""
        self.passes("tree")
        toy = self.toy
        toy.commit("sunrpc: own every reply page\n\nBecause of ünits.\n\nTwice.",
                   {"net/sunrpc/xprt.c": TEXT.replace("line 20\n", "line twenty\n")}, 1)
        toy.commit("sunrpc: test it", {NEW: TEXT, "net/sunrpc/tests/.kunitconfig": "CONFIG_A=y\n"}, 2)
        toy.commit("sunrpc: amend the test", {NEW: TEXT.replace("line 3\n", "") + "no line feed at the end",
                                              "fs/nfsd/vfs.c": TEXT.replace("line 9\n", "line nine\n")}, 3)
        self.passes("refresh")

    def ask(self, expression):
        """What an expression over the scripts' modules says: (status, last line)."""
        code = f"from kit import kernel, selftests, series\nprint({expression})"
        done = subprocess.run([sys.executable, "-c", code], cwd=self.toy.top / "scripts", text=True,
                              env=self.toy.env, capture_output=True, timeout=120, check=False)
        return done.returncode, (done.stdout or done.stderr).strip().splitlines()[-1]

    def ids(self):
        """The commits of the branch series."""
        return self.toy.git("rev-list", "--reverse", "base..series").splitlines()


class RoundTrip(ToyCase):
    """tree and refresh are each other's reverse."""

    def test_empty_series(self):
        self.passes("tree")
        before = self.toy.snapshot()
        self.passes("refresh")
        self.assertEqual(self.toy.snapshot(), before)
        self.assertIn("empty", self.toy.script("series")[2])

    def test_round_trip_is_byte_identical(self):
        self.three_patches()
        before, ids = self.toy.snapshot(), self.ids()
        self.assertIn("patches/sunrpc-own-every-reply-page.patch", before)
        self.assertIn("no line feed", before[NEW][1].decode())
        self.assertNotIn(b"diff", before["patches/sunrpc-test-it.patch"][1])
        self.assertIn(b"# A comment that stays.\nsunrpc-own-every-reply-page.patch\nsunrpc-test-it.patch\n"
                      b"\t+ net/sunrpc/tests/.kunitconfig\n\t+ " + NEW.encode(), before["patches/series"][1])
        shutil.rmtree(self.toy.top / "build")
        self.passes("tree")
        self.assertEqual(self.ids(), ids)
        self.assertEqual(self.toy.git("show", f"series~1:{NEW}") + "\n", TEXT)
        self.passes("refresh")
        self.assertEqual(self.toy.snapshot(), before)
        self.assertEqual(self.ids(), ids)

    def test_base_keeps_modes_links_and_ignored_files(self):
        self.passes("tree")
        listed = self.toy.git("ls-tree", "-r", "base")
        self.assertIn("120000 blob", listed)
        self.assertRegex(listed, r"100755 blob \w+\tscripts/tool.sh")
        self.assertIn("net/hidden.o", listed)

    def test_same_base_from_tarball_and_git_tree(self):
        self.passes("tree")
        base = self.toy.git("rev-parse", "base")
        for flag, name in (("", "a.tar"), ("z", "b.tar.gz"), ("J", "c.tar.xz")):
            tarball = self.toy.root / name
            subprocess.run(["tar", f"-c{flag}f", tarball, "linux"], cwd=self.toy.root, check=True)
            self.passes("tree", LINUX=str(tarball))
            self.assertEqual(self.toy.git("rev-parse", "base"), base)
        self.toy.git("init", "-q", folder=self.toy.linux)
        self.toy.git("add", "-f", "-A", folder=self.toy.linux)
        write(self.toy.linux / "net/product.o", "ignored")
        self.passes("tree")
        self.assertEqual(self.toy.git("rev-parse", "base"), base)

    def test_removed_and_renamed_patches(self):
        self.three_patches()
        self.toy.git("reset", "-q", "--hard", "series~2")
        self.toy.git("commit", "-q", "--amend", "-m", "sunrpc: another subject")
        self.passes("refresh")
        names = {name for name in self.toy.snapshot()}
        self.assertEqual(names, {"patches/series", "patches/cover-letter", "patches/sunrpc-another-subject.patch"})
        self.assertFalse((self.toy.top / "net").exists())

    def test_name_stays_with_the_subject(self):
        self.three_patches()
        old = self.toy.top / "patches/sunrpc-test-it.patch"
        old.rename(old.with_name("short.patch"))
        listed = self.toy.top / "patches/series"
        write(listed, listed.read_text().replace("sunrpc-test-it.patch", "# why\nshort.patch"))
        self.passes("tree")
        before = self.toy.snapshot()
        self.toy.commit("more", {"MAINTAINERS": TEXT + "x\n"})
        self.passes("refresh")
        after = self.toy.snapshot()
        self.assertEqual(after.pop("patches/more.patch")[1][:5], b"From:")
        self.assertIn(b"# why\nshort.patch\n", after["patches/series"][1])
        self.assertEqual(after.pop("patches/series")[1], before.pop("patches/series")[1] + b"more.patch\n")
        self.assertEqual(after, before)

    def test_new_file_edited_here_goes_into_the_tree(self):
        self.three_patches()
        path = self.toy.top / NEW
        path.write_text(path.read_text().replace("line 30\n", "line thirty\n"))
        self.fails("refresh", "changed since", "make tree")
        self.passes("tree")
        self.assertIn("line thirty", self.toy.git("show", f"series~1:{NEW}"))


class Strict(ToyCase):
    """What does not apply exactly, or has no place, is refused by name."""

    def setUp(self):
        super().setUp()
        self.three_patches()

    def other_base(self, path, text):
        """Another base, and what must stay as it is."""
        other = self.toy.root / "other"
        shutil.copytree(self.toy.linux, other, symlinks=True)
        write(other / path, text)
        return str(other), self.toy.git("for-each-ref", "refs/heads", "refs/tags"), self.toy.snapshot()

    def refused(self, path, text, *words):
        """The series must not apply to a base with that text, and nothing may change."""
        other, refs, before = self.other_base(path, text)
        self.fails("tree", *words, LINUX=other)
        self.assertEqual(Path(other, path).read_text(), text)
        self.assertEqual(self.toy.git("for-each-ref", "refs/heads", "refs/tags"), refs)
        self.assertEqual(self.toy.git("status", "--porcelain"), "")
        self.assertEqual(self.toy.snapshot(), before)

    def test_offset(self):
        self.refused("net/sunrpc/xprt.c", "line 0\n" + TEXT,
                     "sunrpc-own-every-reply-page.patch", "net/sunrpc/xprt.c", "hunk 1")

    def test_fuzz(self):
        self.refused("fs/nfsd/vfs.c", TEXT.replace("line 6\n", "line six\n"),
                     "sunrpc-amend-the-test.patch", "fs/nfsd/vfs.c")

    def test_change_elsewhere_is_no_obstacle(self):
        other, _, _ = self.other_base("net/sunrpc/xprt.c", TEXT.replace("line 40\n", "line forty\n"))
        self.passes("tree", LINUX=other)

    def test_missing_file(self):
        other, _, _ = self.other_base("x", "")
        Path(other, "fs/nfsd/vfs.c").unlink()
        self.fails("tree", "sunrpc-amend-the-test.patch", "fs/nfsd/vfs.c", "no such file", LINUX=other)

    def test_new_file_in_the_base(self):
        self.refused(NEW, "x\n", "sunrpc-test-it.patch", NEW, "exists in the base")

    def test_final_text_that_cannot_be_taken_back(self):
        path = self.toy.top / NEW
        path.write_text("something else\n")
        self.fails("tree", "sunrpc-amend-the-test.patch", "in reverse", NEW)

    def test_unlisted_files(self):
        write(self.toy.top / "include/stray.h", "x\n")
        self.fails("tree", "include/stray.h", "listed nowhere")
        (self.toy.top / "include/stray.h").unlink()
        write(self.toy.top / "patches/stray.patch", "x\n")
        self.fails("tree", "stray.patch", "listed nowhere")

    def test_paths_outside_the_list(self):
        self.toy.commit("out", {"mm/new.c": "x\n"})
        self.fails("refresh", "mm/new.c", "outside")
        self.toy.git("reset", "-q", "--hard", "HEAD~1")
        self.toy.commit("out", {"Makefile": "x\n"})
        self.fails("refresh", "Makefile", "outside")
        listed = self.toy.top / "patches/series"
        self.toy.git("reset", "-q", "--hard", "HEAD~1")
        write(listed, listed.read_text().rstrip() + "\n\t+ README\n")
        self.fails("tree", "README", "outside")

    def test_wrong_linux(self):
        self.fails("tree", "LINUX=/nowhere", "no such file", LINUX="/nowhere")
        empty = self.toy.root / "empty"
        write(empty / "a", "x")
        self.fails("tree", str(empty), "no kernel tree", LINUX=str(empty))
        self.fails("tree", "neither a folder, a tarball", LINUX=str(empty / "a"))
        write(self.toy.linux / ".config", "")
        self.fails("tree", "holds a build")

    def test_damaged_tarball(self):
        tarball = self.toy.root / "cut.tar"
        subprocess.run(["tar", "-cf", tarball, "linux"], cwd=self.toy.root, check=True)
        tarball.write_bytes(tarball.read_bytes()[:3000])
        self.fails("tree", "cut.tar", "ends early", LINUX=str(tarball))
        left = [path.name for path in (self.toy.top / "build").iterdir()]
        self.assertEqual(sorted(left), [".lock", "linux-7.3"])

    def test_broken_patch_files(self):
        path = self.toy.top / "patches/sunrpc-own-every-reply-page.patch"
        good = path.read_text()
        for old, new, word in (("---\n", "", "ends the message"), ("Subject:", "Topic:", "Subject"),
                               ("@@ -17,7", "@@ -17,9", "hunk"), ("2026", "then", "date")):
            write(path, good.replace(old, new, 1))
            self.fails("tree", path.name, word)


class Guards(ToyCase):
    """Work in the tree is not lost."""

    def setUp(self):
        super().setUp()
        self.three_patches()

    def test_dirty_tree(self):
        for path in ("net/sunrpc/xprt.c", "net/untracked.c"):
            write(self.toy.tree / path, "x\n")
            self.fails("refresh", "uncommitted", path)
            self.fails("tree", "uncommitted", path)
            self.toy.git("stash", "-u", "-q")

    def test_unrefreshed_commit(self):
        self.toy.commit("more", {"fs/nfsd/vfs.c": TEXT})
        tip = self.toy.git("rev-parse", "series")
        self.fails("tree", "not refreshed", "FORCE=1")
        self.assertEqual(self.toy.git("rev-parse", "series"), tip)
        write(self.toy.tree / "MAINTAINERS", "an edit\n")
        self.passes("tree", FORCE="1")
        kept = self.toy.git("for-each-ref", "--format=%(objectname)", "refs/seqwin/saved").splitlines()
        self.assertIn(tip, kept)
        self.assertIn("an edit", "".join(self.toy.git("show", commit + ":MAINTAINERS") for commit in kept))
        self.assertEqual(len(self.ids()), 3)
        self.passes("tree")

    def test_dropped_commit_is_not_brought_back_silently(self):
        self.toy.git("reset", "-q", "--hard", "HEAD~1")
        self.fails("tree", "not refreshed")

    def test_other_branch_and_rebase(self):
        self.toy.git("checkout", "-q", "-b", "mine")
        self.fails("refresh", "not on branch series")
        self.toy.git("checkout", "-q", "series")
        self.toy.git("-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "-q", "-i", "HEAD~2")
        self.fails("refresh", "a rebase")
        self.fails("tree", "a rebase")
        self.passes("tree", FORCE="1")
        self.passes("refresh")

    def test_merge(self):
        self.toy.git("checkout", "-q", "-b", "side", "HEAD~1")
        self.toy.commit("side", {"MAINTAINERS": "x\n"})
        self.toy.git("checkout", "-q", "series")
        self.toy.git("merge", "-q", "--no-edit", "side")
        self.fails("refresh", "merge")

    def test_refused_commits(self):
        before = self.toy.snapshot()
        for message, word in (("a\n\nSigned-off-by: A <a@b>", "signed off"), ("a\n\ndiff --git", "stumble"),
                              ("a\n\nFrom: b", "stumble"), ("a\n\n---\nb", "stumble")):
            self.toy.commit(message, {"MAINTAINERS": "x\n"})
            self.fails("refresh", word)
            self.toy.git("reset", "-q", "--hard", "HEAD~1")
        self.toy.commit("gone again", {NEW: None})
        self.fails("refresh", NEW, "goes again")
        self.assertEqual(self.toy.snapshot(), before)


class Repairs(ToyCase):
    """The side that is the control of the cure."""

    def test_they_end_with_the_patch_that_adds_the_switch(self):
        self.three_patches()
        for number, text in ((4, "gss-stall-us\n"), (5, "gss-stall-us gss-stall-us\n")):
            self.toy.commit(f"sunrpc: number {number}, not of gss-stall-us",
                            {"net/sunrpc/xprt.c": TEXT + text}, number)
        self.passes("refresh")
        self.assertEqual((0, self.ids()[3]), self.ask("series.resolve('repairs')"))

    def test_without_the_switch_there_is_none(self):
        self.three_patches()
        status, said = self.ask("series.resolve('repairs')")
        self.assertEqual(1, status)
        self.assertIn("no patch of the series adds gss-stall-us", said)


class Selftests(ToyCase):
    """Programs for user space in the series: no kernel of their own, built from what is there."""

    SUITE = "tools/testing/selftests/sunrpc"

    def with_suite(self, **more):
        """Three patches, and one that adds a suite with one program."""
        self.three_patches()
        write(self.toy.tree / "tools/testing/selftests/lib.mk", "ignored by the Makefile below\n")
        self.toy.commit("selftests/sunrpc: add one", {
            f"{self.SUITE}/Makefile": "all:\n\tcc $(USERLDFLAGS) -o $(OUTPUT)/one one.c\n",
            f"{self.SUITE}/one.c": "int main(void) { return 0; }\n",
            "tools/testing/selftests/kselftest.h": "", "tools/testing/selftests/kselftest_harness.h": "",
            "MAINTAINERS": TEXT.replace("line 9\n", "line nine\n"), **more}, 4)
        self.passes("refresh")

    def test_no_kernel_of_their_own(self):
        self.with_suite()
        ids = self.ids()
        self.assertEqual((0, ids[2]), self.ask("kernel.same_kernel(series.resolve('patched'))"))
        self.assertEqual((0, ids[1]), self.ask(f"kernel.same_kernel('{ids[1]}')"))

    def test_a_source_beside_them_makes_a_kernel(self):
        self.with_suite(**{"net/sunrpc/xprt.c": TEXT})
        self.assertEqual((0, self.ids()[3]), self.ask("kernel.same_kernel(series.resolve('patched'))"))

    def test_built_once(self):
        self.with_suite()
        status, folder = self.ask("selftests.binaries()")
        self.assertEqual(0, status, folder)
        self.assertTrue((Path(folder) / "one").is_file())
        (Path(folder) / "one").write_text("kept")
        self.assertEqual((0, folder), self.ask("selftests.binaries()"))
        self.assertEqual("kept", (Path(folder) / "one").read_text())

    def test_that_do_not_compile(self):
        self.with_suite(**{f"{self.SUITE}/one.c": "int main(void) { return nothing; }\n"})
        status, line = self.ask("selftests.binaries()")
        self.assertEqual(1, status)
        self.assertIn("the selftests do not compile: one.c:1:", line)

    def test_a_series_without_any(self):
        self.three_patches()
        status, line = self.ask("selftests.binaries()")
        self.assertEqual(1, status)
        self.assertIn(f"has no {self.SUITE}", line)


class Mails(ToyCase):
    """make series."""

    def test_git_am_on_a_pristine_base(self):
        self.three_patches()
        out = self.passes("series")
        self.assertIn("gives the same commits", out)
        files = sorted((self.toy.top / "build/series").iterdir())
        self.assertEqual([path.name[:4] for path in files], ["0000", "0001", "0002", "0003"])
        cover = files[0].read_text()
        self.assertIn("And that.", cover)
        self.assertNotIn("***", cover)
        self.assertIn("=?utf-8?", cover)
        clone = self.toy.root / "clone"
        self.toy.git("clone", "-q", "--branch", "base", str(self.toy.tree), str(clone), folder=self.toy.root)
        self.toy.git("am", "-q", *map(str, files[1:]), folder=clone)
        self.assertEqual(self.toy.git("rev-parse", "HEAD^{tree}", folder=clone),
                         self.toy.git("rev-parse", "series^{tree}"))
        self.assertNotIn("Signed-off-by", "".join(path.read_text() for path in files))

    def test_which_stand_alone(self):
        self.passes("tree")
        text = TEXT.replace("line 5\n", "line five\n")
        self.toy.commit("sunrpc: first", {"net/sunrpc/xprt.c": text}, 1)
        text = text.replace("line 6\n", "line six\n")
        self.toy.commit("sunrpc: on top of it", {"net/sunrpc/xprt.c": text}, 2)
        text = text.replace("line 30\n", "line thirty\n")
        self.toy.commit("sunrpc: elsewhere", {"net/sunrpc/xprt.c": text}, 3)
        self.toy.commit("sunrpc: test", {NEW: TEXT}, 4)
        self.passes("refresh")
        out = [line for line in self.passes("series").splitlines() if "alone" in line or "on top" in line]
        self.assertEqual(out, ["stands alone: sunrpc-first.patch", "stands alone: sunrpc-elsewhere.patch",
                               "goes on top of sunrpc-first.patch: sunrpc-on-top-of-it.patch"])
        listed = self.toy.top / "patches/series"
        listed.write_text(listed.read_text().replace("sunrpc-elsewhere", "# needs sunrpc-first.patch\nsunrpc-elsewhere"))
        self.assertIn("goes on top of sunrpc-first.patch: sunrpc-elsewhere.patch", self.passes("series"))
        self.passes("refresh")
        self.assertIn("# needs sunrpc-first.patch\nsunrpc-elsewhere.patch", listed.read_text())
        listed.write_text(listed.read_text().replace("needs sunrpc-first", "needs sunrpc-lost"))
        self.fails("series", "sunrpc-lost.patch", "does not name")

    def test_signoff(self):
        self.three_patches()
        self.passes("series", SIGNOFF="Eva Mail <eva@mail.invalid>")
        files = sorted((self.toy.top / "build/series").iterdir())
        self.assertTrue(all("Signed-off-by: Eva Mail <eva@mail.invalid>" in path.read_text() for path in files[1:]))
        self.fails("series", "SIGNOFF", SIGNOFF="nobody")
        self.assertNotIn(b"Signed-off-by", b"".join(text for _, text in self.toy.snapshot().values()))


class Bisect(ToyCase):
    """make bisect."""

    def last(self, **env):
        """The last line of a search that succeeds."""
        return self.passes("bisect", **env).strip().splitlines()[-1]

    def test_series(self):
        self.three_patches()
        sha = self.ids()[1]
        self.assertEqual(self.last(TEST=f"touch left.o; test ! -e {NEW}"),
                         f"first bad: sunrpc-test-it {sha} sunrpc: test it")
        self.assertFalse((self.toy.top / "build/src/left.o").exists())
        self.assertEqual(self.last(TEST=f"test -e {NEW}", GOOD="patched", BAD="base"),
                         f"first good: sunrpc-test-it {sha} sunrpc: test it")
        self.assertIn(self.ids()[2], self.last(TEST="grep -q 'line 9$' fs/nfsd/vfs.c", GOOD="sunrpc-test-it"))
        self.fails("bisect", "GOOD=base is bad", TEST="false")
        self.fails("bisect", "BAD=patched is good", TEST="true")
        self.fails("bisect", "no side 'nothing'", "sunrpc-test-it", TEST="true", BAD="nothing")
        self.fails("bisect", "TEST=")
        self.fails("bisect", "no end after 1 s", TEST="exec tail -f /dev/null", LIMIT="1")

    def test_scripts_get_the_commit(self):
        self.three_patches()
        third = self.ids()[2]
        for name, kind, side in (("kunit", "KUNIT", "SIDE"), ("rig", "COND", "CLIENT")):
            write(self.toy.top / "scripts" / name, f'#!/bin/sh\ntest "${side}" != {third} && test "${kind}" = x\n', 0o755)
            self.assertIn(third, self.last(**{kind: "x"}))

    def test_other_repository(self):
        repo = self.toy.root / "other"
        repo.mkdir()
        self.toy.git("init", "-q", folder=repo)
        for count in range(12):
            write(repo / "state", f"{'broken' if count >= 5 else 'fine'} {count}\n")
            self.toy.git("add", "state", folder=repo)
            self.toy.git("commit", "-q", "-m", f"commit {count}", folder=repo)
        before = self.toy.git("for-each-ref", folder=repo)
        env = {"REPO": str(repo), "GOOD": "HEAD~11", "BAD": "HEAD"}
        line = self.last(TEST="grep -q fine state", **env)
        self.assertRegex(line, r"^first bad: \w+ \w+ commit 5$")
        self.assertIn("commit 5", self.last(TEST="grep -q 6 state && exit 125; grep -q fine state", **env))
        self.fails("bisect", "only skipped", TEST="grep -qE ' [3456]$' state && exit 125; grep -q fine state", **env)
        self.assertEqual(self.toy.git("for-each-ref", folder=repo), before)
        self.assertEqual(self.toy.git("status", "--porcelain", folder=repo), "")
        left = [path.name for path in (self.toy.top / "build").iterdir()]
        self.assertEqual(left, ["bisect"])


class Pieces(unittest.TestCase):
    """Parts that need no tree."""

    def test_halving_every_place(self):
        for size in range(1, 12):
            for bad in range(size):
                found = first_bad(range(size), lambda at, bad=bad: BAD if at >= bad else GOOD, str)
                self.assertEqual(found, bad)

    def test_halving_round_a_skip(self):
        verdicts = [GOOD, GOOD, SKIP, GOOD, BAD, BAD]
        self.assertEqual(first_bad(range(6), lambda at: verdicts[at], str), 4)

    def test_list_round_trip(self):
        text = "# a\n\nx.patch\n\t+ net/a\n\t+ net/b\n# c\ny.patch\n# end\n"
        self.assertEqual(write_list(*read_list(text)), text)
        for bad in ("X y\n", "\t+ net/a\n", "base.patch\n", "../x.patch\n"):
            with self.assertRaises(Failure):
                read_list(bad)

    def test_allowed(self):
        self.assertTrue(allowed("net/sunrpc/tests/.kunitconfig", NEW_FILES))
        for bad in ("network/a", "net/../a", "net//a", "net/.git/a", "net/a b", "README", "scripts/x", "/net/a"):
            self.assertFalse(allowed(bad, NEW_FILES), bad)

    def test_dates(self):
        for date in ("1767225600 +0000", "1767225600 -0330", "1767225600 +0545"):
            self.assertEqual(patch.git_date(patch.mail_date(date)), date)

    def test_insertion_without_context(self):
        diff = b"diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -2,0 +3 @@\n+x\n"
        change = patch.read_diff(diff)[0]
        self.assertEqual(patch.apply_change(b"1\n2\n3\n", change), b"1\n2\nx\n3\n")
        self.assertEqual(patch.apply_change(b"1\n2\nx\n3\n", change, reverse=True), b"1\n2\n3\n")


if __name__ == "__main__":
    unittest.main()
