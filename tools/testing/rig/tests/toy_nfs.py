# SPDX-License-Identifier: GPL-2.0
"""A toy of an NFS server with GSS contexts, and of a client, for the programs in tools/.

Nothing is checked but sequence numbers. The server counts what it did with each Call.
"""

import contextlib
import socket
import struct
import threading
import time

CALL, REPLY, NFS, GSS = 0, 1, 100003, 6
HANDLE = b"\x01\x00\x00\x00"


def record(body):
    """A record of one fragment."""
    return struct.pack(">I", 0x80000000 | len(body)) + body


def call(xid, seqno, handle=HANDLE):
    """A Call that carries data under a GSS context."""
    cred = struct.pack(f">IIIII{len(handle)}s", 1, 0, seqno, 1, len(handle), handle)
    return record(struct.pack(">IIIIIIII", xid, CALL, 2, NFS, 4, 1, GSS, len(cred)) + cred
                  + struct.pack(">II28s", GSS, 28, bytes(28)))


def accepted(xid):
    """A Reply with a verifier."""
    return record(struct.pack(">IIIII28sI", xid, REPLY, 0, GSS, 28, bytes(28), 0))


def denied(xid, status=13):
    """A Reply that refuses the credential."""
    return record(struct.pack(">IIIII", xid, REPLY, 1, 1, status))


def records(sock):
    """The bodies of the records that come in, until the other side closes."""
    file = sock.makefile("rb")
    while True:
        head = file.read(4)
        if len(head) < 4:
            return
        yield file.read(struct.unpack(">I", head)[0] & 0x7fffffff)


def header(body):
    """(xid, seqno, handle) of a Call."""
    xid, seqno, length = struct.unpack(">I36xI4xI", body[:52])
    return xid, seqno, body[52:52 + length]


class Server:
    """Listens on 127.0.0.1; judge(server, connection number, body) gives an answer, b'' for
    none, or None to close the connection."""

    def __init__(self, judge):
        self.judge, self.handles, self.connections = judge, set(), 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self):
        while True:
            try:
                sock = self.listener.accept()[0]
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(sock, self.connections), daemon=True).start()

    def _serve(self, sock, number):
        with sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                for body in records(sock):
                    self.handles.add(header(body)[2])
                    answer = self.judge(self, number, body)
                    if answer is None:
                        return
                    sock.sendall(answer)
            except OSError:
                pass

    def close(self):
        """Take no more connections. Nothing but this wakes up who waits for one."""
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join(timeout=30)
        self.listener.close()


class Window:
    """A judge: each number once, and none that is further behind than the history."""

    def __init__(self, history, refusal=lambda xid: None, late=0):
        self.history, self.refusal, self.late = history, refusal, late
        self.seen, self.newest, self.counts = set(), 0, {"seen": 0, "low": 0}

    def __call__(self, server, number, body):
        xid, seqno, _ = header(body)
        if self.late and number == 1:
            time.sleep(self.late)       # the experiment: judged long after it was on the wire
        with server.lock:
            if seqno + self.history <= self.newest:
                self.counts["low"] += 1
                return self.refusal(xid)
            if seqno in self.seen:
                self.counts["seen"] += 1
                return self.refusal(xid)
            self.seen.add(seqno)
            self.newest = max(self.newest, seqno)
            return accepted(xid)


class Client:
    """Sends Calls, some at a time, until it is stopped; lost tells whether its connection was.

    It rests in between, so that others get on.
    """

    def __init__(self, port, batch=8):
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.batch, self.lost, self.running, self.answered = batch, False, True, 0
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        seqno, answers = 0, records(self.sock)
        try:
            while self.running:
                for _ in range(self.batch):
                    seqno += 1
                    self.sock.sendall(call(0x1000 + seqno, seqno))
                for _ in range(self.batch):
                    next(answers)
                    self.answered += 1
                time.sleep(0.002)
        except (OSError, StopIteration):
            self.lost = True

    def stop(self):
        """Wait for what is under way."""
        self.running = False
        self.thread.join(timeout=30)
        self.sock.close()
