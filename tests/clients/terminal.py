"""The terminal client: the calls of its start-up as it sends them, and, where it can be installed, the program itself
on a pseudo-terminal: what others write appears on its screen, and what is typed there is sent.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from unittest.mock import ANY

import requests
from support import STUCK_AFTER, Server, Steps, expect

MIA = ("mia@chat.example", "Mia Terminal", "a third password")
OLGA = ("olga@chat.example", "Olga Owner", "correct horse")

# What the program reads of the answer to `POST /register`; without one of them it does not start. The two settings at
# the end are read there by releases and in `user_settings` by what comes after them.
STATE = """zulip_version max_message_id queue_id last_event_id realm_name realm_message_retention_days user_id email
    full_name realm_users cross_realm_bots presences realm_emoji realm_user_groups muted_topics starred_messages
    user_settings unread_msgs subscriptions twenty_four_hour_time pm_content_in_desktop_notifications""".split()
SUBSCRIPTION = """name stream_id color description invite_only is_web_public history_public_to_subscribers pin_to_top
    is_muted desktop_notifications message_retention_days subscribers""".split()
USER_SETTINGS = ["send_private_typing_notifications", "twenty_four_hour_time", "pm_content_in_desktop_notifications"]

EVENT_TYPES = """message update_message reaction submessage subscription typing update_message_flags
    update_global_notifications update_display_settings user_settings realm_emoji realm_user""".split()
FETCH_EVENT_TYPES = """realm presence subscription message starred_messages update_message_flags muted_topics realm_user
    realm_user_groups update_global_notifications update_display_settings user_settings realm_emoji
    custom_profile_fields zulip_version""".split()


class Account:
    """Calls in the way of the package that the program is built on: values that are not text go as JSON."""

    def __init__(self, server, email, api_key):
        self.server, self.auth = server, (email, api_key)
        self.email, self.api_key = self.auth

    def call(self, method, path, **params):
        form = {name: value if isinstance(value, str) else json.dumps(value) for name, value in params.items()}
        where = {"params": form} if method == "GET" else {"data": form}
        url = f"{self.server.url}/api/v1/{path}"
        answer = requests.request(method, url, auth=self.auth, timeout=STUCK_AFTER, **where).json()
        if answer["result"] != "success":
            raise AssertionError(f"{method} {path}: {answer}")
        return answer

    def send(self, to, content, topic=None):
        kind = {"type": "stream", "topic": topic} if topic else {"type": "private"}
        return self.call("POST", "messages", to=to, content=content, **kind)["id"]


class Screen:
    """A program on a pseudo-terminal, and everything that it has written."""

    SIZE = (40, 140)

    def __init__(self, command, folder, environment):
        pid, self.master = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self.pid = pid
        self.folder = folder
        self.written = ""
        self.mark = 0
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", *self.SIZE, 0, 0))

    def wait_for(self, text):
        """Waits until a text appears that was not there at the last call of `forget`."""
        give_up = time.monotonic() + STUCK_AFTER
        while text not in self.text():
            ready, _, _ = select.select([self.master], [], [], max(0, give_up - time.monotonic()))
            if not ready:
                raise AssertionError(f"{text!r} did not appear; the screen shows:\n{self.text()[-3000:]}")
            try:
                self.written += os.read(self.master, 65536).decode(errors="replace")
            except OSError:
                raise AssertionError(f"the program ended; {self.last_words()}") from None

    def last_words(self):
        """The log that the program leaves where it ran, or else its output."""
        log = os.path.join(self.folder, "zulip-terminal-tracebacks.log")
        if os.path.exists(log):
            with open(log) as file:
                return f"its log ends with:\n{file.read()[-1500:]}"
        return f"it wrote:\n{self.text()[-1500:]}"

    def text(self):
        """What was written, without the escape sequences that place and colour it."""
        return re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>])|[\x0e\x0f]", "", self.written[self.mark :])

    def forget(self):
        self.mark = len(self.written)

    def type(self, keys):
        os.write(self.master, keys.encode())

    def close(self):
        os.close(self.master)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def prepare(server, steps):
    """Two people, a channel, a message in it and a direct one."""
    with steps.step("there are two people, a channel and messages to look at"):
        server.start()
        accounts = []
        for (email, name, password), role in ((OLGA, "owner"), (MIA, "member")):
            user = server.create_user(email, name, role, password)
            accounts.append(Account(server, email, user["api_key"]))
        olga, mia = accounts
        people = [account.call("GET", "users/me")["user_id"] for account in accounts]
        olga.call("POST", "users/me/subscriptions", subscriptions=[{"name": "harbour"}], principals=people)
        olga.send("harbour", "Ships ahoy", topic="arrivals")
        olga.send([MIA[0]], "Only for you")
        return olga, mia
    return None, None


def start_up(mia, steps):
    """The calls of its start, in its order and with its parameters."""
    with steps.step("start-up: settings, and the messages around the first unread one"):
        settings = requests.get(f"{mia.server.url}/api/v1/server_settings", timeout=STUCK_AFTER).json()
        expect([settings["require_email_format_usernames"], settings["email_auth_enabled"]], [True, True])
        expect(settings["realm_uri"], mia.server.url)
        page = {"num_before": 30, "num_after": 10, "apply_markdown": True, "client_gravatar": True, "narrow": []}
        found = mia.call("GET", "messages", anchor=0, use_first_unread_anchor=True, **page)
        contents = [message["content"] for message in found["messages"]]
        expect(contents[-2:], ["<p>Ships ahoy</p>", "<p>Only for you</p>"])
        expect([found["anchor"], found["found_newest"]], [found["messages"][0]["id"], True])

    with steps.step("start-up: everything that it reads of the registered state is there"):
        state = mia.call(
            "POST",
            "register",
            event_types=EVENT_TYPES,
            fetch_event_types=FETCH_EVENT_TYPES,
            client_gravatar=True,
            apply_markdown=True,
            include_subscribers=True,
        )
        expect([key for key in STATE if key not in state], [])
        expect([key for key in USER_SETTINGS if key not in state["user_settings"]], [])
        subscriptions = {subscription["name"]: subscription for subscription in state["subscriptions"]}
        harbour = subscriptions["harbour"]
        expect([key for key in SUBSCRIPTION if key not in harbour], [])
        expect(len(harbour["subscribers"]), 2)
        own = [user for user in state["realm_users"] if user["email"] == mia.email]
        expect([user["full_name"] for user in own], [MIA[1]])
        # The Welcome Bot greeted her.
        expect([len(pm["unread_message_ids"]) for pm in state["unread_msgs"]["pms"]], [1, 1])
        assert all("sender_id" in pm for pm in state["unread_msgs"]["pms"]), state["unread_msgs"]

    with steps.step("start-up: presence keyed by email, and a first look at the queue"):
        presence = mia.call("POST", "users/me/presence", status="active", new_user_input=True)
        expect(set(presence["presences"][mia.email]), {"aggregated", "website"})
        queue = {"queue_id": state["queue_id"], "last_event_id": state["last_event_id"], "dont_block": True}
        answer = mia.call("GET", "events", **queue)
        expect(answer, {"result": "success", "msg": "", "events": ANY, "queue_id": state["queue_id"]})
        # Its own presence may arrive; it did not ask for that type of event.
        expect(answer["events"], [])

    with steps.step("its narrows, always pairs of text, find what they name"):
        narrows = [
            ([["stream", "harbour"], ["topic", "arrivals"]], ["Ships ahoy"]),
            ([["is", "private"]], [ANY, "Only for you"]),
            ([["pm-with", OLGA[0]]], ["Only for you"]),
            ([["pm_with", OLGA[0]]], ["Only for you"]),
            ([["is", "starred"]], []),
            ([["is", "mentioned"]], []),
            ([["search", "ahoy"]], ["Ships ahoy"]),
        ]
        for narrow, expected in narrows:
            page = {"anchor": "newest", "num_before": 30, "num_after": 0, "apply_markdown": False}
            found = mia.call("GET", "messages", narrow=narrow, **page)
            expect([message["content"] for message in found["messages"]], expected)

    with steps.step("on leaving it deletes its queue"):
        mia.call("DELETE", "events", queue_id=state["queue_id"])


def program(binary, olga, mia, steps):
    """The program itself, from its very first start."""
    with tempfile.TemporaryDirectory(prefix="teamchat-terminal-") as home:
        command = [binary, "--config-file", os.path.join(home, "zuliprc"), "--no-notify", "--color-depth", "16"]
        environment = {**os.environ, "HOME": home, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        screen = Screen(command, home, environment)
        started = False
        try:
            with steps.step("the program asks for server, email and password, and refuses a wrong password"):
                screen.wait_for("Zulip URL: ")
                screen.type(f"{mia.server.url}\n")
                for password in ("not " + MIA[2], MIA[2]):
                    screen.wait_for("Email: ")
                    screen.type(f"{MIA[0]}\n")
                    screen.wait_for("Password: ")
                    screen.forget()
                    screen.type(f"{password}\n")
                    screen.wait_for("API key saved" if password == MIA[2] else "Incorrect Email")
            with steps.step("the program shows the channel and the messages"):
                for text in ("harbour", "Ships ahoy", "Only for you"):
                    screen.wait_for(text)
                started = True
            if not started:
                return
            with steps.step("messages of others appear on its screen"):
                screen.forget()
                olga.send("harbour", "A second ship", topic="arrivals")
                screen.wait_for("A second ship")
            with steps.step("what is typed into it arrives"):
                screen.type("x")  # A new direct message: first to whom, then what.
                screen.wait_for("To: ")
                queue = olga.call("POST", "register", event_types=["message"])
                screen.type(f"Olga Owner <{olga.email}>\tWelcome aboard\x04")
                screen.wait_for("Welcome aboard")
                heard = olga.call(
                    "GET", "events", queue_id=queue["queue_id"], last_event_id=queue["last_event_id"]
                )
                received = [(event["message"]["sender_email"], event["message"]["content"]) for event in heard["events"]]
                expect(received, [(MIA[0], "Welcome aboard")])
        finally:
            screen.close()


def main():
    steps, server = Steps(), Server()
    try:
        olga, mia = prepare(server, steps)
        if mia:
            start_up(mia, steps)
            if os.path.exists(sys.argv[1]):
                program(os.path.abspath(sys.argv[1]), olga, mia, steps)
            else:
                print("skipped the program itself: it could not be installed for this Python", flush=True)
    finally:
        server.close()
    return steps.exit_code()


if __name__ == "__main__":
    sys.exit(main())
