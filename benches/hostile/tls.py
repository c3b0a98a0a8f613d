"""Attacks on TLS: handshakes, records, and other protocols on its port."""

import os
import random
import shutil
import ssl
import subprocess

from hostile.attack import attack
from hostile.client import Client, abort, connect, head, tls_context


@attack("TLS: handshakes", tls=True, processes=4, proof=("handshakes",))
def handshakes(me):
    context = tls_context(("h2", "http/1.1"))

    def run(index):
        while not me.is_over():
            connection = connect(me.world, True, context, 5)
            me.count("handshakes")
            abort(connection)

    me.threads(4, run)


def client_hello():
    """The first bytes of a client."""
    outgoing = ssl.MemoryBIO()
    client = tls_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


@attack("TLS: half handshakes", tls=True, processes=4, proof=("opened",))
def half_handshakes(me):
    """The server answers the first message, and waits for the second one."""
    me.hold(1500, client_hello(), secure=False)


@attack("TLS: first bytes of handshakes", tls=True, processes=4, proof=("opened",))
def first_bytes(me):
    hello = client_hello()
    me.hold(1500, hello[:5] + hello[5:50], hello[50:51], secure=False)


@attack("TLS: handshakes without answers", tls=True, processes=4, proof=("asked",))
def asked_handshakes(me):
    """The server signs, and the client is gone: the cheapest for the client."""
    hello = client_hello()

    def run(index):
        while not me.is_over():
            connection = connect(me.world, False)
            connection.sendall(hello)
            connection.recv(1 << 12)
            abort(connection)
            me.count("asked")

    me.threads(4, run)


@attack("TLS: garbage records", tls=True, processes=4, proof=("sent",))
def garbage(me):
    chance = random.Random(me.number)

    def run(index):
        while not me.is_over():
            connection = connect(me.world, False, timeout=2)
            try:
                begin = [b"\x16\x03\x01\x40\x00" + chance.randbytes(16384), b"\x16\x03\x01\x00\x00" * 2000,
                         client_hello() + b"\x17\x03\x03\x40\x00" + chance.randbytes(16384), b"\x16" + chance.randbytes(4000),
                         client_hello() + b"\x14\x03\x03\x00\x01\x01" * 1000][chance.randrange(5)]
                connection.sendall(begin)
                me.count("sent")
                while connection.recv(1 << 14):
                    pass
                me.count("refused")
            finally:
                connection.close()

    me.threads(4, run)


@attack("TLS: renegotiations", tls=True, processes=2, proof=("renegotiations asked",))
def renegotiations(me):
    """Only version 1.2 has them. The `R` of openssl asks for one."""
    host, port = me.world.address
    command = [shutil.which("openssl"), "s_client", "-connect", f"{host}:{port}", "-tls1_2", "-quiet"]

    def run(index):
        while not me.is_over():
            client = subprocess.Popen(command[:-1], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            try:
                out, _ = client.communicate("R\n" * 20 + "Q\n", timeout=3)
            except subprocess.TimeoutExpired:
                client.kill()
                out, _ = client.communicate()
            me.count("renegotiations asked", out.count("RENEGOTIATING"))
            me.count("connections")

    me.threads(2, run)


@attack("TLS: HTTP on its port", tls=True, processes=3, proof=("301", "307", "308", "400"))
def plain_http(me):
    long = b"GET /" + b"a" * 60_000 + b" HTTP/1.1\r\n\r\n"
    heads = [head("GET", "/api/v1/users/me", {}), head("POST", "/api/v1/messages", {}, 60_000) + b"a" * 5000, long]

    def run(index):
        number = index
        while not me.is_over():
            number += 1
            with connect(me.world, False, timeout=2) as connection:
                connection.sendall(heads[number % len(heads)])
                received = connection.recv(1 << 14)
                me.count(received[9:12].decode("latin-1") if received else "ended")

    me.threads(4, run)


@attack("TLS: HTTP half heads on its port", tls=True, processes=4, proof=("opened",))
def plain_half_heads(me):
    me.hold(1500, b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 60_000, secure=False)


@attack("TLS: unread answers", tls=True, processes=2, proof=("opened",))
def unread(me):
    path = "/api/v1/messages?anchor=newest&num_before=5000&num_after=0"
    accounts = me.world.members + me.world.guests
    requests = [head("GET", path, Client(me.world, account).headers) * 20 for account in accounts]
    me.hold(100, lambda number: requests[number % len(requests)], buffer=4096)


@attack("TLS: small records", tls=True, processes=3, proof=("200",))
def small_records(me):
    """A byte a record: each costs a decryption."""

    def run(index):
        client = Client(me.world, me.world.members[me.number * 2 + index])
        asked = head("GET", "/api/v1/users/me", {**client.headers, "X-A": "a" * 200})
        while not me.is_over():
            connection = client.open()
            for at in range(len(asked)):
                connection.send(asked[at:at + 1])
            me.count(client.read().status)

    me.threads(2, run)


def certificate(folder):
    """An authority of our own and a certificate by it, in files of a folder."""

    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder, env={**os.environ, "LC_ALL": "C"})

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=authority")
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "server.pem", "-days", "2",
            "-extfile", "names")
