# SPDX-License-Identifier: GPL-2.0
"""The table and the page."""

import html.parser
import re
import shutil
import unittest
from unittest import mock

from rigtest import Case, fake

from kit.run import Failure
from seqrig import plots, report, results, table

VOID = {"meta", "br", "rect", "path", "use", "link", "img", "hr"}


class Strict(html.parser.HTMLParser):
    """Notes elements that are not closed in order, and any address that leaves the page."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.outside = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.outside += [value for name, value in attrs if name in ("src", "href", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag, tag


class Table(Case):
    """table.render()."""

    def test_width_and_marks(self):
        run, _ = self.play(fake.Engine(), ["krb5*-{tcp,rdma}-fio", "krb5i-tcp-fio-v3"], repeats=2)
        text = table.render(run.summary)
        self.assertLessEqual(max(map(len, text.splitlines())), 120)
        self.assertRegex(text, r"patched/patched +0\* +0\* +0 +0 +0\* +0\* +0\* ")
        self.assertRegex(text, r"base/base +824 +840 .* faults")
        self.assertIn("leans on base/base", text)
        self.assertIn("crypto: aes-lib, sha1-lib", text)
        self.assertIn("2 runs of 15 s", text)

    def test_broken_rows_have_dashes(self):
        run, _ = self.play(fake.Engine({"patched/patched": fake.panic()}))
        text = table.render(run.summary)
        self.assertRegex(text, r"patched/patched +- .* BROKE")
        self.assertIn("Kernel panic", text)


class Headline(Case):
    """The verdict in one sentence."""

    def headline(self, *args, **how):
        run, _ = self.play(*args, **how)
        return report.headline(run.rows)

    def test_good(self):
        text, good = self.headline(fake.Engine(), ["krb5*-tcp-fio"])
        self.assertTrue(good)
        self.assertEqual("With the series on both sides, all 3 conditions ran without an I/O"
                         " error; the base failed 3 of 3, with 1,236 I/O errors.", text)

    def test_bad(self):
        text, good = self.headline(fake.Engine({"patched/patched": fake.NOISY}))
        self.assertFalse(good)
        self.assertIn("0 of 1 condition passed, with 412 I/O errors", text)

    def test_base_alone(self):
        text, good = self.headline(fake.Engine(), subject=("base", "base"))
        self.assertFalse(good)
        self.assertIn("The base alone: 1 of 1 condition failed", text)

    def test_broken(self):
        _, good = self.headline(fake.Engine({"patched/patched": fake.panic()}))
        self.assertFalse(good)


@unittest.skipUnless(shutil.which("gnuplot"), "no gnuplot here")
class Page(Case):
    """report.render()."""

    def page(self, *args, **how):
        run, _ = self.play(*args, **how)
        path = report.render(run.folder)
        parser = Strict()
        text = path.read_text(encoding="utf-8")
        parser.feed(text)
        self.assertEqual([], parser.open)
        return text, parser

    def test_self_contained_and_named(self):
        text, parser = self.page(fake.Engine(latency=True), ["krb5*-tcp-fio"])
        self.assertEqual([], parser.outside)
        self.assertNotRegex(text, r"https?://|url\(")
        pictures = [attrs for tag, attrs in parser.tags if tag == "svg"]
        self.assertGreaterEqual(len(pictures), 3 + 3)
        for attrs in pictures:
            self.assertEqual("img", attrs["role"])
            self.assertTrue(attrs["aria-label"])
        heads = [attrs for tag, attrs in parser.tags if tag == "th"]
        self.assertTrue(all("scope" in attrs for attrs in heads))
        ids = [attrs["id"] for _, attrs in parser.tags if "id" in attrs]
        self.assertEqual(len(ids), len(set(ids)))

    def test_colours_follow_the_page(self):
        text, _ = self.page(fake.Engine(latency=True))
        for variable in ("var(--base)", "var(--patched)", "var(--grid)", "currentColor"):
            self.assertRegex(text[text.index("<svg"):], re.escape(variable))
        self.assertNotRegex(text[text.index("<svg"):], r"black|rgb\(")

    def test_names_are_escaped(self):
        run, _ = self.play(fake.Engine())
        run.meta["repeat"] = "make <rig> & $x"
        run.save()
        self.assertIn("make &lt;rig&gt; &amp; $x",
                      report.render(run.folder).read_text(encoding="utf-8"))

    def test_odd_runs_still_render(self):
        engines = [(fake.Engine(), {"subject": ("base", "base")}),
                   (fake.Engine({"patched/patched": fake.panic()}), {}),
                   (fake.Engine({"base/base": fake.QUIET}), {}),
                   (fake.Engine(), {"control": "none"}),
                   (fake.Engine(), {"subject": ("base", "patched")})]
        for engine, how in engines:
            with self.subTest(how):
                self.setUp()
                self.page(engine, **how)

    def test_a_run_without_rows(self):
        run = self.new_run()
        self.assertIn("before its first result",
                      report.render(run.folder).read_text(encoding="utf-8"))

    def test_a_script_that_gnuplot_rejects(self):
        with self.assertRaisesRegex(Failure, r"gnuplot: .*\(title\)"):
            plots.gnuplot("plot [", "title")


class NoGnuplot(Case):
    """The tool is missing."""

    def test_names_the_package(self):
        with mock.patch("shutil.which", return_value=None):
            with self.assertRaisesRegex(Failure, "gnuplot-nox"):
                plots.gnuplot("", "x")


class Buckets(Case):
    """Slices of time."""

    def test_gaps_and_extremes(self):
        found = plots.buckets([(0.0, 1.0), (0.1, 9.0), (16.0, 2.0)], 16.0)
        self.assertEqual((9.0, 9.0), found[0][1:] if found[0][2] == 9.0 else found[1][1:])
        self.assertIsNone(found[80][1])
        self.assertEqual(2.0, found[-1][2])

    def test_bad_csv(self):
        path = self.root / "x.csv"
        path.write_text("ms,usec,kind\n1\n", encoding="utf-8")
        with self.assertRaises(Failure):
            plots.read_latency(path)

    def test_find_names_what_is_missing(self):
        with mock.patch.object(results, "RESULTS", self.root):
            with self.assertRaisesRegex(Failure, "no results yet"):
                results.find()


if __name__ == "__main__":
    unittest.main()
