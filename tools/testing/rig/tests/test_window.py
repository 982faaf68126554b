# SPDX-License-Identifier: GPL-2.0
"""What a row says about the server's window: its counters, stalls, junk, replays."""

import unittest
from types import SimpleNamespace

from rigtest import Case

from seqrig import results, window

SERVER = """\
accepted {accepted}
low {low}
seen 3
large 0
closes 9
max_lag 412
contexts 2
bytes 2048
"""
SLAB = "SUnreclaim:       {} kB\n"
KTAP = """\
KTAP version 1
1..2
ok 1 the server answered
# summary: errors=0 operations=60000 junk_calls={} junk_lost=0
"""


class Raw(Case):
    """A folder of what the guests left."""

    def raw(self, files):
        """The folder with the given {name: text}."""
        root = self.root / str(len(list(self.root.iterdir())))
        root.mkdir()
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return root

    @staticmethod
    def condition(**fields):
        """As much of a condition as is looked at."""
        return SimpleNamespace(**{"load": "fio", "stall_us": None, "lag": None, **fields})


class Server(Raw):
    """The fields srv_*."""

    def test_counts_are_those_of_the_load_and_the_rest_is_as_it_stands(self):
        raw = self.raw({"server.before/gss-server": SERVER.format(accepted=100, low=1),
                        "server.after/gss-server": SERVER.format(accepted=900, low=7)})
        self.assertEqual({"srv_accepted": 800, "srv_low": 6, "srv_seen": 0, "srv_large": 0,
                          "srv_closes": 0, "srv_max_lag": 412, "srv_contexts": 2,
                          "srv_bytes": 2048}, window.server(raw))

    def test_a_kernel_without_the_file_has_none(self):
        found = window.fields(self.condition(), self.raw({}))
        self.assertEqual({None}, set(found.values()))
        self.assertEqual(set(window.FIELDS), set(found))

    def test_a_line_that_is_missing_is_none(self):
        raw = self.raw({"server.before/gss-server": "low 1\n", "server.after/gss-server": "low 1\n"})
        self.assertEqual((0, None), (window.server(raw)["srv_low"], window.server(raw)["srv_bytes"]))

    def test_every_field_is_in_the_results(self):
        self.assertLessEqual(set(window.FIELDS), set(results.FIELDS))

    def test_what_agrees_needs_no_note(self):
        self.assertIsNone(window.note({"srv_low": 6, "seqno_low": 6, "srv_seen": None,
                                       "seqno_seen": 2}))

    def test_what_disagrees_is_noted_in_one_line(self):
        self.assertEqual("srv_low 6, but the trace has seqno_low 5; srv_seen 0, but the trace has"
                         " seqno_seen 2", window.note({"srv_low": 6, "seqno_low": 5, "srv_seen": 0,
                                                       "seqno_seen": 2}))


class Facts(Raw):
    """What is said below the table."""

    def test_each_experiment_has_its_words(self):
        rows = [({}, ""), ({"stalls": 91}, "91 calls stalled"),
                ({"stalls": 91, "srv_max_lag": 412, "note": "srv_low 6, but"},
                 "91 calls stalled; highest lag accepted 412; srv_low 6, but"),
                ({"junk_calls": 60000, "junk_growth": -4},
                 "60000 junk calls, the server's slab grew by -4 KiB"),
                ({"replay_near": 5, "replay_mid": 4, "replay_far": 3},
                 "sent again and refused: 5 inside N, 4 past N, 3 past H")]
        for row, wanted in rows:
            self.assertEqual(wanted, window.facts(row))


class Stalls(Raw):
    """The switch must have fired."""

    def test_stalls_are_counted(self):
        raw = self.raw({"stalls": "stalls 91\n"})
        found = window.fields(self.condition(lag=400), raw)
        self.assertEqual(91, found["stalls"])
        self.assertEqual("", window.cause(self.condition(lag=400), found))

    def test_a_switch_that_never_fired_proves_nothing(self):
        for files in ({"stalls": "stalls 0\n"}, {}):
            found = window.fields(self.condition(stall_us=20000), self.raw(files))
            self.assertEqual("the stall switch never fired",
                             window.cause(self.condition(stall_us=20000), found))


class Flood(Raw):
    """What junk Calls leave."""

    def cause(self, grown, calls=60000, **row):
        """Why a flood fails by whose end the slab has grown by some KiB."""
        cond = self.condition(load="flood")
        raw = self.raw({"server.before/slab": SLAB.format(20000), "ktap": KTAP.format(calls),
                        "server.after/slab": SLAB.format(20000 + grown)})
        return window.cause(cond, {"reconnects": 0, **window.fields(cond, raw), **row})

    def test_an_entry_each_fails(self):
        grown = 60000 * 704 // 1024
        self.assertEqual(f"the server's slab grew by {grown} KiB in 60000 junk calls",
                         self.cause(grown))

    def test_the_edge(self):
        most = 60000 * 704 // 1024 // 10 + 1024
        self.assertEqual("", self.cause(most))
        self.assertIn("slab grew", self.cause(most + 1))

    def test_a_slab_that_shrinks(self):
        self.assertEqual("", self.cause(-500))

    def test_too_few_calls_show_nothing(self):
        self.assertEqual("3000 junk calls are too few to show a growth", self.cause(0, 3000))

    def test_a_client_that_was_disturbed(self):
        self.assertEqual("the mount lost connections (2)", self.cause(0, reconnects=2))

    def test_an_unknown_slab(self):
        cond = self.condition(load="flood")
        found = window.fields(cond, self.raw({"ktap": KTAP.format(60000)}))
        self.assertEqual((60000, None), (found["junk_calls"], found["junk_growth"]))
        self.assertIn("did not tell", window.cause(cond, {"reconnects": 0, **found}))


class Replay(Raw):
    """The window itself must have refused what was sent again."""

    def cause(self, seen, low, **row):
        """Why a replay fails of 5 near, 4 in the middle and 3 far."""
        cond = self.condition(load="replay")
        raw = self.raw({"ktap": "# summary: errors=0 replay_near=5 replay_mid=4 replay_far=3\n"})
        return window.cause(cond, {"reconnects": 0, "seqno_seen": seen, "seqno_low": low,
                                   **window.fields(cond, raw), **row})

    def test_all_by_the_window(self):
        self.assertEqual("", self.cause(9, 3))

    def test_some_refused_for_another_reason(self):
        for seen, low in ((8, 3), (9, 2), (12, 0)):
            self.assertEqual(f"9 calls sent again inside H and 3 past it, but the window refused"
                             f" {seen} as seen and {low} as low", self.cause(seen, low))

    def test_the_mount_must_keep_its_connections(self):
        self.assertEqual("the mount lost connections (1)", self.cause(9, 3, reconnects=1))


if __name__ == "__main__":
    unittest.main()
