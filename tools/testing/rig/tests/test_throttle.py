# SPDX-License-Identifier: GPL-2.0
"""What a row says about the client's throttle."""

import unittest
from types import SimpleNamespace

from rigtest import Case

from seqrig import counters, results, throttle

COUNTERS = """\
contexts {contexts}
issued {issued}
throttled {throttled}
waited_us 5000000
spread_max 112
retired_r1 {first}
retired_r2 0
retired_r3 3
retired_r4 {fourth}
retired_r5 1
retired_r6 0
retired_r7 2
"""
WAITS = """\
# event histogram
#
# trigger info: hist:keys=waited_us.buckets=1000:vals=hitcount:sort=hitcount:size=2048 [active]
#

{ waited_us: ~ 0-999 } hitcount:         70
{ waited_us: ~ 21000-21999 } hitcount:          1
{ waited_us: ~ 3000-3999 } hitcount:          9

Totals:
    Hits: 80
    Entries: 3
    Dropped: 0
"""
SUMMARY = ("# summary: errors=0 operations=9 rsp_answered=90 rsp_newest=97 rsp_max_lag=7 rsp_low=0"
           " rsp_seen=0 rsp_lost=2 rsp_pause_ms=31\n")


def condition(**fields):
    """As much of a condition as is looked at."""
    return SimpleNamespace(**{"load": "fio", "throttle": None, "lose": None, "slow_every": None,
                              **fields})


class Fields(Case):
    """fields(), and what becomes of them."""

    def put(self, files):
        """Write {name: text} where the guests would."""
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        return self.root

    def counted(self):
        """The fields of a load."""
        return throttle.fields(condition(), self.put({
            "client.before/gss-client": COUNTERS.format(contexts=2, issued=100, throttled=4,
                                                        first=90, fourth=0),
            "client.after/gss-client": COUNTERS.format(contexts=3, issued=1100, throttled=54,
                                                       first=1080, fourth=6)}))

    def test_counts_are_those_of_the_load_and_the_rest_is_as_it_stands(self):
        found = self.counted()
        self.assertEqual((3, 1000, 50, 0, 112, 990, 6), tuple(found[f"cli_{name}"] for name in (
            "contexts", "issued", "throttled", "waited_us", "spread_max", "retired_r1",
            "retired_r4")))

    def test_concessions_are_those_of_the_rules_4_to_7(self):
        self.assertEqual(("retired_r4", "retired_r7"),
                         (throttle.CONCEDED[0], throttle.CONCEDED[-1]))
        self.assertEqual(6, self.counted()["cli_conceded"])

    def test_a_kernel_without_the_file_has_none(self):
        found = throttle.fields(condition(), self.put({}))
        self.assertEqual({None}, set(found.values()))
        self.assertEqual(set(throttle.FIELDS), set(found))

    def test_a_line_that_is_missing_is_none_and_so_are_its_sums(self):
        found = throttle.fields(condition(), self.put({"client.after/gss-client": "issued 9\n"}))
        self.assertEqual((9, None, None), (found["cli_issued"], found["cli_throttled"],
                                           found["cli_conceded"]))

    def test_every_field_is_in_the_results(self):
        self.assertLessEqual(set(throttle.FIELDS), set(results.FIELDS))

    def test_the_longest_wait(self):
        self.assertEqual([(999, 70), (3999, 9), (21999, 1)], counters.buckets(WAITS))
        name = throttle.EVENT.rpartition("/")[2]
        self.put({f"client.hist/{name}": WAITS})
        self.assertEqual(21999, throttle.longest_wait(self.root))
        self.put({f"client.hist/{name}": "Totals:\n    Hits: 0\n"})
        self.assertEqual(0, throttle.longest_wait(self.root))

    def test_the_responders_report(self):
        raw = self.put({"ktap": SUMMARY})
        found = throttle.fields(condition(load="silent"), raw)
        self.assertEqual((90, 97, 7, 0, 0, 2, 31),
                         tuple(found[name] for name in throttle.RESPONDER))
        self.assertIsNone(throttle.fields(condition(), raw)["rsp_newest"])

    def test_slow_reads(self):
        self.assertEqual(7, throttle.fields(condition(), self.put({"slow": "slow_reads 7\n"}))["slow_reads"])


class Facts(Fields):
    """What is said below the table."""

    def test_nothing_where_there_is_nothing(self):
        self.assertEqual("", throttle.facts(throttle.fields(condition(), self.put({}))))

    def test_each_has_its_words(self):
        self.assertEqual("50 of 1000 numbers waited (5.0 %), 0 us in all; widest spread 112; retired"
                         " by rule 1 to 7: 990 0 0 6 0 0 0", throttle.facts(self.counted()))
        rows = [({"cli_wait_max_us": 21999, "slow_reads": 7}, "longest wait 22 ms; 7 slow reads"),
                (throttle.fields(condition(load="silent"), self.put({"ktap": SUMMARY,
                                                                     "client.after/gss-client": ""})),
                 "the responder answered 90 Calls up to number 97, highest lag 7, dropped 0 for it,"
                 " lost 2 Replies; no READ for 31 ms at most")]
        for row, wanted in rows:
            self.assertEqual(wanted, throttle.facts(row))

    def test_a_file_with_few_lines_has_words_too(self):
        row = throttle.fields(condition(), self.put({"client.after/gss-client": "issued 9\n"}))
        self.assertIn("None of 9 numbers waited", throttle.facts(row))


class Causes(Case):
    """When an experiment proves nothing."""

    def test_rows(self):
        rows = [({}, {}, ""), ({"throttle": False}, {}, ""), ({"throttle": False}, {"cli_throttled": 0}, ""),
                ({"throttle": False}, {"cli_throttled": 3}, "3 numbers waited, though the throttle is off"),
                ({"load": "silent"}, {}, "the responder left no report"),
                ({"load": "silent"}, {"rsp_newest": 5}, ""),
                ({"load": "silent", "lose": 9}, {"rsp_newest": 5, "rsp_lost": 0}, "the responder lost no Reply"),
                ({"load": "silent", "lose": 9}, {"rsp_newest": 5, "rsp_lost": 1}, ""),
                ({"slow_every": 5000}, {"slow_reads": 0}, "no read was slow"),
                ({"slow_every": 5000}, {}, "no read was slow"),
                ({"slow_every": 5000}, {"slow_reads": 1}, "")]
        for fields, counts, wanted in rows:
            with self.subTest(fields=fields, counts=counts):
                row = {**dict.fromkeys(throttle.FIELDS), **counts}
                self.assertEqual(wanted, throttle.cause(condition(**fields), row))


if __name__ == "__main__":
    unittest.main()
