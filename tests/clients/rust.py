"""The crate `zulip-api` with a server: `fill` creates data for every part of the state of `POST /register`, the program of the folder
`rust` does its task, and the package `zulip` checks the result.

    rust.py PROGRAM     the program, built
"""

import configparser
import io
import os
import struct
import subprocess
import sys
import time
import zlib

import zulip
from support import STUCK_AFTER, Server, Steps, expect

OLGA = ("olga@chat.example", "Olga Owner", "correct horse")
OTHERS = {
    "jonas": ("jonas@chat.example", "Jonas Member", "member"),
    "mona": ("mona@chat.example", "Mona Moderator", "moderator"),
    "gil": ("gil@chat.example", "Gil Guest", "guest"),
}
BOT = ("build-bot@chat.example", "Build Bot")


def succeeded(answer):
    if answer.get("result") != "success" or "ignored_parameters_unsupported" in answer:
        raise AssertionError(f"answered {answer}")
    return answer


def image():
    """A PNG of one pixel."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\0\xff\x80\0")
    file = io.BytesIO(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixel) + chunk(b"IEND", b""))
    file.name = "spark.png"
    return file


def write_zuliprc(server, name, account):
    """The configuration file as a person downloads it."""
    config = configparser.ConfigParser()
    config["api"] = {"email": account["email"], "key": account["api_key"], "site": server.url}
    path = os.path.join(server.folder.name, f"{name}.zuliprc")
    with open(path, "w") as file:
        config.write(file)
    return path


def fill(people, ids):
    """Has the organization use every part of the state."""
    olga, jonas = people["olga"], people["jonas"]
    everybody = list(ids.values())

    def call(method, path, files=None, client=olga, **params):
        answer = client.call_endpoint(path, method, params, files=files)
        if answer["result"] != "success":
            raise AssertionError(f"{method} {path}: {answer}")
        return answer

    def members(*user_ids):
        return {"direct_members": user_ids, "direct_subgroups": []}

    builds = [{"name": "builds", "description": "What is *built*"}]
    succeeded(olga.add_subscriptions(builds, principals=everybody, can_send_message_group=members(*everybody)))
    succeeded(olga.add_subscriptions([{"name": "moderation"}], invite_only=True))
    succeeded(olga.add_subscriptions([{"name": "left"}], principals=everybody))
    succeeded(olga.remove_subscriptions(["left"]))
    succeeded(jonas.add_subscriptions([{"name": "never"}]))
    channels = {stream["name"]: stream["stream_id"] for stream in succeeded(olga.get_streams())["streams"]}
    builds = channels["builds"]
    folder = call("POST", "channel_folders/create", name="Engineering", description="Builds and *more*")
    call("PATCH", f"streams/{builds}", folder_id=folder["channel_folder_id"])
    call("POST", "default_streams", stream_id=builds)
    call("POST", "default_stream_groups/create", group_name="new", description="All", stream_names=["never"])

    call("PATCH", "realm", moderation_request_channel_id=channels["moderation"])
    call("PATCH", "realm", can_create_groups={"new": members(ids["olga"])})
    call("POST", "user_groups/create", name="builders", description="", members=everybody[:2])
    call("POST", "realm/domains", domain="chat.example", allow_subdomains=True)
    call("POST", "realm/filters", pattern=r"#(?P<id>[0-9]+)", url_template="https://bugs.example/{id}")
    playground = {"name": "Rust", "pygments_language": "Rust", "url_template": "https://play.example/{code}"}
    call("POST", "realm/playgrounds", **playground)
    call("POST", "realm/emoji/spark", files=[image()])
    hook = {"bot_type": 3, "interface_type": 1, "payload_url": "http://ci.example/"}
    call("POST", "bots", full_name="Hook Bot", short_name="hook", **hook)
    offices = {"0": {"text": "Berlin", "order": "1"}}
    fields = [
        (1, "Nickname", {}, "**Ol**"),
        (3, "Office", {"field_data": offices}, "0"),
        (6, "Mentor", {}, [ids["jonas"]]),
        (7, "GitHub", {"field_data": {"subtype": "github"}}, "olga"),
    ]
    for field_type, name, data, value in fields:
        field = call("POST", "realm/profile_fields", name=name, hint="", field_type=field_type, **data)
        call("PATCH", "users/me/profile_data", data=[{"id": field["id"], "value": value}])

    call("POST", "users/me/alert_words", alert_words=["deploy"])
    draft = {"content": "to be said", "timestamp": 1_700_000_000}
    places = [("stream", [builds], "later"), ("private", [ids["jonas"]], ""), ("", [], "")]
    call("POST", "drafts", drafts=[{**draft, "type": kind, "to": to, "topic": topic} for kind, to, topic in places])
    call("POST", "saved_snippets", title="Thanks", content="Thank **you**")
    later = {"content": "good morning", "scheduled_delivery_timestamp": int(time.time()) + 86400}
    call("POST", "scheduled_messages", type="stream", to=builds, topic="later", **later)
    call("POST", "scheduled_messages", type="direct", to=[ids["jonas"]], **later)
    call("POST", "navigation_views", fragment="inbox", is_pinned=True)
    call("POST", "navigation_views", fragment="narrow/is/mentioned/topic/news", is_pinned=False, name="Mentions")
    call("POST", "users/me/status", status_text="building", emoji_name="tada")
    call("POST", "users/me/status", client=jonas, status_text="away", emoji_name="spark")
    call("POST", "users/me/presence", status="active")
    call("POST", f"users/me/muted_users/{ids['gil']}")
    call("POST", "user_topics", stream_id=builds, topic="noise", visibility_policy=1)
    call("POST", "user_topics", stream_id=builds, topic="news", visibility_policy=3)

    news = {"type": "stream", "to": "builds", "topic": "news", "content": "@**Olga Owner** ping"}
    ping = succeeded(jonas.send_message(news))["id"]
    for to in (["olga"], ["olga", "mona"]):
        direct = {"type": "private", "to": [ids[name] for name in to], "content": "hello"}
        succeeded(jonas.send_message(direct))
    call("POST", "messages/flags", messages=[ping], op="add", flag="starred")
    reminder = {"scheduled_delivery_timestamp": later["scheduled_delivery_timestamp"], "note": "answer"}
    call("POST", "reminders", message_id=ping, **reminder)
    # The published web app marks this one at its start. The server sends its type, which the crate does not know.
    for client in people.values():
        step = "narrow_to_dm_with_welcome_bot_new_user"
        call("POST", "users/me/onboarding_steps", client=client, onboarding_step=step)


def main():
    steps, server = Steps(), Server()
    try:
        with steps.step("an organization uses every part of the state"):
            server.start()
            accounts = {"olga": server.create_user(OLGA[0], OLGA[1], "owner", OLGA[2])}
            for name, account in OTHERS.items():
                accounts[name] = server.create_user(*account)
            accounts["bot"] = server.create_user(*BOT, bot_owner=OLGA[0])
            ids = {name: account["user_id"] for name, account in accounts.items()}
            people = {
                name: zulip.Client(email=account["email"], api_key=account["api_key"], site=server.url)
                for name, account in accounts.items()
                if name != "bot"
            }
            fill(people, ids)
        zuliprcs = {name: write_zuliprc(server, name, account) for name, account in accounts.items()}
        others = [zuliprcs[name] for name in OTHERS]
        command = [sys.argv[1], zuliprcs["bot"], OLGA[0], OLGA[2], *others]
        code = subprocess.run(command, timeout=STUCK_AFTER).returncode
        if code:
            return code

        def contents(channel, sender):
            narrow = [["channel", channel], ["sender", sender]]
            page = {"anchor": "newest", "num_before": 10, "num_after": 0, "narrow": narrow}
            found = succeeded(people["olga"].get_messages({**page, "apply_markdown": False}))["messages"]
            return [[message["subject"], message["content"]] for message in found]

        with steps.step("zulip: sees what came of it, and the report to the moderators"):
            expect(contents("builds", BOT[0]), [["broken", "Build 7 **failed**"], ["release", "the log is gone"]])
            [[topic, received]] = contents("moderation", "notification-bot@zulip.com")[-1:]
            expect([topic, "It never passes" in received], ["Build Bot moderation", True])
    finally:
        server.close()
    return steps.exit_code()


if __name__ == "__main__":
    sys.exit(main())
