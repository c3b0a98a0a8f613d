"""Bots on the packages `zulip_bots` and `zulip_botserver`: one that polls for events, and two that the server posts to.

    bots.py FOLDER      the folder with the programs `zulip-run-bot` and `zulip-botserver`
"""

import configparser
import os
import socket
import subprocess
import sys
import time

import zulip
from support import STUCK_AFTER, Server, Steps

OLGA = ("olga@chat.example", "Olga Owner", "correct horse")
GREETING = "beep boop"


class Program:
    """A program beside the server, with its output in a file."""

    def __init__(self, server, name, command):
        self.log = os.path.join(server.folder.name, f"{name}.log")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def last_words(self):
        with open(self.log) as log:
            return log.read()[-2000:].strip()

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=STUCK_AFTER)
        except subprocess.TimeoutExpired:
            self.process.kill()


def until(what, program, condition):
    """Waits for a condition, as long as a program runs."""
    end = time.monotonic() + STUCK_AFTER
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        if program.process.poll() is not None:
            raise AssertionError(f"it ended: {program.last_words()}")
        time.sleep(0.1)
    raise AssertionError(f"no {what}: {program.last_words()}")


def start_on_free_port(server, name, command, attempts=5):
    """A program that listens, and its port, which is added to the command. A port that was free may be taken before the
    program gets it: one that ends is started again on another."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    program = Program(server, name, [*command, str(port)])

    def listens():
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        until("start", program, lambda: program.process.poll() is None and listens())
    except AssertionError:
        if program.process.poll() is None or attempts == 1:
            program.end()
            raise
        return start_on_free_port(server, name, command, attempts - 1)
    return program, port


def succeeded(answer):
    if answer["result"] != "success":
        raise AssertionError(answer)
    return answer


def replies(olga, narrow, sender, after):
    found = olga.get_messages(
        {"anchor": after, "include_anchor": False, "num_before": 0, "num_after": 100, "narrow": narrow,
         "apply_markdown": False}
    )
    return [message["content"] for message in succeeded(found)["messages"] if message["sender_id"] == sender]


def write_config(path, sections):
    config = configparser.ConfigParser()
    config.read_dict(sections)
    with open(path, "w") as file:
        config.write(file)
    return path


def main():
    programs = sys.argv[1]
    steps = Steps()
    server = Server()
    running = []
    try:
        server.start(["--webhook-hosts", "127.0.0.1:*,localhost:*"])
        server.create_user(*OLGA[:2], role="owner", password=OLGA[2])
        login = zulip.Client(email=OLGA[0], api_key="x" * 32, site=server.url)
        key = succeeded(login.call_endpoint("fetch_api_key", "POST", {"username": OLGA[0], "password": OLGA[2]}))
        olga = zulip.Client(email=OLGA[0], api_key=key["api_key"], site=server.url)
        succeeded(olga.add_subscriptions([{"name": "general"}]))

        def create(name, **params):
            params = {"full_name": name.title(), "short_name": name, **params}
            bot = succeeded(olga.call_endpoint("bots", "POST", params))
            return {**bot, "email": succeeded(olga.get_user_by_id(bot["user_id"]))["user"]["email"]}

        def ask(bot, name):
            """A question to a bot in private and by mention; the answers."""
            private = succeeded(
                olga.send_message({"type": "private", "to": [bot["user_id"]], "content": "hello"})
            )["id"]
            public = succeeded(
                olga.send_message({"type": "stream", "to": "general", "topic": name, "content": f"@**{name}** hello"})
            )["id"]
            dm = [{"operator": "dm", "operand": [bot["user_id"]]}]
            topic = [{"operator": "channel", "operand": "general"}, {"operator": "topic", "operand": name}]
            return lambda: (
                replies(olga, dm, bot["user_id"], private) + replies(olga, topic, bot["user_id"], public)
            )

        with steps.step("zulip-run-bot answers in private and by mention"):
            bot = create("poller")
            config = write_config(
                os.path.join(server.folder.name, "zuliprc"),
                {"api": {"email": bot["email"], "key": bot["api_key"], "site": server.url}},
            )
            succeeded(olga.add_subscriptions([{"name": "general"}], principals=[bot["user_id"]]))
            program = Program(
                server, "run-bot", [os.path.join(programs, "zulip-run-bot"), "helloworld", "--config-file", config]
            )
            running.append(program)
            # It says that it starts before it has registered, and does not hear of what is sent before that.
            greeting = {"type": "stream", "to": "general", "topic": "start", "content": "@**Poller** hello"}
            topic = [{"operator": "channel", "operand": "general"}, {"operator": "topic", "operand": "start"}]

            def answers_greetings():
                succeeded(olga.send_message(greeting))
                return replies(olga, topic, bot["user_id"], 0)

            until("registration", program, answers_greetings)
            answers = ask(bot, "Poller")
            until("answers", program, lambda: len(answers()) == 2)
            if not all(GREETING in answer for answer in answers()):
                raise AssertionError(answers())

        with steps.step("zulip-botserver answers what the server posts to it"):
            bots = {
                name: create(name, bot_type=3, interface_type=1, payload_url="http://127.0.0.1:9/")
                for name in ("helloworld", "converter")
            }
            registered = succeeded(olga.register(fetch_event_types=["realm_bot"], event_types=[]))
            tokens = {bot["user_id"]: bot["services"] for bot in registered["realm_bots"]}
            config = write_config(
                os.path.join(server.folder.name, "botserverrc"),
                {
                    name: {
                        "email": bot["email"],
                        "key": bot["api_key"],
                        "site": server.url,
                        "token": tokens[bot["user_id"]][0]["token"],
                    }
                    for name, bot in bots.items()
                },
            )
            command = [os.path.join(programs, "zulip-botserver"), "--config-file", config]
            program, port = start_on_free_port(server, "botserver", [*command, "--hostname", "127.0.0.1", "--port"])
            running.append(program)
            for bot in bots.values():
                url = f"http://127.0.0.1:{port}/"
                succeeded(olga.call_endpoint(f"bots/{bot['user_id']}", "PATCH", {"service_payload_url": url}))
            for name, bot in bots.items():
                answers = ask(bot, name.title())
                until(f"answers of {name}", program, lambda: len(answers()) == 2)
                if any("Failure" in answer for answer in answers()):
                    raise AssertionError(answers())

        with steps.step("the owner is notified of a bot server that is gone"):
            running.pop().end()
            bot = bots["helloworld"]
            sent = succeeded(olga.send_message({"type": "private", "to": [bot["user_id"]], "content": "hello?"}))["id"]
            narrow = [{"operator": "sender", "operand": "notification-bot@zulip.com"}]

            def received():
                found = olga.get_messages(
                    {"anchor": sent, "num_before": 0, "num_after": 100, "narrow": narrow, "apply_markdown": False}
                )
                return [message["content"] for message in succeeded(found)["messages"]]

            # The last retry comes after more than a minute.
            end = time.monotonic() + 2 * STUCK_AFTER
            while not received() and time.monotonic() < end:
                time.sleep(1)
            if "triggered an outgoing webhook" not in "".join(received()):
                raise AssertionError(received())
    finally:
        for program in running:
            program.end()
        server.close()
    sys.exit(steps.exit_code())


main()
