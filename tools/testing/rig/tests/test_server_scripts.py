# SPDX-License-Identifier: GPL-2.0
"""The guest's scripts 'stall', 'slowop' and 'window.sh', run here on files instead of a kernel's."""

import subprocess
import tempfile
import unittest
from pathlib import Path

GUEST = Path(__file__).resolve().parents[1] / "guest"
SWITCHES = ("ignore-client-disconnect", "ignore-server-disconnect", "ignore-cache-wait", "verbose",
            "task-filter", "space", "interval", "times", "probability", "gss-stall-us")


class Script(unittest.TestCase):
    """Runs a guest script whose share is a folder here."""

    def setUp(self):
        self.host = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.host / "raw").mkdir()
        (self.host / "knobs").mkdir()
        (self.host / "env").write_text("")

    def bash(self, name, tail="", args=(), **env):
        """(status, output) of a script, or of what a sourced one defines."""
        for script in (name, "common.sh"):
            text = (GUEST / script).read_text().replace("/host/guest/", f"{self.host}/")
            (self.host / script).write_text(text.replace("/host/", f"{self.host}/"))
        argv = ["bash", self.host / name, *args]
        if tail:
            argv = ["bash", "-c", f". {self.host}/common.sh; . {self.host}/{name}; {tail}"]
        done = subprocess.run(argv, text=True, capture_output=True, timeout=20, check=False,
                              env={"PATH": "/usr/bin:/bin", **env})
        self.assertEqual("", done.stderr)
        return done.returncode, done.stdout.strip()

    def put(self, **files):
        """Files in the folder of knobs."""
        for name, text in files.items():
            (self.host / "knobs" / name.replace("_", "-")).write_text(f"{text}\n")

    def knob(self, name):
        """The content of a knob."""
        return (self.host / "knobs" / name).read_text().strip()


class Stall(Script):
    """The switch of the server's kernel."""

    def run_stall(self, *args, **env):
        """Call the script; SWITCH is the folder of knobs."""
        return self.bash("stall", args=args, SWITCH=str(self.host / "knobs"),
                         CALLS=str(self.host / "calls"), **env)

    def test_without_the_switch_one_line_says_so(self):
        status, said = self.run_stall("start", STALL_US="20000")
        self.assertEqual(1, status)
        self.assertEqual("rig: server kernel has no gss-stall-us in fail_sunrpc:"
                         " SERVER= must have the patch that adds it", said)

    def test_nothing_else_may_break(self):
        self.put(**{name.replace("-", "_"): 0 for name in SWITCHES})
        self.assertEqual((0, ""), self.run_stall("start", STALL_US="5000"))
        for name in SWITCHES[:3]:
            self.assertEqual("Y", self.knob(name))
        self.assertEqual(("0", "N", "0", "200", "100", "5000"), tuple(map(self.knob, (
            "verbose", "task-filter", "space", "interval", "probability", "gss-stall-us"))))

    def test_with_lag_it_waits_for_a_rate(self):
        self.put(**{name.replace("-", "_"): 0 for name in SWITCHES})
        self.assertEqual((0, ""), self.run_stall("start", LAG="400"))
        self.assertEqual("0", self.knob("gss-stall-us"))

    def test_the_stalls_are_counted(self):
        self.put(**{name.replace("-", "_"): 7 for name in SWITCHES})
        (self.host / "knobs/times").write_text(f"{10 ** 9 - 91}\n")
        self.assertEqual((0, ""), self.run_stall("stop", STALL_US="5000"))
        self.assertEqual("stalls 91\n", (self.host / "raw/stalls").read_text())
        self.assertEqual(("0", "0"), (self.knob("probability"), self.knob("gss-stall-us")))

    def test_a_sleep_lets_the_wanted_calls_pass(self):
        rows = [("500", "1000000", "800000"), ("20000", "1000000", "20000"),
                ("500", "2000000", "1600000"), ("10", "1000000", "3000000")]
        for calls, usec, wanted in rows:
            self.assertEqual((0, wanted), self.run_stall("sleep_for", calls, usec, LAG="400"))
        self.assertEqual((1, ""), self.run_stall("sleep_for", "0", "1000000", LAG="400"))

    def test_the_calls_of_nfsd(self):
        (self.host / "calls").write_text("net 5 0 5 1\nrpc 1234 0 0 0 0\nproc4 2 0 1\n")
        self.assertEqual((0, "1234"), self.run_stall("calls"))


class SlowOp(Script):
    """One slow operation in many."""

    def test_the_calls_of_the_client(self):
        (self.host / "calls").write_text("net 0 0 0 0\nrpc 5678 1 5678\nproc4 2 0 1\n")
        self.assertEqual((0, "5678"), self.bash("slowop", args=("calls",),
                                                CALLS=str(self.host / "calls")))


class Window(Script):
    """N and H of the server."""

    def call(self, function, **env):
        """Call a function of window.sh."""
        return self.bash("window.sh", function, KNOBS=str(self.host / "knobs"),
                         **{"WINDOW": "", **env})

    def test_nothing_is_set_unless_wanted(self):
        self.assertEqual((0, ""), self.call("set_window"))

    def test_both_are_set(self):
        for name in ("gss_svc_window", "gss_svc_history"):
            (self.host / "knobs" / name).write_text("0\n")
        self.assertEqual((0, ""), self.call("set_window", WINDOW="128"))
        for name in ("gss_svc_window", "gss_svc_history"):
            self.assertEqual("128\n", (self.host / "knobs" / name).read_text())

    def test_without_the_knobs_one_line_says_so(self):
        status, said = self.call("set_window", WINDOW="128")
        self.assertEqual((1, 1), (status, len(said.splitlines())))
        self.assertIn("rig: server kernel has no gss_svc_window", said)

    def test_a_knob_that_refuses(self):
        (self.host / "knobs/gss_svc_window").symlink_to("/dev/full")
        (self.host / "knobs/gss_svc_history").symlink_to("/dev/full")
        status, said = self.call("set_window", WINDOW="100")
        self.assertEqual((1, "rig: the server kernel refuses gss_svc_window=100"), (status, said))

    def test_the_server_tells_what_it_keeps(self):
        rows = [("", "128 128"),
                ("#handle window history max floor accepted low seen max_lag\n", "128 128"),
                ("#handle window\n\\x01000000 1024 8192 77 0 70 0 0 3\n"
                 "# \\x02000000 4096 32768 1 0 1 0 0 0\n\\x03000000 0 128 0 0 0 0 0 0\n",
                 "1024 8192")]
        for text, wanted in rows:
            (self.host / "contexts").write_text(text)
            self.assertEqual((0, wanted), self.call(f"told_window {self.host}/contexts"))
        self.assertEqual((0, "128 128"), self.call("told_window /no/such/file"))


if __name__ == "__main__":
    unittest.main()
