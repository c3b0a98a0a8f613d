"""A conversation between the packages `zulip` (here) and `zulip-js` (in conversation.mjs) through one server, which is
restarted once and killed once in the middle. Events are fetched after the call that caused them has returned, without
waiting: by then they have to be in every queue that they are for, and nothing else may be there.
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
from unittest.mock import ANY

import requests
import zulip
from support import STUCK_AFTER, Server, Steps, expect

OLGA = ("olga@chat.example", "Olga Owner", "correct horse")
JONAS = ("jonas@chat.example", "Jonas Member", "battery staple")
MIA = ("mia@chat.example", "Mia Member", "a third password")
BOT = ("echo-bot@chat.example", "Echo Bot")

EVENT_TYPES = [
    "message",
    "update_message",
    "delete_message",
    "update_message_flags",
    "reaction",
    "subscription",
]


class ZulipJs:
    """The other client: `node conversation.mjs`, asked by lines of JSON."""

    def __init__(self, script):
        self.node = subprocess.Popen(["node", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **request):
        self.node.stdin.write(json.dumps(request) + "\n")
        self.node.stdin.flush()
        reply = json.loads(self.node.stdout.readline())
        if "error" in reply:
            raise AssertionError(f"zulip-js: {reply['error']}")
        return reply["answer"]

    def call(self, name, **params):
        return self.ask(call=name, params=params)

    def close(self):
        self.node.stdin.close()
        self.node.wait(timeout=STUCK_AFTER)


class Queue:
    """A client's event queue, read with the client's own call."""

    def __init__(self, registered, get_events):
        self.queue_id = succeeded(registered)["queue_id"]
        self.last_event_id = registered["last_event_id"]
        self.get_events = get_events

    def news(self, dont_block=True):
        """The events since the last look, without their ids, which have to grow."""
        answer = succeeded(
            self.get_events(queue_id=self.queue_id, last_event_id=self.last_event_id, dont_block=dont_block)
        )
        events = answer["events"]
        for event in events:
            event_id = event.pop("id")
            assert event_id > self.last_event_id, f"event {event_id} after {self.last_event_id}"
            self.last_event_id = event_id
        return events


class AnsweringBot:
    """A bot in a thread of its own that answers `echo: ...` to every message that mentions it."""

    def __init__(self, client):
        self.client = client
        self.registrations = 0
        self.listening = threading.Event()
        register = client.register

        def counted(*args, **kwargs):
            answer = register(*args, **kwargs)
            self.registrations += 1
            self.listening.set()
            return answer

        client.register = counted
        threading.Thread(target=client.call_on_each_message, args=(self.hear,), daemon=True).start()

    def hear(self, message):
        mention = f"@**{BOT[1]}**"
        if message["content"].startswith(mention):
            content = "echo:" + message["content"].removeprefix(mention)
            to, topic = message["display_recipient"], message["subject"]
            self.client.send_message({"type": "stream", "to": to, "topic": topic, "content": content})


def succeeded(answer):
    if answer.get("result") != "success":
        raise AssertionError(f"answered {answer}")
    return answer


def log_in(server, email, password):
    """As the terminal client does it."""
    form = {"username": email, "password": password}
    return requests.post(f"{server.url}/api/v1/fetch_api_key", data=form, timeout=STUCK_AFTER)


def message(sender, content, **others):
    """A message as every client gets it."""
    raw = {"content": content, "content_type": "text/x-markdown", "reactions": [], "submessages": []}
    about_sender = {"sender_id": sender["user_id"], "sender_email": sender["email"], "sender_realm_str": ""}
    return {
        **raw,
        **about_sender,
        "sender_full_name": sender["full_name"],
        "avatar_url": ANY,
        "is_me_message": False,
        "topic_links": [],
        "timestamp": ANY,
        "recipient_id": ANY,
        **others,
    }


def contents(answer):
    return [message["content"] for message in succeeded(answer)["messages"]]


def converse(server, js, steps):
    step = steps.step
    users = {}

    with step("an empty file is served, and the terminal says how to become its owner"):
        server.start()
        assert "--role owner" in server.says("teamchat user create")

    with step("users and a bot are made by `teamchat user create` while the server runs"):
        users["olga"] = server.create_user(OLGA[0], OLGA[1], "owner", OLGA[2])
        users["jonas"] = server.create_user(JONAS[0], JONAS[1], "member", JONAS[2])
        users["mia"] = server.create_user(MIA[0], MIA[1], "member", MIA[2])
        users["bot"] = server.create_user(*BOT, bot_owner=OLGA[0])
        for user in users.values():
            assert len(user["api_key"]) == 32, user
    olga_id, jonas_id, mia_id = (users[name]["user_id"] for name in ("olga", "jonas", "mia"))

    with step("a wrong password is refused in the published words"):
        refused = log_in(server, OLGA[0], "wrong horse")
        msg = "Your username or password is incorrect"
        expect(refused.json(), {"result": "error", "msg": msg, "code": "AUTHENTICATION_FAILED"})
        assert refused.status_code == 401

    with step("zulip: logs in with email and password, and knows who it is"):
        answer = succeeded(log_in(server, OLGA[0], OLGA[2]).json())
        expect(answer, {"result": "success", "msg": "", "api_key": ANY, "email": OLGA[0], "user_id": olga_id})
        python = zulip.Client(email=OLGA[0], api_key=answer["api_key"], site=server.url)
        profile = succeeded(python.get_profile())
        expect([profile["user_id"], profile["full_name"], profile["role"]], [olga_id, OLGA[1], 100])

    with step("zulip-js: logs in with email and password, and knows who it is"):
        js.ask(login={"username": JONAS[0], "password": JONAS[2], "realm": server.url})
        profile = succeeded(js.call("users.me.getProfile"))
        expect([profile["user_id"], profile["full_name"], profile["role"]], [jonas_id, JONAS[1], 400])

    with step("both register a queue and get a state"):
        state = succeeded(python.register(EVENT_TYPES, [], fetch_event_types=["subscription", "realm_user"]))
        expect([user["user_id"] for user in state["realm_users"]], [user["user_id"] for user in users.values()])
        expect([state["zulip_version"], state["zulip_feature_level"]], [python.zulip_version, python.feature_level])
        olga = Queue(state, python.get_events)
        jonas = Queue(
            js.call("queues.register", event_types=EVENT_TYPES),
            lambda **params: js.call("events.retrieve", **params),
        )
        expect([olga.news(), jonas.news()], [[], []])

    with step("zulip: creates a channel and subscribes both; each receives its own subscription"):
        streams = [{"name": "kitchen", "description": "What is for lunch"}]
        answer = succeeded(python.add_subscriptions(streams, principals=[olga_id, jonas_id]))
        expect(answer["subscribed"], {str(olga_id): ["kitchen"], str(jonas_id): ["kitchen"]})
        expect(answer["already_subscribed"], {})
        kitchen_id = succeeded(python.get_stream_id("kitchen"))["stream_id"]
        for queue in (olga, jonas):
            added = [event for event in queue.news() if event["type"] == "subscription"]
            received = [(event["op"], [(sub["stream_id"], sub["name"]) for sub in event["subscriptions"]]) for event in added]
            expect(received, [("add", [(kitchen_id, "kitchen")])])

    with step("zulip-js: subscribes to a channel that this makes; the other receives the subscriber"):
        answer = succeeded(js.call("users.me.subscriptions.add", subscriptions=[{"name": "garden"}]))
        expect(answer["subscribed"], {str(jonas_id): ["garden"]})
        garden_id = succeeded(js.call("streams.getStreamId", stream="garden"))["stream_id"]
        added = [event for event in jonas.news() if event["type"] == "subscription"]
        expect([[sub["stream_id"] for sub in event["subscriptions"]] for event in added], [[garden_id]])
        received = [event for event in olga.news() if event["type"] == "subscription"]
        expect(received, [{"type": "subscription", "op": "peer_add", "stream_ids": [garden_id], "user_ids": [jonas_id]}])

    with step("zulip-js: sends to the channel; both get the message, whole"):
        sent = js.call("messages.send", type="stream", to="kitchen", topic="lunch", content="Soup, **hot**")
        soup_id = succeeded(sent)["id"]
        place = {"type": "stream", "display_recipient": "kitchen", "stream_id": kitchen_id, "subject": "lunch"}
        soup = message(users["jonas"], "Soup, **hot**", id=soup_id, client="node-fetch", **place)
        expected = [{"type": "message", "message": soup, "flags": []}]
        expect(olga.news(), expected)
        expect(jonas.news(), expected)

    with step("zulip: sends to the channel; both get the message, whole"):
        sent = python.send_message({"type": "stream", "to": kitchen_id, "topic": "lunch", "content": "@**Jonas Member** salad?"})
        salad_id = succeeded(sent)["id"]
        salad = message(users["olga"], "@**Jonas Member** salad?", id=salad_id, client="ZulipPython", **place)
        expect(olga.news(), [{"type": "message", "message": salad, "flags": []}])
        expect(jonas.news(), [{"type": "message", "message": salad, "flags": ["mentioned"]}])

    with step("zulip: edits; both receive the old and the new text"):
        succeeded(python.update_message({"message_id": salad_id, "content": "Salad *and* bread?"}))
        edited = {
            "type": "update_message",
            "user_id": olga_id,
            "rendering_only": False,
            "message_id": salad_id,
            "message_ids": [salad_id],
            "edit_timestamp": ANY,
            "stream_id": kitchen_id,
            "stream_name": "kitchen",
            "orig_content": "@**Jonas Member** salad?",
            "orig_rendered_content": ANY,
            "content": "Salad *and* bread?",
            "rendered_content": "<p>Salad <em>and</em> bread?</p>",
            "is_me_message": False,
            "flags": [],
        }
        for queue in (olga, jonas):
            news = queue.news()
            # Members that the documentation leaves open (deprecated forms of the above) are not compared.
            expect([{key: event.get(key) for key in edited} for event in news], [edited])

    with step("zulip-js: reacts and removes the reaction; both receive it"):
        for op, call in (("add", "reactions.add"), ("remove", "reactions.remove")):
            succeeded(js.call(call, message_id=salad_id, emoji_name="tada"))
            reaction = {"emoji_name": "tada", "emoji_code": "1f389", "reaction_type": "unicode_emoji"}
            reaction = {"type": "reaction", "op": op, "user_id": jonas_id, "message_id": salad_id, **reaction}
            for queue in (olga, jonas):
                # `user` repeats `user_id` for older clients.
                events = [{key: value for key, value in event.items() if key != "user"} for event in queue.news()]
                expect(events, [reaction])

    with step("zulip: marks messages read and one starred; no one else receives it"):
        for flag, ids in (("read", [soup_id, salad_id]), ("starred", [soup_id])):
            succeeded(python.update_message_flags({"messages": ids, "op": "add", "flag": flag}))
            flags = {"op": "add", "operation": "add", "flag": flag, "messages": ids, "all": False}
            expect(olga.news(), [{"type": "update_message_flags", **flags}])
        expect(jonas.news(), [])

    with step("zulip-js: marks a message read and unread again"):
        succeeded(js.call("messages.flags.add", messages=[soup_id], flag="read"))
        expect([event["op"] for event in jonas.news()], ["add"])
        succeeded(js.call("messages.flags.remove", messages=[soup_id], flag="read"))
        details = {str(soup_id): {"type": "stream", "stream_id": kitchen_id, "topic": "lunch"}}
        [event] = jonas.news()
        expect([event["op"], event["messages"]], ["remove", [soup_id]])
        received = event["message_details"][str(soup_id)]
        expect({key: received.get(key) for key in details[str(soup_id)]}, details[str(soup_id)])
        expect(olga.news(), [])

    with step("direct messages by id and by email reach the two, and no one else"):
        outsider = zulip.Client(email=MIA[0], api_key=users["mia"]["api_key"], site=server.url)
        mia = Queue(outsider.register(EVENT_TYPES, []), outsider.get_events)
        sent = python.send_message({"type": "private", "to": [jonas_id], "content": "by id"})
        by_id = succeeded(sent)["id"]
        sent = js.call("messages.send", type="private", to=[OLGA[0]], content="by email")
        by_email = succeeded(sent)["id"]
        people = [
            {"id": user["user_id"], "email": user["email"], "full_name": user["full_name"], "is_mirror_dummy": False}
            for user in (users["olga"], users["jonas"])
        ]
        place = {"type": "private", "display_recipient": people, "subject": ""}
        first = message(users["olga"], "by id", id=by_id, client="ZulipPython", **place)
        second = message(users["jonas"], "by email", id=by_email, client="node-fetch", **place)
        expected = [{"type": "message", "message": each, "flags": []} for each in (first, second)]
        expect([olga.news(), jonas.news(), mia.news()], [expected, expected, []])

    with step("a group conversation reaches all three"):
        sent = python.send_message({"type": "private", "to": [jonas_id, mia_id], "content": "all three"})
        group_id = succeeded(sent)["id"]
        for queue in (olga, jonas, mia):
            expect([event["message"]["id"] for event in queue.news()], [group_id])

    def fetch(narrow, call=python.get_messages):
        return call({"anchor": "newest", "num_before": 50, "num_after": 0, "apply_markdown": False, "narrow": narrow})

    with step("messages are found by the narrows of the terminal client"):
        expect(contents(fetch([["stream", "kitchen"], ["topic", "lunch"]])), ["Soup, **hot**", "Salad *and* bread?"])
        expect(contents(fetch([["stream", "kitchen"]]))[-2:], ["Soup, **hot**", "Salad *and* bread?"])
        expect(contents(fetch([["is", "private"]])), [ANY, "by id", "by email", "all three"])  # The greeting comes first.
        expect(contents(fetch([["pm-with", JONAS[0]]])), ["by id", "by email"])
        expect(contents(fetch([["pm-with", f"{JONAS[0]},{MIA[0]}"]])), ["all three"])
        expect(contents(fetch([["is", "starred"]])), ["Soup, **hot**"])
        expect(contents(fetch([["search", "bread"]])), ["Salad *and* bread?"])

    with step("zulip-js: fetches a page, rendered"):
        params = {"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": [["stream", "kitchen"]]}
        answer = succeeded(js.call("messages.retrieve", **params))
        expect([each["content"] for each in answer["messages"]], ["<p>Salad <em>and</em> bread?</p>"])
        expect([answer["found_newest"], answer["found_oldest"]], [True, False])

    with step("both list the topics of the channel"):
        lists = [python.get_stream_topics(kitchen_id), js.call("streams.topics.retrieve", stream_id=kitchen_id)]
        for topics in lists:
            lunch = [topic for topic in succeeded(topics)["topics"] if topic["name"] == "lunch"]
            expect(lunch, [{"name": "lunch", "max_id": salad_id}])

    with step("a bot that listens with call_on_each_message answers"):
        bot_client = zulip.Client(email=BOT[0], api_key=users["bot"]["api_key"], site=server.url)
        succeeded(bot_client.add_subscriptions([{"name": "kitchen"}]))
        bot = AnsweringBot(bot_client)
        assert bot.listening.wait(STUCK_AFTER), "the bot did not register"
        olga.news()
        jonas.news()
        seconds = ask_bot(python, olga, "one")
        print(f"        the answer came after {seconds * 1000:.1f} ms", flush=True)

    with step("zulip-js: has heard the question and the answer"):
        expect([event["message"]["content"] for event in jonas.news()], [f"@**{BOT[1]}** one", "echo: one"])

    with step("zulip: deletes a message; both receive it"):
        succeeded(python.delete_message(salad_id))
        deleted = {"message_type": "stream", "stream_id": kitchen_id, "topic": "lunch"}
        deleted = {"type": "delete_message", "message_id": salad_id, **deleted}
        expect([olga.news(), jonas.news()], [[deleted], [deleted]])
        gone = {"result": "error", "msg": "Invalid message(s)", "code": "BAD_REQUEST"}
        expect(python.get_raw_message(salad_id), gone)

    with step("zulip: moves what is left of the topic; both receive it, and the notification bot says so"):
        move = {"message_id": soup_id, "topic": "supper", "propagate_mode": "change_all"}
        succeeded(python.update_message(move))
        moved = {
            "type": "update_message",
            "user_id": olga_id,
            "rendering_only": False,
            "message_id": soup_id,
            "message_ids": [soup_id],
            "edit_timestamp": ANY,
            "stream_id": kitchen_id,
            "stream_name": "kitchen",
            "propagate_mode": "change_all",
            "orig_subject": "lunch",
            "subject": "supper",
            "topic_links": [],
            "flags": ANY,
        }
        notice = f"This topic was moved here from #**kitchen>lunch** by @_**{OLGA[1]}|{olga_id}**."
        for queue in (olga, jonas):
            [event, said] = queue.news()
            expect({key: event.get(key) for key in moved}, moved)
            received = [said["message"][key] for key in ("sender_full_name", "subject", "content")]
            expect(received, ["Notification Bot", "supper", notice])

    def heard(queue):
        return [event["message"]["content"] for event in queue.news()]

    with step("zulip: uploads a file; only receivers of a message that links to it can load it"):
        content = bytes(range(256)) * 5000
        with tempfile.NamedTemporaryFile(suffix=".dat") as file:
            file.write(content)
            file.seek(0)
            uploaded = succeeded(python.upload_file(file))
        url = uploaded["url"]
        expect([uploaded["uri"], url.startswith("/user_uploads/")], [url, True])

        def load(client, url):
            return requests.get(server.url + url, auth=(client.email, client.api_key), timeout=STUCK_AFTER)

        assert load(python, url).content == content
        expect(load(outsider, url).status_code, 403)
        text = f"[{uploaded['filename']}]({url})"
        succeeded(python.send_message({"type": "private", "to": [mia_id], "content": text}))
        expect(heard(olga), [text])
        assert load(outsider, url).content == content
        temporary = succeeded(outsider.call_endpoint(url=url.removeprefix("/"), method="GET"))["url"]
        assert requests.get(server.url + temporary, timeout=STUCK_AFTER).content == content
        [attachment] = succeeded(python.get_attachments())["attachments"]
        expect([attachment["size"], len(attachment["messages"])], [len(content), 1])

    def send_from_both(content):
        to = {"type": "stream", "to": "kitchen", "topic": "lunch"}
        succeeded(python.send_message({**to, "content": f"{content}, says zulip"}))
        succeeded(js.call("messages.send", **to, content=f"{content}, says zulip-js"))
        return [f"{content}, says zulip", f"{content}, says zulip-js"]

    with step("SIGTERM: the server ends cleanly although a bot waits"):
        unread = send_from_both("before the restart")
        server.terminate()

    with step("after the restart both queues go on: nothing is lost, nothing comes twice"):
        server.start()
        expect([heard(olga), heard(jonas)], [unread, unread])
        expect([heard(olga), heard(jonas)], [[], []])
        again = send_from_both("after the restart")
        expect([heard(olga), heard(jonas)], [again, again])

    with step("kill -9 after an acknowledged send: both queues go on, and the message is there"):
        unread = send_from_both("before the kill")
        server.kill()
        server.start()
        expect([heard(olga), heard(jonas)], [unread, unread])
        again = send_from_both("after the kill")
        expect([heard(olga), heard(jonas)], [again, again])

    with step("the bot has heard of none of this, and answers as before, without a new register"):
        ask_bot(python, olga, "two")
        expect(bot.registrations, 1)
        jonas.news()

    with step("both delete their queues; a deleted queue is gone"):
        succeeded(python.deregister(olga.queue_id))
        succeeded(js.call("queues.deregister", queue_id=jonas.queue_id))
        for queue in (olga, jonas):
            refused = queue.get_events(queue_id=queue.queue_id, last_event_id=queue.last_event_id, dont_block=True)
            msg = f"Bad event queue ID: {queue.queue_id}"
            bad = {"result": "error", "msg": msg, "code": "BAD_EVENT_QUEUE_ID", "queue_id": queue.queue_id}
            expect(refused, bad)

    with step("SIGTERM ends the server cleanly once more"):
        server.terminate()


def ask_bot(client, queue, word):
    """Asks the bot and waits for its answer in the queue; how many seconds that took."""
    started = time.monotonic()
    question = f"@**{BOT[1]}** {word}"
    succeeded(client.send_message({"type": "stream", "to": "kitchen", "topic": "bots", "content": question}))
    heard = []
    while f"echo: {word}" not in heard:
        # Waits in the server; a heartbeat would end the wait if the bot never answered.
        news = queue.news(dont_block=False)
        assert not any(event["type"] == "heartbeat" for event in news), f"no answer; heard {heard}"
        heard += [event["message"]["content"] for event in news]
    expect(heard, [question, f"echo: {word}"])
    return time.monotonic() - started


def main():
    steps, server, js = Steps(), Server(), ZulipJs(sys.argv[1])
    try:
        converse(server, js, steps)
    except Exception as error:  # A later step needed something that an earlier one did not bring about.
        print(f"FAILED  the conversation could not go on: {error!r}", flush=True)
        steps.failed += 1
    finally:
        js.close()
        server.close()
    return steps.exit_code()


if __name__ == "__main__":
    sys.exit(main())
