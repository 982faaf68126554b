# SPDX-License-Identifier: GPL-2.0
"""The parsers of what guests leave, on samples as guests left them."""

import json
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from seqrig import counters, loads
from kit.run import Failure

MOUNTSTATS = """\
device server.test:/ mounted on /mnt/nfs with fstype nfs4 statvers=1.1
	opts:	rw,vers=4.2,rsize=262144,wsize=262144,proto=tcp,nconnect=2,sec=krb5i
	age:	3
	RPC iostats version: 1.1  p/v: 100003/4 (nfs)
	xprt:	tcp 751 0 {first} 0 0 17 17 0 19 0 2 0 0
	xprt:	tcp 0 0 {second} 0 0 0 0 0 0 0 2 0 0
	per-op statistics
	        NULL: 1 1 0 44 24 0 0 0 0
	        READ: {reads} {sent} 0 480 560 1 20 22 3
	READ_PLUS: 0 0 0 0 0 0 0 0 0
"""

HIST = """\
# event histogram
#
# trigger info: hist:keys=common_type:vals=hitcount:sort=hitcount:size=2048 [active]
#

{ common_type:       1234 } hitcount:         41

Totals:
    Hits: 41
    Entries: 1
    Dropped: 0
"""

STABLE = """\
{ stable:                  2 } hitcount:          7
{ stable:                  0 } hitcount:         90
"""

LATENCY = """\
{ execute: ~ 2^10 } hitcount:         90
{ execute: ~ 2^12 } hitcount:          9
{ execute: ~ 2^20 } hitcount:          1
"""

OOPS = """\
[   1.0] Linux version 7.3.4
[   5.0] BUG: kernel NULL pointer dereference, address: 0000000000000008
[   5.0] #PF: supervisor read access in kernel mode
[   5.0] Oops: Oops: 0000 [#1] SMP
[   9.0] ------------[ cut here ]------------
[   9.0] WARNING: CPU: 1 PID: 77 at net/sunrpc/xprt.c:1234 xprt_release+0x1/0x2
[  10.0] Call Trace:
[  10.0]  a
[  10.0]  b
[  10.0]  c
[  10.0]  d
[  10.0]  e
[  11.0] WARNING: possible circular locking dependency detected
[  12.0] INFO: task nfsd:99 blocked for more than 120 seconds.
"""

CRYPTO = """\
name         : cts(cbc(aes))
driver       : cts(cbc-aes-aesni)
refcnt       : {users}
selftest     : passed

name         : aes
driver       : aes-lib
refcnt       : 1
selftest     : passed
"""


def folder(test, files):
    """A folder with the given {name: text}."""
    root = Path(test.enterContext(tempfile.TemporaryDirectory()))
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


class Mountstats(unittest.TestCase):
    """Calls, retransmissions and reconnections are differences over the load."""

    def test_difference(self):
        before = MOUNTSTATS.format(first=2, second=0, reads=10, sent=10)
        after = MOUNTSTATS.format(first=8, second=2, reads=110, sent=117)
        # the second transport connected for the first time: no reconnection
        self.assertEqual(counters.rpc(before, after),
                         {"rpcs": 100, "retrans": 7, "reconnects": 3})

    def test_attempt_that_failed(self):
        before = MOUNTSTATS.format(first=2, second=2, reads=10, sent=10)
        after = MOUNTSTATS.format(first=5, second=2, reads=10, sent=10)
        self.assertEqual(counters.rpc(before, after)["reconnects"], 2)

    def test_failed_calls(self):
        text = MOUNTSTATS.format(first=1, second=0, reads=10, sent=10)
        self.assertEqual(counters.mountstats(text), (11, 11, 3, [("tcp", 1), ("tcp", 0)]))


class Histograms(unittest.TestCase):
    """Hits and lost events; keys; percentiles."""

    def test_hits(self):
        raw = folder(self, {"rpcgss_bad_seqno": HIST,
                            "svc_xprt_close": HIST.replace("Dropped: 0", "Dropped: 3")})
        self.assertEqual(counters.events(raw),
                         {"rpcgss_bad_seqno": (41, 0), "svc_xprt_close": (41, 3)})

    def test_file_sync(self):
        self.assertEqual(counters.file_sync(STABLE), 7)

    def test_percentiles(self):
        self.assertEqual(counters.log2_percentiles(LATENCY, (0.5, 0.99, 0.9999)),
                         [1 << 10, 1 << 12, 1 << 20])

    def test_no_percentiles(self):
        self.assertEqual(counters.log2_percentiles("", (0.5, 0.99)), [None, None])


class Reports(unittest.TestCase):
    """One headline per report of the kernel."""

    def test_each_once(self):
        found = counters.warnings(OOPS)
        self.assertEqual(len(found), 4, found)

    def test_quiet_log(self):
        self.assertEqual(counters.warnings("[ 1.0] NFSD: starting 15-second grace period\n"), [])

    def test_leaks_count_one_by_one(self):
        raw = folder(self, {
            "dmesg.client": "[9.0] kmemleak: 2 new suspected memory leaks (see debugfs)\n",
            "kmemleak.client": "unreferenced object 0x1 (size 64):\n  a\n"
                               "unreferenced object 0x2 (size 64):\n"})
        self.assertEqual(len(counters.kernel_reports(raw)), 2)


class Drivers(unittest.TestCase):
    """A driver ran if the mount gave it users."""

    def test_new_users(self):
        raw = folder(self, {"crypto.client.before": CRYPTO.format(users=1),
                            "crypto.client.after": CRYPTO.format(users=5)})
        self.assertEqual(counters.crypto(raw), ["cts(cbc-aes-aesni)"])

    def test_rdma_counters_that_moved(self):
        raw = folder(self, {"client.before/rdma": "sent_pkts 5\nretry 0\n",
                            "client.after/rdma": "sent_pkts 9\nretry 0\n"})
        self.assertEqual(counters.rdma(raw), {"client.sent_pkts": 4})


class Limits(unittest.TestCase):
    """How long a load may take."""

    def limit(self, slow=1, **fields):
        client = mock.Mock()
        cond = SimpleNamespace(**{"load": "drc", "seconds": 30, "outage_s": None, **fields})
        loads.run(cond, client, None, slow)
        client.call.assert_called_once_with(f"load-{cond.load}", mock.ANY)
        return client.call.call_args.args[1]

    def test_its_own_time_and_more(self):
        self.assertEqual(30 + loads.STALL, self.limit())

    def test_a_slow_kernel_gets_more(self):
        self.assertEqual(30 + 4 * loads.STALL, self.limit(slow=4))

    def test_an_outage_comes_on_top(self):
        self.assertEqual(30 + 45 + loads.STALL, self.limit(load="outage", outage_s=45))


class Latency(unittest.TestCase):
    """The curve is short and keeps its peaks."""

    def test_peaks_stay(self):
        lines = "".join(f"{ms}, {9000 + (ms == 7777) * 10 ** 6}, 0, 8192, 0\n"
                        for ms in range(12000))
        raw = folder(self, {"fio.log": lines})
        path = raw / "latency.csv"
        loads.latency(SimpleNamespace(load="fio"), raw, path)
        rows = path.read_text().splitlines()
        self.assertLessEqual(len(rows), loads.POINTS + 1)
        self.assertIn("7777,1009,read", rows)

    def test_a_mixed_load_is_the_sum_of_its_parts(self):
        job = {"total_err": 2, "read": {"iops": 3.0, "bw_bytes": 1000000},
               "write": {"iops": 1.0, "bw_bytes": 500000}}
        fio, files = json.dumps({"jobs": [job]}, indent=1), "errors=1 bytes=8 operations=3 usec=4\n"
        raw = folder(self, {f"mixed.{mount}.{name}": text for mount in loads.MOUNTS
                            for name, text in (("fio/fio.json", fio), ("files/load", files),
                                               ("files/latency", "7 9 stat\n"))})
        row = loads.results(SimpleNamespace(load="mixed"), raw, [1, 2, 3])
        self.assertEqual((6, 6.0, 2.0, 7.0, 3),
                         tuple(row[key] for key in ("errors", "iops_read", "iops_write", "mbps", "p9999_us")))
        loads.latency(SimpleNamespace(load="mixed"), raw, raw / "latency.csv")
        self.assertEqual("7,9,stat", (raw / "latency.csv").read_text().splitlines()[1])
        (raw / "mixed.v3.files/load").unlink()
        with self.assertRaises(Failure):
            loads.results(SimpleNamespace(load="mixed"), raw, [1, 2, 3])

    def test_missing_result(self):
        with self.assertRaises(Failure):
            loads.results(SimpleNamespace(load="files"), folder(self, {}), [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
