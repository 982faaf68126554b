# SPDX-License-Identifier: GPL-2.0
"""Names of conditions: the grammar, the shapes, the globs."""

import unittest

from rigtest import Case

from kit.run import Failure
from seqrig import condition, shapes


class Names(Case):
    """parse()."""

    def test_plain_tcp(self):
        cond = condition.parse("krb5i-tcp-fio")
        self.assertEqual(("krb5i", "tcp", "fio", "4.2", 8, 60),
                         (cond.sec, cond.transport, cond.load, cond.vers, cond.nconnect,
                          cond.seconds))

    def test_rdma_has_one_connection(self):
        self.assertEqual(1, condition.parse("krb5-rdma-fio").nconnect)
        self.assertEqual(4, condition.parse("krb5-rdma-fio-nc4").nconnect)

    def test_shapes_change_their_field(self):
        rows = [("v3", "vers", "3"), ("v4.0", "vers", "4.0"), ("nc16", "nconnect", 16),
                ("kill", "kill_ms", 200), ("kill50", "kill_ms", 50), ("hogs", "hogs", 2),
                ("mem", "mempress_mb", 1024), ("vcpu2", "vcpus", 2), ("nfsd16", "nfsd", 16),
                ("slots64", "slots", 64), ("t60", "gssd_t", 60),
                ("expire48", "key_expire_timeo", 48), ("stopgssd", "stop", ("rpc.gssd", 5, 40)),
                ("stopkdc9", "stop", ("krb5kdc", 5, 9)), ("restart", "restart_after", 5),
                ("kill200", "kill_ms", 200), ("outage", "outage_s", 20),
                ("outage90", "outage_s", 90), ("life600", "ticket_s", 600),
                ("sha2", "enctype", "aes256-cts-hmac-sha384-192"),
                ("camellia", "enctype", "camellia256-cts-cmac"), ("stall", "stall_us", 20000),
                ("stall5000", "stall_us", 5000), ("lag", "lag", 400), ("lag1000", "lag", 1000),
                ("win128", "window", 128), ("slowop", "slow_every", 5000),
                ("slowop9", "slow_every", 9), ("nothrottle", "throttle", False),
                ("toggle", "toggle_ms", 500), ("margin4", "margin", 4), ("guard5", "guard_ms", 5),
                ("giveup900", "giveup_ms", 900), ("signals", "signals_ms", 300), ("gone", "gone", True),
                ("unload", "unload", True)]
        for token, field, wanted in rows:
            with self.subTest(token):
                self.assertEqual(wanted,
                                 getattr(condition.parse(f"krb5p-tcp-fio-{token}"), field))

    def test_netem_direction_and_half(self):
        rows = [("delay", [("c2s", False), ("s2c", False)]),
                ("delayhalf", [("c2s", True), ("s2c", True)]),
                ("loss2down", [("s2c", False)]), ("reorder10uphalf", [("c2s", True)])]
        for token, wanted in rows:
            with self.subTest(token):
                netem = condition.parse(f"krb5p-tcp-fio-{token}").netem
                self.assertEqual(wanted, [(one["direction"], one["half"]) for one in netem])

    def test_netem_lists_are_not_shared(self):
        condition.parse("krb5p-tcp-fio-delay")
        self.assertEqual([], condition.parse("krb5p-tcp-fio").netem)

    def test_defaults_give_way_to_shapes(self):
        cond = condition.parse("krb5p-tcp-fio-sha2", seconds=7, enctype="x")
        self.assertEqual((7, "aes256-cts-hmac-sha384-192"), (cond.seconds, cond.enctype))

    def test_selftests_take_shapes_like_any_load(self):
        cond = condition.parse("krb5i-tcp-drc-v3-kill200", seed=7)
        self.assertEqual(("drc", "3", 8, 200, 7),
                         (cond.load, cond.vers, cond.nconnect, cond.kill_ms, cond.seed))
        self.assertEqual(("storm", 1), (condition.parse("krb5p-rdma-storm").load,
                                        condition.parse("krb5p-rdma-storm").nconnect))

    def test_an_outage_outlasts_the_ticket_unless_shaped(self):
        cond = condition.parse("krb5-tcp-outage-v3")
        self.assertGreater(cond.outage_s, cond.ticket_s)
        self.assertLess(cond.key_expire_timeo, cond.ticket_s)
        cond = condition.parse("krb5-tcp-outage-life600-outage30-expire5")
        self.assertEqual((600, 30, 5), (cond.ticket_s, cond.outage_s, cond.key_expire_timeo))
        self.assertIsNone(condition.parse("krb5-tcp-fio").outage_s)

    def test_the_responder_has_its_window_and_ports(self):
        cond = condition.parse("krb5-tcp-silent")
        self.assertEqual(("3", 8, None, 8), (cond.vers, cond.window, cond.lose, cond.nconnect))
        for option in ("port=2049", "mountport=2049", "timeo=50"):
            self.assertIn(option, cond.mount_opts.split(","))
        cond = condition.parse("krb5-tcp-silent-win2-v3-lose-nc4")
        self.assertEqual((2, 500, 4), (cond.window, cond.lose, cond.nconnect))

    def test_one_shape_more(self):
        cond = condition.parse("krb5-tcp-fio-nc4", seconds=7, enctype="x", seed=3)
        more = condition.with_shape(cond, "nothrottle")
        self.assertEqual(("krb5-tcp-fio-nc4-nothrottle", False, 4, 7, "x", 3),
                         (more.name, more.throttle, more.nconnect, more.seconds, more.enctype,
                          more.seed))
        self.assertIsNone(cond.throttle)
        with self.assertRaises(Failure):
            condition.with_shape(more, "nothrottle")

    def test_unknown_parts_name_the_nearest_in_one_line(self):
        rows = [("krb5x-tcp-fio", "krb5x", "krb5"), ("krb5-tpc-fio", "tpc", "tcp"),
                ("krb5-tcp-foi", "foi", "fio"), ("krb5-tcp-fio-dely", "dely", "delay"),
                ("krb5-tcp-fio-", "", ""), ("krb5", "", ""), ("", "", ""),
                ("krb5-tcp-fio-nc0", "nc0", "nc16")]
        for name, bad, near in rows:
            with self.subTest(name):
                with self.assertRaises(Failure) as caught:
                    condition.parse(name)
                text = str(caught.exception)
                self.assertNotIn("\n", text)
                self.assertIn(f"'{bad}'", text)
                self.assertIn(near, text)

    def test_contradictions(self):
        for name in ("krb5-tcp-fio-v3-v4.1", "krb5-tcp-fio-sha2-camellia",
                     "krb5-tcp-fio-v3-slots16", "krb5-tcp-fio-nc2-nc4",
                     "krb5-tcp-fio-outage-delay", "krb5-tcp-outage-loss",
                     "krb5-tcp-fio-stall-lag", "krb5-tcp-fio-win128-win256",
                     "sys-tcp-fio-lag", "sys-tcp-fio-win128", "sys-tcp-replay",
                     "krb5-rdma-replay", "sys-tcp-fio-nothrottle", "sys-tcp-fio-toggle",
                     "krb5-tcp-fio-nothrottle-toggle", "krb5-tcp-fio-lose", "krb5i-tcp-silent",
                     "krb5-rdma-silent", "krb5-tcp-silent-v4.1", "krb5-tcp-silent-lag", "krb5-tcp-silent-win65537",
                     "krb5-tcp-silent-restart", "krb5-tcp-silent-slowop",
                     "krb5-tcp-drc-signals", "krb5-tcp-fio-gone-delay",
                      "krb5-tcp-mixed-v3", "krb5-rdma-mixed"):
            with self.subTest(name), self.assertRaises(Failure):
                condition.parse(name)

    def test_script_needs_a_path(self):
        with self.assertRaises(Failure):
            condition.parse("krb5-tcp-script")
        self.assertEqual("/x", condition.parse("krb5-tcp-script", load_path="/x").load_path)


class Catalogue(Case):
    """catalogue() and select()."""

    def test_every_line_parses_and_is_one_line(self):
        names = [name for name, _ in condition.catalogue()]
        self.assertEqual(len(names), len(set(names)))
        for name, line in condition.catalogue():
            condition.parse(name)
            self.assertNotIn("\n", line)

    def test_every_shape_is_its_own_example(self):
        for shape in shapes.SHAPES:
            with self.subTest(shape.example):
                self.assertIs(shape, shapes.find(shape.example)[0])
                load = "silent" if shape.kind == "lose" else "fio"
                self.assertTrue(condition.describe(f"krb5-tcp-{load}-{shape.example}"))

    def test_the_six(self):
        names = [cond.name for cond in condition.select(["krb5*-{tcp,rdma}-fio"])]
        self.assertEqual({f"{sec}-{way}-fio" for sec in ("krb5", "krb5i", "krb5p")
                          for way in ("tcp", "rdma")}, set(names))
        self.assertEqual(6, len(names))

    def test_each_once_in_order(self):
        names = [cond.name for cond in condition.select(
            ["krb5p-tcp-fio", "krb5*-tcp-fio", "krb5p-tcp-fio"])]
        self.assertEqual(["krb5p-tcp-fio", "krb5-tcp-fio", "krb5i-tcp-fio"], names)

    def test_a_glob_without_a_match(self):
        with self.assertRaisesRegex(Failure, "no condition matches 'krb6"):
            condition.select(["krb6*"])

    def test_globs_match_the_users_load(self):
        found = condition.select(["krb5*-{tcp,rdma}-script"], load_path="/x")
        self.assertEqual(6, len(found))


if __name__ == "__main__":
    unittest.main()
