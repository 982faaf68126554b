# SPDX-License-Identifier: GPL-2.0
"""The programs of tools/ against a toy server on this machine."""

import concurrent.futures
import contextlib
import ctypes
import os
import socket
import subprocess
import tempfile
import time
import unittest
from unittest import mock

from rigtest import Case
import toy_nfs

from kit.run import Failure
from seqrig import tools

WINDOW, HISTORY = 64, 1024


def packet_socket():
    """May we see what goes by on a device?"""
    try:
        with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM):
            return True
    except (OSError, AttributeError):
        return False


class Program(Case):
    """Runs a program; checks its KTAP."""

    def run_tool(self, name, *args):
        """(exit status, counts of its summary, its output)."""
        done = subprocess.run([tools.binaries() / name, *map(str, args)], text=True, timeout=120,
                              capture_output=True, check=False)
        self.assertEqual("", done.stderr)
        (self.root / "ktap").write_text(done.stdout)
        return done.returncode, tools.summary(self.root), done.stdout

    def serve(self, judge):
        """A server until the end of the test."""
        server = toy_nfs.Server(judge)
        self.addCleanup(server.close)
        return server


class Flood(Program):
    """Calls with handles that nobody knows."""

    def flood(self, judge, *args):
        """Flood a server for a second; returns (server, status, counts, output)."""
        server = self.serve(judge)
        return (server, *self.run_tool("flood", "--server", "127.0.0.1", "--port", server.port,
                                       "--seconds", 1, *args))

    @staticmethod
    def deny(_server, _number, body):
        """What a server says to an unknown handle."""
        return toy_nfs.denied(toy_nfs.header(body)[0])

    def test_every_call_has_a_handle_of_its_own_and_is_counted(self):
        server, status, counts, out = self.flood(self.deny)
        self.assertEqual((0, 0), (status, counts["errors"]), out)
        self.assertGreater(counts["junk_calls"], 0)
        self.assertEqual((counts["junk_calls"], counts["operations"]),
                         (len(server.handles), len(server.handles)))
        self.assertEqual({380}, set(map(len, server.handles)))
        self.assertEqual(4, server.connections)
        self.assertRegex(out, r"(?m)^KTAP version 1\n1\.\.2\nok 1 .*\nok 2 ")

    def test_the_handle_may_be_shorter_and_the_rate_without_limit(self):
        server, status, counts, out = self.flood(self.deny, "--handle", 5, "--rate", 0)
        self.assertEqual(0, status, out)
        self.assertEqual({5}, set(map(len, server.handles)))
        self.assertEqual(counts["operations"], counts["junk_calls"])

    def test_a_connection_that_is_lost_is_made_again(self):
        ends = set(range(10, 10 ** 6, 10))

        def judge(server, number, body):
            return None if toy_nfs.header(body)[0] in ends else self.deny(server, number, body)
        server, status, counts, out = self.flood(judge)
        self.assertEqual((0, 0), (status, counts["errors"]), out)
        self.assertGreater(counts["junk_lost"], 0)
        self.assertGreater(server.connections, 4)

    def test_any_other_answer_is_an_error(self):
        for answer in (lambda xid: toy_nfs.denied(xid, 1), toy_nfs.accepted):
            _, status, counts, out = self.flood(
                lambda _server, _number, body, say=answer: say(toy_nfs.header(body)[0]))
            self.assertEqual(1, status)
            self.assertGreater(counts["errors"], 0)
            self.assertIn("\nnot ok 2 ", out)

    def test_without_a_server_there_is_no_flood(self):
        with socket.create_server(("127.0.0.1", 0)) as sock:
            port = sock.getsockname()[1]
        status, counts, out = self.run_tool("flood", "--server", "127.0.0.1", "--port", port,
                                            "--seconds", 1)
        self.assertEqual((1, 1, 0), (status, counts["errors"], counts["junk_calls"]))
        self.assertIn("\nnot ok 1 ", out)

    def test_bad_options_end_in_one_line(self):
        rows = [(), ("--server", "nowhere"), ("--server",), ("--sever", "127.0.0.1"),
                ("--server", "127.0.0.1", "--rate", "many"),
                ("--server", "127.0.0.1", "--handle", "381"),
                ("--server", "127.0.0.1", "--connections", "0"),
                ("--server", "127.0.0.1", "--port", "0")]
        for args in rows:
            with self.subTest(args):
                status, counts, out = self.run_tool("flood", *args)
                self.assertEqual((1, {}), (status, counts))
                self.assertRegex(out, r"^Bail out! .*\n$")


@unittest.skipUnless(packet_socket(), "no packet sockets here (needs CAP_NET_RAW)")
class Replay(Program):
    """Calls that are sent again."""

    def replay(self, judge, window=WINDOW, history=HISTORY, seconds=60, patience=30):
        """Replay a client's Calls; returns (client, status, counts, output)."""
        server = self.serve(judge)
        client = toy_nfs.Client(server.port)
        with contextlib.closing(server):
            found = self.run_tool("replay", "--device", "lo", "--server", "127.0.0.1", "--port",
                                  server.port, "--seconds", seconds, "--window", window,
                                  "--history", history, "--enough", 3, "--patience", patience)
            client.stop()
        self.assertGreater(client.answered, 0)
        return (client, *found)

    def test_each_distance_is_reached_and_refused(self):
        judge = toy_nfs.Window(HISTORY)
        client, status, counts, out = self.replay(judge)
        self.assertEqual((0, 0), (status, counts["errors"]), out)
        self.assertFalse(client.lost)
        for name in ("near", "mid", "far"):
            self.assertGreater(counts[f"replay_{name}"], 0, out)
        self.assertRegex(out, r"(?m)^KTAP version 1\n1\.\.3$")
        # By the window, each: none was refused for something else.
        self.assertEqual(counts["replay_far"] + counts["replay_near"] + counts["replay_mid"]
                         + counts["replay_missed"], judge.counts["seen"] + judge.counts["low"])
        self.assertGreaterEqual(judge.counts["low"], counts["replay_far"])

    def test_none_overtakes_what_it_copies(self):
        client, status, counts, out = self.replay(toy_nfs.Window(10 ** 6, late=0.002),
                                                  10 ** 5, 10 ** 5, seconds=4)
        self.assertFalse(client.lost)
        self.assertEqual((1, 1), (status, counts["errors"]), out)
        self.assertGreater(counts["replay_near"], 0)
        self.assertRegex(out, r"(?m)^ok 1 ")
        self.assertRegex(out, r"(?m)^# far: no Call was ever that old$")

    def test_without_room_between_n_and_h_that_distance_is_skipped(self):
        _, status, counts, out = self.replay(toy_nfs.Window(128), 128, 128)
        self.assertEqual((0, 0), (status, counts["replay_mid"]), out)
        self.assertRegex(out, r"(?m)^ok 2 .* # SKIP no room")

    def test_a_server_that_executes_it_again_is_found_out(self):
        _, status, counts, out = self.replay(lambda _server, _number, body: toy_nfs.accepted(
            toy_nfs.header(body)[0]))
        self.assertEqual(1, status)
        self.assertGreater(counts["errors"], 0)
        self.assertRegex(out, r"(?m)^# near: seqno \d+, \d+ behind: accepted, status 0$")
        self.assertRegex(out, r"(?m)^not ok 1 ")

    def test_a_short_history_is_found_out_past_it(self):
        class Forgetful(toy_nfs.Window):
            """Takes what is low for new."""

            def __call__(self, server, number, body):
                _, seqno, _ = toy_nfs.header(body)
                if seqno + HISTORY <= self.newest:
                    self.seen.discard(seqno)
                    return toy_nfs.accepted(toy_nfs.header(body)[0])
                return super().__call__(server, number, body)
        _, status, counts, out = self.replay(Forgetful(HISTORY))
        self.assertEqual((1, 0), (status, counts["replay_far"]), out)
        self.assertRegex(out, r"(?m)^ok 1 ")
        self.assertRegex(out, r"(?m)^not ok 3 ")

    def test_a_refusal_with_a_reply_is_none(self):
        _, status, _, out = self.replay(toy_nfs.Window(HISTORY, toy_nfs.denied))
        self.assertEqual(1, status)
        self.assertRegex(out, r"(?m)^# near: .* denied in a Reply, status 13$")

    def test_silence_is_no_refusal(self):
        _, status, counts, out = self.replay(toy_nfs.Window(HISTORY, lambda xid: b""), patience=1)
        self.assertEqual((1, 0), (status, counts["replay_near"]), out)
        self.assertRegex(out, r"(?m)^# near: .* neither closed nor answered$")

    def test_without_calls_nothing_is_shown(self):
        server = self.serve(toy_nfs.Window(HISTORY))
        status, counts, out = self.run_tool("replay", "--device", "lo", "--server", "127.0.0.1",
                                            "--port", server.port, "--seconds", 1)
        self.assertEqual(1, status)
        self.assertEqual(2, counts["errors"], out)

    def test_bad_options_end_in_one_line(self):
        good = ("--device", "lo", "--server", "127.0.0.1")
        for args in (("--server", "127.0.0.1"), ("--device", "nosuchdevice", *good[2:]),
                     (*good, "--window", "0"), (*good, "--window", "256", "--history", "128")):
            with self.subTest(args):
                status, counts, out = self.run_tool("replay", *args)
                self.assertEqual((1, {}), (status, counts))
                self.assertRegex(out, r"^Bail out! .*\n$")


def permission_events():
    """May we hold up who reads a file, and does the kernel know how?"""
    # fanotify_init(FAN_CLASS_CONTENT, O_RDONLY) and fanotify_mark(ADD, FAN_ACCESS_PERM)
    libc = ctypes.CDLL(None, use_errno=True)
    with tempfile.NamedTemporaryFile() as file:
        group = libc.fanotify_init(4, 0)
        if group < 0:
            return False
        try:
            return not libc.fanotify_mark(group, 1, ctypes.c_uint64(0x20000), -100,
                                          file.name.encode())
        finally:
            os.close(group)


@unittest.skipUnless(permission_events(), "no permission events here (fanotify, CAP_SYS_ADMIN)")
class SlowRead(Case):
    """Reads of one file that take their time."""

    def setUp(self):
        super().setUp()
        self.path = self.root / "slow"
        self.path.write_text("slow")

    def start(self, delay):
        """Start the program and wait until it watches the file."""
        program = subprocess.Popen(     # pylint: disable=consider-using-with
            [tools.binaries() / "slowread", "--file", self.path, "--delay", str(delay)],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait, 30)
        self.addCleanup(program.kill)
        self.assertRegex(program.stdout.readline(), "^# every read of ")
        return program

    def read(self, path):
        """Seconds for one read."""
        begin = time.monotonic()
        with open(path, "rb", buffering=0) as file:
            self.assertEqual(b"slow", file.read(4))
        return time.monotonic() - begin

    def test_reads_wait_side_by_side_and_are_counted(self):
        program = self.start(400)
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            taken = list(pool.map(self.read, [self.path] * 4))
        self.assertGreaterEqual(min(taken), 0.39)
        self.assertLess(time.monotonic() - begin, 4 * 0.4)
        program.terminate()
        self.assertEqual("slow_reads 4\n", program.stdout.read())

    def test_nothing_else_waits(self):
        program = self.start(20000)
        other = self.root / "other"
        other.write_text("slow")
        self.assertLess(self.read(other), 15)
        program.terminate()
        self.assertEqual("slow_reads 0\n", program.stdout.read())

    def test_at_its_end_all_go_on(self):
        program = self.start(60000)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            reading = pool.submit(self.read, self.path)
            with contextlib.suppress(concurrent.futures.TimeoutError):
                reading.result(timeout=0.5)
            self.assertFalse(reading.done())
            program.terminate()
            self.assertLess(reading.result(timeout=30), 30)
        self.assertEqual("slow_reads 1\n", program.stdout.read())

    def test_bad_options_end_in_one_line(self):
        for args in ((), ("--file", self.root / "nowhere"), ("--delay", "x")):
            done = subprocess.run([tools.binaries() / "slowread", *args], capture_output=True,
                                  text=True, timeout=30, check=False)
            self.assertEqual((1, ""), (done.returncode, done.stderr))
            self.assertRegex(done.stdout, r"^Bail out! .*\n$")


class Build(Case):
    """How the programs come about."""

    def test_what_does_not_compile_ends_in_one_line(self):
        folder = self.root
        for path in tools.SOURCES.glob("*"):
            if path.name == "Makefile" or path.suffix in (".c", ".h"):
                (folder / path.name).write_bytes(path.read_bytes())
        with open(folder / "rpc.c", "a", encoding="utf-8") as file:
            file.write("int broken(void) { return nothing; }\n")
        with mock.patch.object(tools, "SOURCES", folder), \
                self.assertRaisesRegex(Failure, r"do not compile: rpc.c:\d+:\d+: error: "):
            tools.binaries()

    def test_the_last_summary_counts(self):
        folder = self.root
        self.assertEqual({}, tools.summary(folder))
        (folder / "ktap").write_text("# summary: errors=1\n# summary: errors=2 far=3\n")
        self.assertEqual({"errors": 2, "far": 3}, tools.summary(folder))


if __name__ == "__main__":
    unittest.main()
