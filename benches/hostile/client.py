"""Connections to the server: HTTP/1.1 with little overhead, and bare sockets."""

import base64
import json
import socket
import ssl
import struct
import urllib.parse

FORM = "application/x-www-form-urlencoded"
TIMEOUT = 60

# A server on loopback does not count its connections by address, and a client address has ports for 28,000 of them.
BUFFER = 1 << 16


class Closed(OSError):
    """The server has closed the connection."""


def tls_context(protocols=("http/1.1",), newest=ssl.TLSVersion.TLSv1_3):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = newest
    context.set_alpn_protocols(list(protocols))
    return context


def connect(world, secure=None, context=None, timeout=TIMEOUT, buffer=None):
    """A socket to the server; with TLS if the server has it, unless `secure` says otherwise. `buffer` bounds what it receives."""
    plain = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        plain.settimeout(timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        plain.connect(world.address)
        if world.has_tls if secure is None else secure:
            return (context or tls_context()).wrap_socket(plain, server_hostname="localhost")
        return plain
    except BaseException:
        plain.close()
        raise


def abort(connection):
    """Closes with a reset, as a client that is gone."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def authorization(account):
    if account is None:
        return {}
    credentials = base64.b64encode(f"{account['email']}:{account['api_key']}".encode()).decode()
    return {"Authorization": f"Basic {credentials}"}


def encoded(parameters):
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in parameters.items()}
    return urllib.parse.urlencode(texts).encode()


def head(method, path, headers, length=None):
    """The head of a request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in headers.items())]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def multipart(name, content, kind="application/octet-stream"):
    """The body of an upload and its type."""
    bound = "a-boundary"
    disposition = f'Content-Disposition: form-data; name="file"; filename="{name}"'
    begin = f"--{bound}\r\n{disposition}\r\nContent-Type: {kind}\r\n\r\n".encode()
    return begin + content + f"\r\n--{bound}--\r\n".encode(), f"multipart/form-data; boundary={bound}"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


class Client:
    """A kept connection of an account, or of a stranger without one."""

    def __init__(self, world, account=None, headers=None, buffer=None):
        self.world, self.account, self.buffer = world, account, buffer
        self.headers = {**authorization(account), **(headers or {})}
        self.socket = self.file = None

    def open(self):
        if self.socket is None:
            self.socket = connect(self.world, buffer=self.buffer)
            self.file = self.socket.makefile("rb", BUFFER)
        return self.socket

    def close(self):
        if self.socket is not None:
            self.file.close()
            self.socket.close()
            self.socket = self.file = None

    def request(self, method, path, body=None, kind=FORM, headers=None):
        """Sends a request and reads the answer."""
        more = {**self.headers, **(headers or {})}
        if body is not None:
            more["Content-Type"] = kind
        self.open().sendall(head(method, path, more, None if body is None else len(body)) + (body or b""))
        return self.read()

    def read(self):
        """Reads an answer."""
        line = self.file.readline()
        if not line:
            self.close()
            raise Closed
        status, headers = int(line.split()[1]), {}
        while (line := self.file.readline()) not in (b"\r\n", b""):
            name, value = line.decode("latin-1").split(":", 1)
            headers[name.lower()] = value.strip()
        if status in (204, 304):
            body = b""
        elif headers.get("transfer-encoding") == "chunked":
            parts = []
            while size := int(self.file.readline(), 16):
                parts.append(self.file.read(size))
                self.file.readline()
            self.file.readline()
            body = b"".join(parts)
        else:
            body = self.file.read(int(headers.get("content-length", "0")))
        if headers.get("connection") == "close":
            self.close()
        return Answer(status, headers, body)

    def get(self, path, **parameters):
        return self.request("GET", f"/api/v1{path}?{encoded(parameters).decode()}")

    def post(self, path, **parameters):
        return self.request("POST", f"/api/v1{path}", encoded(parameters))

    def patch(self, path, **parameters):
        return self.request("PATCH", f"/api/v1{path}", encoded(parameters))

    def put(self, path, **parameters):
        return self.request("PUT", f"/api/v1{path}", encoded(parameters))

    def delete(self, path, **parameters):
        return self.request("DELETE", f"/api/v1{path}", encoded(parameters))

    def upload(self, path, name, content, kind="application/octet-stream"):
        body, content_type = multipart(name, content, kind)
        return self.request("POST", f"/api/v1{path}", body, content_type)

    def must(self, answer):
        """The members of an answer that has to be a success."""
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} {answer.body[:300]!r}")
        return answer.json()
