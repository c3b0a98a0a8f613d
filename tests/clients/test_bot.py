"""A bot of the `zulip` package and what it has to survive."""

import codecs
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import warnings

import pytest
import zulip

import teamchat_testing
from teamchat_testing import ControlError, Server

BOT = "default-bot@zulip.com"
HAMLET = "hamlet@zulip.com"


class EchoBot:
    """Answers each message with "echo" in it with the same text."""

    def __init__(self, server):
        user = server.user(BOT)
        self.client = zulip.Client(site=server.url, email=user.email, api_key=user.api_key, client="EchoBot/1.0")
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        self.client.call_on_each_event(self.handle, event_types=["message"])

    def handle(self, event):
        message = event.get("message", {})
        if message.get("sender_email") == BOT or "echo" not in message.get("content", ""):
            return
        answer = {"type": "stream", "to": message["display_recipient"], "topic": message["subject"], "content": message["content"]}
        while self.client.send_message(answer).get("code") == "RATE_LIMIT_HIT":
            time.sleep(0.01)


@pytest.fixture
def server():
    """A server with a bot that waits for events. The bot cannot be stopped, so the next test has a server of its own."""
    with Server() as server:
        EchoBot(server)
        server.requests(path="/events", user=BOT, pending=True, wait=1, timeout=60)
        yield server


def say(server, content):
    return server.act(HAMLET, channel="Verona", topic="t", content=content)["id"]


def sent(server, count):
    """Waits until the bot has asked so often to send; the contents and statuses."""
    requests = server.requests(path="/messages", user=BOT, wait=count, timeout=60)
    return [(request["form"]["content"], request["status"]) for request in requests]


def test_the_bot_answers_and_waits_when_it_is_told_to(server):
    server.fault(path="/messages", user=BOT, status=429, headers={"Retry-After": "0.01"}, times=2)
    say(server, "echo one")
    assert sent(server, 3) == [("echo one", 429), ("echo one", 429), ("echo one", 200)]


def test_the_bot_survives_a_lost_queue(server):
    server.clear_requests()
    assert server.expire_queues(BOT) == 1
    server.requests(path="/events", user=BOT, pending=True, wait=1, timeout=60)
    say(server, "echo two")
    assert sent(server, 1) == [("echo two", 200)]


def test_the_bot_survives_a_cut_connection(server):
    server.fault(path="/events", drop="half")
    say(server, "echo three")
    assert sent(server, 1) == [("echo three", 200)]


def test_the_bot_survives_a_restart_with_its_queue(server):
    server.clear_requests()
    server.restart(abrupt=True, down=0.2)
    say(server, "echo four")
    assert sent(server, 1) == [("echo four", 200)]
    assert server.requests(path="/register", user=BOT) == []


def test_the_clock_is_set(teamchat_server):
    assert teamchat_server.set_clock("2027-01-01T00:00:00Z", frozen=True)["timestamp"] == 1798761600
    user = teamchat_server.user(HAMLET)
    client = zulip.Client(site=teamchat_server.url, email=user.email, api_key=user.api_key)
    message = {"type": "stream", "to": "Verona", "topic": "t", "content": "now"}
    message_id = client.send_message(message)["id"]
    assert client.get_raw_message(message_id)["message"]["timestamp"] == 1798761600


def test_a_program_of_another_version_is_noticed(monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Server().start().stop()
    monkeypatch.setattr("teamchat_testing._package_version", lambda: "0.0.1")
    with pytest.warns(UserWarning, match="^teamchat-testing 0.0.1 runs .*, which is teamchat [0-9.]+: use those of the same release$"):
        Server().start().stop()


def test_errors_say_what_is_wrong(teamchat_server):
    with pytest.raises(ControlError, match="a fault needs one of"):
        teamchat_server.fault(path="/messages")
    teamchat_server.fault(path="/mesages", status=500)
    assert [fault["fired"] for fault in teamchat_server.faults()] == [0]
    with pytest.raises(ControlError, match="at \"nobody@example.com\": no entry of \"users\" has the email 'nobody@example.com'"):
        with Server({"channels": [{"name": "a", "subscribers": ["nobody@example.com"]}]}):
            pass


def test_what_is_wrong_is_said_in_the_words_of_who_wrote_it(tmp_path):
    wrong = {"users": [{"email": "ada@example.com", "fullname": "Ada", "role": "owner"}]}
    with pytest.raises(ControlError, match='^the server did not start: error: the fixtures, at "fullname": "Ada": unknown'):
        Server(wrong).start()
    file = tmp_path / "people.json"
    file.write_text('{"users":\n [{"fullname": "Ada"}]}')
    with pytest.raises(ControlError, match=f"^the server did not start: error: {file}: line 2: unknown field"):
        Server(file).start()
    with pytest.raises(ControlError, match="absent.json"):
        Server(tmp_path / "absent.json").start()
    with Server({"users": [{"email": "ada@example.com", "full_name": "Ada", "role": "owner"}]}) as server:
        with pytest.raises(ControlError, match="no user has the email 'typo@example.com'"):
            server.user("typo@example.com")


def is_running(url):
    try:
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{url}/api/v1/server_settings")
    except urllib.error.URLError:
        return False
    return True


def test_a_server_that_is_forgotten_ends_with_the_program():
    script = "import teamchat_testing; print(teamchat_testing.Server({'users': []}).start().url)"
    url = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    assert url.startswith("http://") and not is_running(url)


def test_a_server_that_has_ended_is_named():
    server = Server({"users": []}).start()
    server._process.kill()
    server._process.wait()
    with pytest.raises(ControlError, match="^the server does not answer: .*; the program ended with code -9$"):
        server.reset()
    server.stop()


def test_a_server_is_stopped_if_its_start_fails(monkeypatch):
    monkeypatch.setattr("teamchat_testing._package_version", lambda: "0.0.1")
    server = Server({"users": []})
    with warnings.catch_warnings(), pytest.raises(UserWarning):
        warnings.simplefilter("error")
        server.start()
    assert server.url.startswith("http://") and not is_running(server.url)


@pytest.mark.parametrize("mark, encoding", [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le")])
def test_a_file_may_begin_with_a_byte_order_mark(tmp_path, mark, encoding):
    file = tmp_path / "people.json"
    text = '{"users": [{"email": "zoe@example.com", "full_name": "Zo\u00eb", "role": "owner"}]}'
    file.write_bytes(mark + text.encode(encoding))
    with Server(file) as server:
        assert server.user("zoe@example.com").full_name == "Zo\u00eb"


def test_errors_are_read_in_every_locale():
    script = "import teamchat_testing; teamchat_testing.Server({'users': [{'email': 'zo\\xeb', 'full_name': 'Z'}]}).start()"
    environment = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    environment["TEAMCHAT_BINARY"] = teamchat_testing.find_binary()
    failed = subprocess.run([sys.executable, "-c", script], stderr=subprocess.PIPE, env=environment)
    assert b"""the fixtures, at "email": "zo\\xeb": 'zo\\xeb' is not""" in failed.stderr
