# SPDX-License-Identifier: GPL-2.0
"""The program 'responder' with a toy of a mechanism: contexts, the window, the file system."""

import functools
import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from rigtest import Case, HERE
import toy_gss
from toy_gss import opaque, words

from seqrig import throttle, tools

ROOT, LOAD, FILE = words(4, 1), words(4, 2), words(4, 16)
READ, CREDPROBLEM, CTXPROBLEM, BADCRED, TOOWEAK = 6, 13, 14, 1, 5
SIZE = 16 << 20


@functools.cache
def mechanism():
    """The toy as a shared library, built once."""
    folder = tempfile.TemporaryDirectory(prefix="rig-toy-gss-")
    unittest.addModuleCleanup(folder.cleanup)
    library = Path(folder.name) / "toy_gss.so"
    subprocess.run(["gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library,
                    HERE / "toy_gss.c"], check=True, timeout=120)
    return library


def free_port():
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


class Responder(Case):
    """Starts the program; a client or more talk to it."""

    def start(self, *args):
        """Start it, and a first client with a context."""
        self.port = free_port()
        self.log = open(self.root / "ktap", "wb")   # pylint: disable=consider-using-with
        self.addCleanup(self.log.close)
        self.program = subprocess.Popen(            # pylint: disable=consider-using-with
            [tools.binaries() / "responder", "--port", str(self.port), *map(str, args)],
            stdout=self.log, stderr=subprocess.STDOUT,
            env=dict(os.environ, LD_PRELOAD=str(mechanism())))
        self.addCleanup(self.program.wait, 30)
        self.addCleanup(self.program.kill)
        self.client = self.connect()
        return self.client

    def connect(self):
        """One connection more."""
        end = time.monotonic() + 30
        while True:
            try:
                client = toy_gss.Client(self.port)
                self.addCleanup(client.close)
                return client
            except ConnectionRefusedError:
                if time.monotonic() > end or self.program.poll() is not None:
                    raise
                time.sleep(0.01)

    def stop(self):
        """End it; returns (exit status, counts, its output)."""
        self.program.send_signal(signal.SIGTERM)
        status = self.program.wait(timeout=30)
        return status, tools.summary(self.root), (self.root / "ktap").read_text()


class Contexts(Responder):
    """INIT, CONTINUE, DESTROY, and Calls that do not belong to a context."""

    def test_one_step(self):
        handle, major, minor, window, token, verf = self.start("--window", 32).set_up()
        self.assertEqual((words(1), 0, 7, 32, b"done"), (handle, major, minor, window, token))
        self.assertEqual(toy_gss.checksum(words(32)), verf)

    def test_two_steps(self):
        client = self.start()
        handle, major, *_, token, verf = client.set_up(b"two")
        self.assertEqual((1, b"more", b""), (major, token, verf))
        self.assertEqual(CREDPROBLEM, client.ask_gss(1, handle=handle).denied)
        self.assertEqual((handle, 0), client.set_up(b"last", handle, toy_gss.CONTINUE)[:2])
        self.assertEqual(0, client.ask_gss(1, handle=handle).status)

    def test_a_token_that_is_refused(self):
        client = self.start()
        handle, major, *_ = client.set_up(b"nonsense")
        self.assertEqual(9 << 16, major)
        self.assertEqual(CREDPROBLEM, client.ask_gss(1, handle=handle).denied)
        self.assertEqual(CREDPROBLEM, client.set_up(b"last", handle, toy_gss.CONTINUE))
        self.assertEqual(CREDPROBLEM, client.set_up(b"last", words(77), toy_gss.CONTINUE))

    def test_a_context_that_stands_is_not_set_up_again(self):
        client = self.start()
        handle = client.set_up()[0]
        self.assertEqual(CREDPROBLEM, client.set_up(b"last", handle, toy_gss.CONTINUE))
        self.assertEqual(0, client.ask_gss(1, handle=handle).status)

    def test_every_context_has_a_window_of_its_own(self):
        client = self.start("--window", 2)
        handles = [client.set_up()[0] for _ in range(3)]
        self.assertEqual(3, len(set(handles)))
        for seqno, handle in zip((500, 3, 90), handles):
            self.assertEqual(0, client.ask_gss(seqno, handle=handle).status)

    def test_after_destroy_the_handle_is_unknown(self):
        client = self.start()
        handle = client.set_up()[0]
        reply = client.ask_gss(5, handle=handle, proc=toy_gss.DESTROY)
        self.assertEqual((0, toy_gss.checksum(words(5))), (reply.status, reply.verf))
        self.assertEqual(CREDPROBLEM, client.ask_gss(6, handle=handle).denied)
        self.assertNotEqual(handle, client.set_up()[0])

    def test_contexts_may_come_and_go(self):
        client = self.start()
        for _ in range(300):
            handle = client.set_up()[0]
            client.ask_gss(1, handle=handle, proc=toy_gss.DESTROY)
        for _ in range(256):
            self.assertEqual(0, client.set_up()[1])
        self.assertEqual(CREDPROBLEM, client.set_up())

    def test_what_is_forged_is_denied(self):
        client = self.start()
        client.set_up()
        rows = [({"verf": lambda header: b"check" + words(0)}, CREDPROBLEM), ({"verf": None}, CREDPROBLEM),
                ({"handle": words(9)}, CREDPROBLEM), ({"handle": b""}, CREDPROBLEM),
                ({"handle": words(1, 1)}, CREDPROBLEM), ({"proc": 4}, BADCRED),
                ({"service": 2}, BADCRED), ({"seqno": 1 << 31}, CTXPROBLEM)]
        for how, wanted in rows:
            with self.subTest(how):
                self.assertEqual(wanted, client.ask_gss(**{"seqno": client.xid, **how}).denied)
        reply = client.ask(0, flavor=toy_gss.GSS, cred=words(2, 0, 1, 1, 0))
        self.assertEqual(BADCRED, reply.denied)
        status, counts, out = self.stop()
        self.assertEqual((1, 2), (status, counts["errors"]), out)
        self.assertIn("\nnot ok 3 ", out)


class Window(Responder):
    """Which Calls get an answer."""

    # window, numbers in the order in which they come, those that are answered
    ROWS = (
        (1, (1, 2, 3, 2, 3, 4), (1, 2, 3, 4)),
        (2, (1, 3, 2, 1, 2, 4, 3), (1, 3, 2, 4)),
        (8, (8, 1, 9, 1, 2, 10, 2, 3), (8, 1, 9, 2, 10, 3)),
        (8, (0, 7, 0, 8, 0, 1), (0, 7, 8, 1)),
        (8, (100, 92, 93, 99, 100), (100, 93, 99)),
        (32, (3, 1, 2, 35, 3, 4, 4, 5), (3, 1, 2, 35, 4, 5)),
        (32, (0x7fffffff, 0x7fffffe0, 0x7fffffdf), (0x7fffffff, 0x7fffffe0)),
        (3, (5, 6, 7, 8, 6, 5, 9, 7, 8), (5, 6, 7, 8, 9)),
    )

    def test_rows(self):
        for window, numbers, wanted in self.ROWS:
            with self.subTest(window=window, numbers=numbers):
                client = self.start("--window", window)
                client.set_up()
                sent = [(client.gss(seqno), seqno) for seqno in numbers]
                answered = set(client.answered())
                self.assertEqual(list(wanted), [seqno for xid, seqno in sent if xid in answered])
                _, counts, _ = self.stop()
                self.assertEqual((max(numbers), len(wanted), len(numbers) - len(wanted)),
                                 (counts["rsp_newest"], counts["rsp_answered"],
                                  counts["rsp_low"] + counts["rsp_seen"]))

    def test_low_and_seen_are_told_apart(self):
        client = self.start("--window", 8)
        client.set_up()
        for seqno in (20, 12, 12, 13, 13, 5):
            client.gss(seqno)
        client.answered()
        _, counts, out = self.stop()
        self.assertEqual((3, 1, 15), (counts["rsp_low"], counts["rsp_seen"],
                                      counts["rsp_max_lag"]), out)

    def test_every_reply_is_signed_with_its_number(self):
        client = self.start()
        client.set_up()
        for seqno in (4, 2, 3):
            self.assertEqual(toy_gss.checksum(words(seqno)), client.ask_gss(seqno).verf)

    def test_connections_share_the_window(self):
        client = self.start("--window", 8)
        client.set_up()
        other = self.connect()
        self.assertEqual(0, client.ask_gss(50).status)
        other.gss(42)
        self.assertEqual([], other.answered())
        self.assertEqual(0, other.ask_gss(43).status)

    def test_lost_replies(self):
        client = self.start("--window", 8, "--lose", 3)
        client.set_up()
        sent = [client.gss(seqno) for seqno in range(1, 11)]
        answered = client.answered()
        self.assertEqual([xid for place, xid in enumerate(sent, 1) if place % 3], answered)
        client.gss(3)       # it was accepted, whatever became of its Reply
        self.assertEqual([], client.answered())
        _, counts, _ = self.stop()
        self.assertEqual((3, 7, 1), (counts["rsp_lost"], counts["rsp_answered"],
                                     counts["rsp_seen"]))

    def test_a_pause_between_reads_is_noted(self):
        client = self.start()
        client.set_up()
        for seqno in range(1, 4):
            time.sleep(0.3 * (seqno == 3))
            client.ask_gss(seqno, READ, FILE + words(0, 0, 512))
        status, counts, out = self.stop()
        self.assertEqual((0, 0, 3), (status, counts["errors"], counts["operations"]), out)
        self.assertGreaterEqual(counts["rsp_pause_ms"], 299)
        self.assertLessEqual(set(throttle.RESPONDER), set(counts))


class Spread(Responder):
    """Many Calls at once on several connections, which the responder takes one by one."""

    LINKS = 8

    def burst(self, links, numbers):
        """Send the numbers in turn, before any is judged; how many get an answer."""
        self.program.send_signal(signal.SIGSTOP)
        try:
            for place, seqno in enumerate(numbers):
                links[place % len(links)].gss(seqno, READ, FILE + words(0, 0, 512))
        finally:
            self.program.send_signal(signal.SIGCONT)
        return sum(len(link.answered()) for link in links)

    def play(self, window, at_once):
        """(answered, counts) of 256 Calls, so many of them at once."""
        links = [self.start("--window", window)]
        links[0].set_up()
        links += [self.connect() for _ in range(self.LINKS - 1)]
        answered = sum(self.burst(links, range(first, first + at_once))
                       for first in range(1, 257, at_once))
        return answered, self.stop()[1]

    def test_within_the_window_the_order_does_not_matter(self):
        for window in (1, 2, 8, 32):
            with self.subTest(window):
                answered, counts = self.play(window, window)
                self.assertEqual((256, 0, 256), (answered, counts["rsp_low"], counts["operations"]))
                self.assertLess(counts["rsp_max_lag"], window)

    def test_past_it_calls_are_dropped(self):
        for window in (1, 2, 8, 32):
            with self.subTest(window):
                answered, counts = self.play(window, 64)
                self.assertEqual(256, answered + counts["rsp_low"])
                self.assertGreater(counts["rsp_low"], 20)
                self.assertGreaterEqual(counts["rsp_max_lag"], window)


class Files(Responder):
    """The file system."""

    def ask(self, procedure, args):
        """The body of a Reply to a Call of NFS."""
        self.seqno += 1
        reply = self.client.ask_gss(self.seqno, procedure, args)
        self.assertEqual((None, 0), (reply.denied, reply.status))
        return reply.body

    def setUp(self):
        super().setUp()
        self.seqno = 0
        self.start()
        self.client.set_up()

    def attributes(self, body):
        """(type, size) of attributes."""
        kind, size = body.word(), [body.word() for _ in range(4)] and body.long()
        for _ in range(14):
            body.word()
        return kind, size

    def known(self, body):
        """(type, size) of attributes that may be there."""
        return self.attributes(body) if body.word() else None

    def test_mount(self):
        body = self.client.ask(1, opaque(b"/export"), program=toy_gss.MOUNT).body
        self.assertEqual((0, words(1), 1, 390003),
                         (body.word(), body.opaque(), body.word(), body.word()))
        self.assertEqual(b"", self.client.ask(3, opaque(b"/export"), program=toy_gss.MOUNT).body.rest())

    def test_attributes(self):
        for handle, wanted in ((ROOT, (2, 4096)), (LOAD, (2, 4096)), (FILE, (1, SIZE))):
            body = self.ask(1, handle)
            self.assertEqual((0, wanted, b""), (body.word(), self.attributes(body), body.rest()))
        self.assertEqual(words(70), self.ask(1, words(4, 80)).rest())

    def test_lookup(self):
        rows = [(ROOT, b"load", 2), (LOAD, b"file.0", 16), (LOAD, b"file.63", 79),
                (LOAD, b"file.64", None), (LOAD, b"file.1x", None), (LOAD, b"file.", None),
                (ROOT, b"file.0", None), (ROOT, b"nothing", None)]
        for folder, name, wanted in rows:
            with self.subTest(name):
                body = self.ask(3, folder + opaque(name))
                if wanted is None:
                    self.assertEqual(2, body.word())
                else:
                    self.assertEqual((0, words(wanted)), (body.word(), body.opaque()))
                    self.assertIsNotNone(self.known(body))
                self.assertEqual((2, 4096), self.known(body))
                self.assertEqual(b"", body.rest())

    def test_access(self):
        for handle, wanted in ((ROOT, 0x23), (FILE, 0x01)):
            body = self.ask(4, handle + words(0x3f))
            self.assertEqual(0, body.word())
            self.known(body)
            self.assertEqual(words(wanted), body.rest())

    def test_read(self):
        rows = [(0, 4096, 4096, 0), (SIZE - 100, 4096, 100, 1), (SIZE, 5, 0, 1),
                (SIZE - 8192, 8192, 8192, 1), (SIZE + 9, 9, 0, 1), (0, 1 << 20, 65536, 0)]
        for offset, count, wanted, end in rows:
            with self.subTest(offset=offset, count=count):
                body = self.ask(READ, FILE + words(0, offset, count))
                self.assertEqual((0, (1, SIZE)), (body.word(), self.known(body)))
                self.assertEqual((wanted, end, bytes(wanted)),
                                 (body.word(), body.word(), body.opaque()))
        self.assertEqual(70, self.ask(READ, ROOT + words(0, 0, 9)).word())

    def test_what_a_mount_asks(self):
        for procedure, size in ((18, 52), (19, 48), (20, 24)):
            body = self.ask(procedure, ROOT)
            self.assertEqual((0, (2, 4096)), (body.word(), self.known(body)))
            self.assertEqual(size, len(body.rest()))

    def test_what_there_is_not(self):
        rows = [({"procedure": 7}, 3), ({"procedure": 0, "version": 4}, 2),
                ({"procedure": 0, "program": 100227}, 1), ({"procedure": 1, "args": words(4)}, 4)]
        for seqno, (how, wanted) in enumerate(rows, 1):
            with self.subTest(how):
                self.assertEqual(wanted, self.client.ask_gss(seqno, **how).status)

    def test_without_a_context_there_is_not_much(self):
        self.assertEqual(0, self.client.ask(0).status)
        self.assertEqual(1, self.client.ask(0, program=100227).status)
        for flavor, cred in ((toy_gss.NONE, b""), (toy_gss.SYS, words(0, 0, 0, 0, 0))):
            self.assertEqual(TOOWEAK, self.client.ask(1, ROOT, flavor=flavor, cred=cred).denied)


class Connections(Responder):
    """Records and those who send them."""

    def test_who_does_not_read_gets_everything_later(self):
        client = self.start("--window", 512)
        client.set_up()
        sent = [client.gss(seqno, READ, FILE + words(0, 0, 65536)) for seqno in range(1, 201)]
        other = self.connect()
        self.assertEqual(0, other.ask_gss(201).status)
        self.assertEqual(sent, client.answered())

    def test_calls_that_come_in_pieces(self):
        client = self.start()
        client.set_up()
        data = toy_gss.record(words(5, 0, 2, toy_gss.NFS, 3, 0, 0, 0, 0, 0))
        for byte in data:
            client.sock.sendall(bytes([byte]))
        self.assertEqual(5, client.reply().xid)
        client.sock.sendall(data * 3)
        self.assertEqual([5] * 3, [client.reply().xid for _ in range(3)])

    def test_what_is_no_call_gets_no_answer_and_is_an_error(self):
        client = self.start()
        client.sock.sendall(toy_gss.record(words(1, 1, 2, 3)) + toy_gss.record(b""))
        self.assertEqual([], client.answered())
        _, counts, out = self.stop()
        self.assertEqual(3, counts["errors"], out)

    def test_a_record_without_an_end_closes_the_connection(self):
        client = self.start()
        client.sock.sendall(words(5) + bytes(64))
        self.assertEqual(b"", client.sock.recv(1))
        self.assertEqual([], self.connect().answered())

    def test_one_who_leaves_makes_room(self):
        self.start()
        for _ in range(100):
            client = self.connect()
            self.assertEqual([], client.answered())
            client.close()

    def test_bad_options_end_in_one_line(self):
        for args in (("--window", 0), ("--window", 65537), ("--port", 65536), ("--lose", "x"), ("--window",)):
            with self.subTest(args):
                done = subprocess.run([tools.binaries() / "responder", *map(str, args)], text=True,
                                      capture_output=True, timeout=30, check=False)
                self.assertEqual((1, ""), (done.returncode, done.stderr))
                self.assertRegex(done.stdout, r"^Bail out! .*\n$")


if __name__ == "__main__":
    unittest.main()
