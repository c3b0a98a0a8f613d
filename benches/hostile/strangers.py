"""Attacks by strangers over HTTP/1.1: connections, heads, logins, pages, webhooks."""

import json
import re

from hostile.attack import attack
from hostile.bodies import hold_answers
from hostile.client import Client, abort, authorization, connect, encoded, head
from hostile.organization import PASSWORD

# Strangers of many addresses come through a proxy that the server trusts.
PROXY = ("--trusted-proxy", "127.0.0.1")
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def address(client):
    """Headers of a request from another network of IPv6 each time."""
    number = client.number << 20 | client.turn & 0xFFFFF
    return {"X-Forwarded-For": f"2001:db8:{number >> 16 & 0xFFFF:x}:{number & 0xFFFF:x}::1", "X-Forwarded-Proto": "http"}


# Connections.


@attack("half heads", processes=4, proof=("opened",))
def half_heads(me):
    """Heads as large as may be, without their ends."""
    me.hold(2000, b"GET /api/v1/users/me HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 60_000)


@attack("heads, bodies and answers together", processes=4, proof=("opened",))
def together(me):
    """What is held for clients adds up: half heads and bodies of strangers, and bodies and answers of accounts."""
    accounts = me.world.members + me.world.guests
    own = Client(me.world, accounts[me.number]).headers
    if me.number == 0:
        me.hold(2000, b"GET /api/v1/users/me HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 60_000)
    elif me.number == 1:
        me.hold(2000, head("POST", "/api/v1/fetch_api_key", FORM, 60_000) + b"username=" + b"a" * 50_000)
    elif me.number == 2:
        me.hold(200, head("PUT", "/api/v1/bot_storage", {**own, **FORM}, 1_000_000) + b"content=" + b"a" * 900_000)
    else:
        hold_answers(me, 500)


@attack("slow heads", processes=4, proof=("drips",))
def slow_heads(me):
    me.hold(1000, b"GET /api/v1/users/me HTTP/1.1\r\nHost: localhost\r\nX-A: ", b"a", pause=0.25)


@attack("dripping bodies of strangers", processes=4, proof=("drips",))
def dripping(me):
    me.hold(1000, head("POST", "/api/v1/fetch_api_key", FORM, 60_000) + b"username=" + b"a" * 50_000, b"a", pause=0.25)


@attack("silent connections", processes=4, proof=("opened",))
def silent(me):
    me.hold(3500, b"")


@attack("connections", processes=4, proof=("connected",))
def connections(me):
    """Opens and resets connections, each with a request."""

    def run(index):
        asked = head("GET", "/api/v1/server_settings", {})
        while not me.is_over():
            connection = connect(me.world)
            connection.sendall(asked)
            abort(connection)
            me.count("connected")

    me.threads(4, run)


@attack("malformed heads", processes=4, proof=("400", "431", "505"))
def malformed(me):
    heads = [
        b"GET / HTTP/1.1\nHost: localhost\n\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
        b"GET /" + b"a" * 65_000 + b" HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 9000 + b"\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", b"\0" * 1000,
    ]

    def run(index):
        number = index
        while not me.is_over():
            number += 1
            with connect(me.world, timeout=2) as connection:
                connection.sendall(heads[number % len(heads)])
                received = connection.recv(1 << 16)
                me.count(received[9:12].decode("latin-1") if received.startswith(b"HTTP/1.1 ") else "ended")

    me.threads(6, run)


@attack("unknown paths", processes=3, proof=("404", "401", "405"))
def unknown(me):
    """The cheapest requests, as many as possible: what a flood costs."""
    batch = (head("GET", "/api/v1/nothing", {}) + head("GET", "/api/v1/messages", {}) + head("GET", "/nothing", {})) * 30

    def run(index):
        client = Client(me.world)
        while not me.is_over():
            client.open().sendall(batch)
            for _ in range(90):
                me.count(client.read().status)

    me.threads(3, run)


# Logins.


@attack("hung-up logins", processes=4, proof=("asked",))
def hung_up(me):
    def run(index):
        number = 0
        while not me.is_over():
            number += 1
            body = encoded({"username": f"person{number % 500}@example.com", "password": "wrong password"})
            connection = connect(me.world)
            connection.sendall(head("POST", "/api/v1/fetch_api_key", FORM, len(body)) + body)
            abort(connection)
            me.count("asked")

    me.threads(4, run)


@attack("password guesses", proof=("401",))
def guesses(me):
    def step(client):
        name = f"hostile{client.turn % 4}@example.com" if client.number % 2 else f"nothing{client.turn}@example.com"
        return client.post("/fetch_api_key", username=name, password=f"guess {client.turn}")

    me.loop(8, step)


@attack("password guesses from many networks", processes=3, proof=("401",), flags=PROXY, limited=True)
def guesses_of_many(me):
    def step(client):
        client.headers = address(client)
        return client.post("/fetch_api_key", username=f"nothing{client.number}x{client.turn}@example.com", password=f"guess {client.turn}")

    me.loop(16, step)


@attack("right logins", proof=("200",))
def logins(me):
    """Each login costs a hash of the password, and a key in the file."""
    me.loop(4, lambda client: client.post("/fetch_api_key", username=f"hostile{client.number % 4}@example.com", password=PASSWORD))


@attack("wrong keys", processes=3, proof=("401",), flags=PROXY, limited=True)
def keys(me):
    def step(client):
        client.account = {"email": f"person{client.turn % 500}@example.com", "api_key": "a" * 32}
        client.headers = {**authorization(client.account), **address(client)}
        return client.get("/users/me")

    me.loop(4, step)


# Pages.


@attack("openapi.yaml", processes=3, flags=PROXY, limited=True)
def openapi(me):
    def step(client):
        return client.request("GET", "/api/openapi.yaml", headers={"Accept-Encoding": "gzip", **address(client)})

    me.loop(4, step)


@attack("the web client and the book", processes=3, flags=PROXY, limited=True)
def web_client(me):
    found = Client(me.world).request("GET", "/").body.decode()
    paths = ["/", "/help/", "/api/v1/server_settings", "/robots.txt", *re.findall(r'"(/static/[^"]+)"', found)]

    def step(client):
        return client.request("GET", paths[client.turn % len(paths)], headers={"Accept-Encoding": "gzip", **address(client)})

    me.loop(4, step)


def visitor_narrow(world):
    return json.dumps([{"operator": "channels", "operand": "web-public"}, {"operator": "channel", "operand": world.channels["open"]}])


@attack("visitors who read", processes=3, flags=PROXY, limited=True)
def visitors(me):
    terms = visitor_narrow(me.world)

    def step(client):
        client.headers = address(client)
        if client.turn % 2:
            return client.request("POST", "/json/register", encoded({"fetch_event_types": ["realm", "subscription"]}))
        asked = encoded({"anchor": "newest", "num_before": 5000, "num_after": 0, "narrow": terms}).decode()
        return client.request("GET", f"/json/messages?{asked}")

    me.loop(4, step)


@attack("visitors who search", processes=3, flags=PROXY, limited=True)
def searching_visitors(me):
    def step(client):
        client.headers = address(client)
        words = ["k", "kan", '"kan los"', "l m n r s t v w z", "-kan"][client.turn % 5]
        terms = [{"operator": "channels", "operand": "web-public"}, {"operator": "search", "operand": words}]
        asked = encoded({"anchor": "newest", "num_before": 5000, "num_after": 0, "narrow": terms}).decode()
        return client.request("GET", f"/json/messages?{asked}")

    me.loop(4, step)


@attack("public pages", processes=3, flags=(*PROXY, "--search-engines", "on"), limited=True)
def public_pages(me):
    found = Client(me.world).request("GET", "/public/")
    paths = [f"/public/{me.world.channels['open']}-open", f"/public/{me.world.channels['open']}", "/robots.txt", "/sitemap.xml"]
    paths += re.findall(r'href="(/public/[^"]+)"', found.body.decode("utf-8", "replace"))

    def step(client):
        return client.request("GET", paths[client.turn % len(paths)], headers={"Accept-Encoding": "gzip", **address(client)})

    me.loop(4, step)


def invitation(world):
    client = Client(world, world.owner)
    made = client.must(client.post("/invites/multiuse", stream_ids=[world.channels["general"]], include_realm_default_subscriptions=True))
    client.close()
    return "/" + made["invite_link"].split("/", 3)[3]


@attack("sign-ups", prepare=invitation, flags=PROXY, limited=True, proof=("200", "303", "302"))
def sign_ups(me):
    """Accounts by the link of an owner, from many networks."""

    def step(client):
        where = address(client)
        page = client.request("GET", me.data, headers=where)
        me.count(page.status)
        cookie = page.headers.get("set-cookie", "").split(";")[0]
        found = re.search(r'name="token"[^>]*value="([^"]+)"|value="([^"]+)"[^>]*name="token"', page.body.decode())
        if found is None:
            return None
        name = f"signed{client.number}x{client.turn}"
        body = {"token": found[1] or found[2], "full_name": name, "email": f"{name}@example.com", "password": PASSWORD}
        return client.request("POST", me.data, encoded(body), headers={**where, "Cookie": cookie})

    me.loop(4, step)


@attack("posts to pages of invitations", flags=PROXY, processes=3, limited=True, proof=("404", "403", "400", "200"))
def invitation_guesses(me):
    def step(client):
        client.headers = address(client)
        path = f"/join/{client.number:04}{client.turn:016}abcd/"
        if client.turn % 2:
            return client.request("GET", path)
        return client.request("POST", path, encoded({"token": "a", "password": "b" * 100, "full_name": "c" * 5000}))

    me.loop(4, step)


# Webhooks, whose text is of strangers.


@attack("webhooks with text of strangers", processes=3)
def webhooks(me):
    key = me.world.webhook_bot["api_key"]
    texts = [":smile:" * 8000, "> " * 25_000, "@**all** " * 6000, "$$ x_{1} $$ " * 4500, "| a " * 12_000, "[a](" * 12_000, "**_" * 18_000]

    def step(client):
        text = texts[client.turn % len(texts)]
        issue = {"number": client.turn, "title": text[:500], "body": text, "html_url": "https://a.example/b/1", "user": {"login": "c"}}
        repository = {"name": "b", "full_name": "a/b", "html_url": "https://a.example/b"}
        payload = {"action": "opened", "sender": {"login": "stranger"}, "repository": repository, "issue": issue}
        path = f"/api/v1/external/github?api_key={key}&stream=general&topic=hook"
        return client.request("POST", path, json.dumps(payload).encode(), "application/json", {"X-GitHub-Event": "issues"})

    me.loop(4, step)


@attack("webhooks of deep JSON", processes=3, proof=("400", "200"))
def deep_webhooks(me):
    key = me.world.webhook_bot["api_key"]
    bodies = [b"[" * 60_000, b'{"a":' * 12_000, b'{"a":[' + b"1," * 30_000 + b"1]}", b'"' + b"\\u0000" * 10_000 + b'"']
    names = ["github", "gitlab", "grafana", "sentry", "slack_incoming"]

    def step(client):
        path = f"/api/v1/external/{names[client.turn % 5]}?api_key={key}&stream=general"
        return client.request("POST", path, bodies[client.turn % 4], "application/json", {"X-GitHub-Event": "push"})

    me.loop(4, step)
