# SPDX-License-Identifier: GPL-2.0
"""A client with GSS contexts whose checksums are those of toy_gss.c, for the responder."""

import dataclasses
import socket
import struct

from toy_nfs import record, records

NONE, SYS, GSS = 0, 1, 6
DATA, INIT, CONTINUE, DESTROY = range(4)
NFS, MOUNT = 100003, 100005


def opaque(data):
    """Bytes with their length in front, filled up to whole words."""
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


def words(*values):
    """Numbers, 32 bits each."""
    return struct.pack(f">{len(values)}I", *values)


def checksum(data):
    """What toy_gss.c makes of some bytes."""
    total = sum(byte * (place + 1) for place, byte in enumerate(data))
    return b"check" + words(total & 0xffffffff)


class Body:
    """Reads a Reply."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def word(self):
        """The next number."""
        self.at += 4
        return struct.unpack(">I", self.data[self.at - 4:self.at])[0]

    def long(self):
        """The next number of 64 bits."""
        return self.word() << 32 | self.word()

    def opaque(self):
        """The next bytes that have a length."""
        length = self.word()
        found = self.data[self.at:self.at + length]
        self.at += length + -length % 4
        return found

    def rest(self):
        """What has not been read."""
        return self.data[self.at:]


@dataclasses.dataclass
class Reply:
    """One Reply; denied is the auth_stat, otherwise None."""

    xid: int
    denied: int | None
    verf: bytes = b""
    status: int | None = None
    body: Body | None = None


def parse(data):
    """The Reply in a record."""
    body = Body(data)
    xid, _, denied = body.word(), body.word(), body.word()
    if denied:
        body.word()
        return Reply(xid, body.word())
    body.word()
    verf = body.opaque()
    return Reply(xid, None, verf, body.word(), body)


class Client:
    """One connection."""

    def __init__(self, port):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers, self.xid = records(self.sock), 1000

    def send(self, procedure, args=b"", program=NFS, version=3, flavor=NONE, cred=b"", verf=None):
        """Send a Call; returns its xid. verf: the verifier, or a function of the header."""
        self.xid += 1
        header = words(self.xid, 0, 2, program, version, procedure, flavor) + opaque(cred)
        if callable(verf):
            verf = words(GSS) + opaque(verf(header))
        self.sock.sendall(record(header + (verf or words(NONE, 0)) + args))
        return self.xid

    def gss(self, seqno, procedure=0, args=b"", handle=words(1), proc=DATA, service=1,
            verf=checksum, **how):
        """Send a Call under a context."""
        cred = words(1, proc, seqno, service) + opaque(handle)
        return self.send(procedure, args, flavor=GSS, cred=cred, verf=verf, **how)

    def reply(self):
        """The next Reply."""
        return parse(next(self.answers))

    def ask(self, *args, **how):
        """Send a Call and return its Reply."""
        self.send(*args, **how)
        return self.reply()

    def ask_gss(self, *args, **how):
        """The same under a context."""
        self.gss(*args, **how)
        return self.reply()

    def set_up(self, token=b"one", handle=b"", proc=INIT):
        """(handle, major, minor, window, token, verifier) of one step."""
        reply = self.ask_gss(0, args=opaque(token), handle=handle, proc=proc, verf=None)
        if reply.denied is not None:
            return reply.denied
        body = reply.body
        return (body.opaque(), body.word(), body.word(), body.word(), body.opaque(), reply.verf)

    def answered(self):
        """The xids of all Replies to what was sent so far on this connection.

        They come in order, so the Reply to a ping says that no other is missing.
        """
        ping = self.send(0)
        found = []
        while True:
            xid = self.reply().xid
            if xid == ping:
                return found
            found.append(xid)

    def close(self):
        """Hang up, which the last who knows the socket does."""
        self.answers.close()
        self.sock.close()
