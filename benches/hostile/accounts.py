"""Attacks by members, guests and bots: objects that everyone receives, texts of one account, and events."""

import threading
import time

from hostile.attack import attack
from hostile.bodies import png
from hostile.client import Client, head
from hostile.organization import LONG, general, queues_of_all

# Objects that everyone receives.


@attack("channels by bots")
def channels(me):
    def step(client):
        names = [{"name": f"hostile {client.number} {client.turn % 50} {n}", "description": "word " * 150} for n in range(20)]
        if client.turn < 50 and "full" not in client.state:
            answer = client.post("/users/me/subscriptions", subscriptions=names)
            if answer.status == 400:
                client.state["full"] = client.turn
            return answer
        # The channels are as many as may be: leaving and joining them is an event for each.
        turn = client.turn % max(1, client.state.get("full", 50))
        names = [f"hostile {client.number} {turn} {n}" for n in range(20)]
        if client.turn % 2:
            return client.delete("/users/me/subscriptions", subscriptions=names)
        return client.post("/users/me/subscriptions", subscriptions=[{"name": name} for name in names])

    me.loop(4, step, me.world.bots + me.world.members)


@attack("alert words by bots")
def alert_words(me):
    def step(client):
        words = [f"w{client.number}x{client.turn // 2}x{n} and more" for n in range(300)]
        if client.turn % 2:
            return client.delete("/users/me/alert_words", alert_words=words)
        return client.post("/users/me/alert_words", alert_words=words)

    # One account for each person, since bots share the limit of theirs.
    me.loop(6, step, me.world.members)


@attack("custom emoji", prepare=lambda world: queues_of_all(world, ["realm_emoji"], 100))
def emoji(me):
    image = png(1, 1)

    def step(client):
        name = f"e{client.number}x{client.turn % 250}"
        # Each change is an event that lists all emoji.
        if client.turn // 250 % 2:
            return client.delete(f"/realm/emoji/{name}")
        return client.upload(f"/realm/emoji/{name}", "a.png", image, "image/png")

    me.loop(4, step, me.world.members)


# Texts of one account.


@attack("drafts")
def drafts(me):
    def step(client):
        draft = {"type": "stream", "to": [general(me.world)], "topic": "t", "content": chr(97 + client.turn % 26) * LONG}
        ids = client.state.setdefault("ids", [])
        if client.turn < 8:
            answer = client.post("/drafts", drafts=[draft] * 80)
            if answer.status == 200:
                ids += answer.json()["ids"]
            return answer
        return client.patch(f"/drafts/{ids[client.turn % len(ids)]}", draft=draft)

    me.loop(4, step, me.world.members)


@attack("saved snippets")
def snippets(me):
    def step(client):
        text, ids = chr(97 + client.turn % 26) * LONG, client.state.setdefault("ids", [])
        if client.turn < 450:
            answer = client.post("/saved_snippets", title="t", content=text)
            if answer.status == 200:
                ids.append(answer.json()["saved_snippet_id"])
            return answer
        return client.patch(f"/saved_snippets/{ids[client.turn % len(ids)]}", content=text)

    me.loop(4, step, me.world.members)


@attack("bot storage")
def bot_storage(me):
    def step(client):
        return client.put("/bot_storage", storage={f"key {client.turn % 2}": chr(97 + client.turn % 26) * 900_000})

    me.loop(4, step, me.world.bots)


@attack("scheduled messages")
def scheduled(me):
    def step(client):
        ids = client.state.setdefault("ids", [])
        if len(ids) >= 400 or (client.turn > 20 and client.turn % 3 == 0 and ids):
            return client.delete(f"/scheduled_messages/{ids.pop(0)}")
        content = "**a** `b` " * (LONG // 10)
        answer = client.post("/scheduled_messages", type="channel", to=general(me.world), topic="t", content=content,
                             scheduled_delivery_timestamp=int(time.time()) + 3)
        if answer.status == 200:
            ids.append(answer.json()["scheduled_message_id"])
        return answer

    me.loop(4, step, me.world.members)


# Events.


@attack("queues that are not read", processes=2)
def queues(me):
    def step(client):
        if client.number % 4 == 0:
            return client.post("/messages", type="stream", to="general", topic="t", content="word " * 1900)
        return client.post("/register", event_types=["message", "presence", "typing", "realm_user"], fetch_event_types=[])

    me.loop(4, step, me.world.members)


@attack("followed topics")
def followed(me):
    def step(client):
        return client.post("/user_topics", stream_id=general(me.world), topic=f"{client.turn % 5000}", visibility_policy=3)

    me.loop(4, step, me.world.guests + me.world.members)


@attack("first messages of topics")
def first_messages(me):
    me.loop(4, lambda client: client.post("/messages", type="stream", to="general", topic=f"{client.number} {client.turn}", content="a"),
            me.world.guests)


def follow_many(world):
    for guest in world.guests:
        client = Client(world, guest)
        for number in range(500):
            client.must(client.post("/user_topics", stream_id=general(world), topic=f"{number}", visibility_policy=3))
        client.close()


@attack("toggled topics", prepare=follow_many)
def toggled(me):
    def step(client):
        policy = 1 if client.turn // 500 % 2 == 0 else 3
        return client.post("/user_topics", stream_id=general(me.world), topic=f"{client.turn % 500}", visibility_policy=policy)

    me.loop(4, step, me.world.guests)


@attack("typing to 500 people", prepare=lambda world: queues_of_all(world, ["typing"], 300))
def typing(me):
    people = [account["user_id"] for account in me.world.people]

    def step(client):
        return client.post("/typing", type="direct", op="stop" if client.turn % 2 else "start", to=people[client.number:])

    me.loop(4, step, me.world.members)


@attack("typing in a channel of all", prepare=lambda world: queues_of_all(world, ["typing"], 300))
def typing_in_channel(me):
    def step(client):
        return client.post("/typing", type="stream", op="stop" if client.turn % 2 else "start", stream_id=general(me.world), topic="t")

    me.loop(4, step, me.world.members)


@attack("status and presence", prepare=lambda world: queues_of_all(world, ["presence", "user_status"], 300))
def presence(me):
    def step(client):
        if client.turn % 2:
            return client.post("/users/me/presence", status="active", ping_only=False, last_update_id=0)
        return client.post("/users/me/status", status_text=f"{client.turn} " + "a" * 50)

    me.loop(4, step, me.world.members)


@attack("held polls", processes=2, proof=("opened",))
def held_polls(me):
    """Each poll has a queue of its own, and all wake for each message."""
    accounts = me.world.members + me.world.guests
    polls = []

    def register(client):
        queue = client.post("/register", event_types=["message"], fetch_event_types=[])
        if queue.status == 200:
            found = queue.json()
            path = f"/api/v1/events?queue_id={found['queue_id']}&last_event_id={found['last_event_id']}"
            polls.append(head("GET", path, client.headers))
        return queue

    begun, whole = me.end - time.monotonic(), me.end
    me.end = time.monotonic() + begun / 4
    me.loop(4, register, accounts)
    me.end = whole
    senders = threading.Thread(target=lambda: me.guard(lambda _: wake(me), 0), daemon=True)
    senders.start()
    me.hold(min(3000, len(polls)), lambda number: polls[number % len(polls)])


def wake(me):
    """Sends until the end."""
    client = Client(me.world, me.world.members[me.number])
    while not me.is_over():
        me.count(client.post("/messages", type="stream", to="general", topic="t", content="word").status)
        time.sleep(0.2)


@attack("polls of one queue")
def replaced_polls(me):
    """Each poll ends the one before."""

    def run(index):
        client = Client(me.world, me.world.members[index])
        queue = client.must(client.post("/register", event_types=["message"], fetch_event_types=[]))
        path = f"/api/v1/events?queue_id={queue['queue_id']}&last_event_id={queue['last_event_id']}"
        clients = [Client(me.world, client.account) for _ in range(20)]
        asked = head("GET", path, client.headers)
        for one in clients:
            one.open().sendall(asked)
        number = 0
        while not me.is_over():
            # The second newest has been ended by the newest.
            one = clients[number % 20]
            me.count(one.read().status)
            one.open().sendall(asked)
            number += 1

    me.threads(4, run)
