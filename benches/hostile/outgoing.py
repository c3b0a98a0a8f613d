"""Attacks with requests that the server makes: outgoing webhooks and Web Push."""

import http.client
import socket
import ssl
import threading
import time

from hostile.attack import attack
from hostile.client import FORM, Client, encoded
from hostile.organization import PASSWORD


class Receiver(threading.Thread):
    """A hostile server, which takes requests and answers never, slowly, or without end."""

    def __init__(self, context=None):
        super().__init__(daemon=True)
        self.context, self.requests = context, 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        try:
            if self.context is not None:
                connection = self.context.wrap_socket(connection, server_side=True)
            connection.recv(1 << 16)
            self.requests += 1
            if self.requests % 3 == 0:
                time.sleep(60)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"content\": \"")
            while self.requests % 3 == 1:
                connection.sendall(b"a" * 65536)
            while True:
                connection.sendall(b"a")
                time.sleep(0.1)
        except OSError:
            pass


def webhook_receiver(world):
    receiver = Receiver()
    receiver.start()
    made = []
    for member in world.members[:4]:
        client = Client(world, member)
        for number in range(8):
            short = f"out{member['user_id']}x{number}"
            made.append(client.must(client.post("/bots", full_name=f"Out {short}", short_name=short, bot_type=3, interface_type=1,
                                                payload_url=f"http://127.0.0.1:{receiver.port}/")))
        client.close()
    return {"receiver": receiver, "bots": [bot["user_id"] for bot in made]}


@attack("outgoing webhooks", prepare=webhook_receiver, flags=("--webhook-hosts", "127.0.0.1:*"))
def outgoing(me):
    bots = me.data["bots"]

    def step(client):
        return client.post("/messages", type="direct", to=[bots[(client.turn + client.number) % len(bots)]], content="word " * 1900)

    me.loop(4, step, me.world.members)


def log_in(world, email):
    """The headers of a browser's session."""
    connection = http.client.HTTPConnection(*world.address)
    body = encoded({"username": email, "password": PASSWORD})
    connection.request("POST", "/accounts/login/", body, {"Content-Type": FORM})
    answer = connection.getresponse()
    answer.read()
    cookies = dict(value.split(";")[0].split("=", 1) for name, value in answer.getheaders() if name.lower() == "set-cookie")
    connection.close()
    if answer.status != 200:
        raise RuntimeError(f"login: {answer.status}")
    token = next(value for name, value in cookies.items() if name.endswith("csrf"))
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()), "X-CSRFToken": token}


# The base point of P-256, a valid key of a browser.
POINT = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"


def push_receiver(world):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(world.folder / "server.pem", world.folder / "server.key")
    receiver = Receiver(context)
    receiver.start()
    subscribed = []
    for member in world.members[:4]:
        for number in range(8):
            client = Client(world, None, log_in(world, member["email"]))
            # Asking for the key makes it.
            client.must(client.request("GET", "/json/users/me/web_push"))
            endpoint = f"https://localhost:{receiver.port}/{member['user_id']}/{number}"
            subscription = {"endpoint": endpoint, "p256dh": POINT, "auth": "A" * 22}
            client.must(client.request("POST", "/json/users/me/web_push", encoded(subscription)))
            client.close()
        subscribed.append(member["user_id"])
    return {"receiver": receiver, "to": subscribed}


PUSH_FLAGS = ("--web-push-hosts", "localhost:*", "--web-push-ca", "{folder}/ca.pem")


@attack("Web Push to a hostile service", prepare=push_receiver, flags=PUSH_FLAGS)
def web_push(me):
    def step(client):
        return client.post("/messages", type="direct", to=[me.data["to"][client.turn % 4]], content="word " * 1900)

    me.loop(4, step, me.world.members[4:])
