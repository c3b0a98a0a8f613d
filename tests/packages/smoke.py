"""One way through the program, over HTTP: sign-up, send, poll, restart, backup.

    smoke.py [--db FILE] [--seen-as FILE] [--config FILE] -- COMMAND...     COMMAND runs the program, for example under an emulator

FILE is the database as the program names it, `--seen-as` the same file as this script sees it, if they differ. With `--config`
`serve` takes the database from this file.
"""

import argparse
import atexit
import json
import re
import signal
import ssl
import subprocess
import tempfile
import threading
import urllib.error
import urllib.parse
import urllib.request
from base64 import b64encode
from pathlib import Path

EMAIL, PASSWORD = "owner@example.com", "correct horse battery"


def opener(authority=None):
    """Opens URLs without proxies of the environment, with cookies; `authority` is the file of a certificate to trust."""
    tls = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=authority))
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(), tls)


OPENER = opener()


class Program:
    """The program on one database."""

    def __init__(self, command, db, config=None, folder=None):
        self.command, self.config, self.folder = command, config, folder
        self.on_file = ["--db", db]
        self.process = self.origin = self.link = None

    def start(self, *arguments):
        """Starts the server, and waits until it has printed where it listens."""
        place = ["--config", self.config] if self.config else self.on_file
        command = [*self.command, "serve", *place, "--listen", "127.0.0.1:0", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=self.folder)
        atexit.register(self.process.kill)
        origin = self.link = None
        printed = ""
        for line in self.process.stdout:
            printed += line
            if found := re.search(r"listening +(http://\S+)", line):
                origin = found[1]
            if found := re.search(r"^ +(https?://\S+/join/\w+/)", line):
                self.link = found[1]
            # What follows the name of the file is the link, or nothing.
            if self.link or ("  database " in line and "(created)" not in line):
                break
        assert origin, f"the server did not start: {printed}"
        self.origin = origin
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def stop(self):
        """Stops the server cleanly."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, "the server did not stop cleanly"

    def run(self, *arguments):
        """Runs a command, and returns what it prints."""
        done = subprocess.run([*self.command, *arguments], stdout=subprocess.PIPE, text=True, check=True, cwd=self.folder)
        return done.stdout

    def request(self, method, path, login=None, **parameters):
        """Sends a request, and returns the answer."""
        data = urllib.parse.urlencode(parameters)
        url = f"{self.origin}/api/v1{path}" + (f"?{data}" if method == "GET" else "")
        request = urllib.request.Request(url, data=None if method == "GET" else data.encode(), method=method)
        if login:
            request.add_header("Authorization", "Basic " + b64encode(":".join(login).encode()).decode())
        with OPENER.open(request, timeout=120) as response:
            return json.load(response)

    def sign_up(self):
        """Creates the owner by the page of the link, and returns the login with an API key."""
        return self.join(self.link, EMAIL, "Owner", organization="Packages")

    def join(self, link, email, name, **others):
        """Creates an account by the page of a link, and returns the login with an API key."""
        with OPENER.open(link) as response:
            page = response.read().decode()
        fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
        fields |= {"full_name": name, "email": email, "password": PASSWORD, **others}
        with OPENER.open(urllib.request.Request(link, data=urllib.parse.urlencode(fields).encode())) as response:
            assert response.status == 200, response.read()
        return email, self.request("POST", "/fetch_api_key", username=email, password=PASSWORD)["api_key"]

    def send(self, login, content):
        """Sends a message to the channel `general`."""
        return self.request("POST", "/messages", login, type="channel", to="general", topic="packages", content=content)["id"]

    def contents(self, login):
        """The newest messages of the topic."""
        narrow = json.dumps([{"operator": "channel", "operand": "general"}, {"operator": "topic", "operand": "packages"}])
        query = {"anchor": "newest", "num_before": 1000, "num_after": 0, "narrow": narrow, "apply_markdown": "false"}
        return [message["content"] for message in self.request("GET", "/messages", login, **query)["messages"]]


def poll(program, login, queue, last):
    """Polls in a thread; `result` of the thread has the events that are no heartbeats."""

    def run():
        nonlocal last
        while True:
            answer = program.request("GET", "/events", login, queue_id=queue, last_event_id=last)
            last = max([last, *(event["id"] for event in answer["events"])])
            thread.result = [event for event in answer["events"] if event["type"] != "heartbeat"]
            if thread.result:
                return

    thread = threading.Thread(target=run)
    thread.result = []
    thread.start()
    return thread


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--db", default="chat.sqlite")
    parser.add_argument("--seen-as", type=Path)
    parser.add_argument("--config")
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Program(given.command, given.db, given.config, folder)
        print("version:", program.run("--version").strip())
        program.start()
        login = program.sign_up()
        subscriptions = json.dumps([{"name": "general"}])
        program.request("POST", "/users/me/subscriptions", login, subscriptions=subscriptions)
        queue = program.request("POST", "/register", login, event_types='["message"]', apply_markdown="false")
        poller = poll(program, login, queue["queue_id"], queue["last_event_id"])
        program.send(login, "before the restart")
        poller.join(120)
        seen = poller.result[0]
        assert seen["message"]["content"] == "before the restart", seen
        print("sign-up, send and poll: ok")
        program.stop()
        program.start()
        program.send(login, "after the restart")
        poller = poll(program, login, queue["queue_id"], seen["id"])
        poller.join(120)
        assert poller.result[0]["message"]["content"] == "after the restart", poller.result
        assert program.contents(login) == ["before the restart", "after the restart"]
        print("restart, with the same queue: ok")
        program.run("health", "--url", program.origin)
        if "backup" in program.run("--help"):
            backup, restored = f"{given.db}.backup", f"{given.db}.restored"
            program.run("backup", *program.on_file, backup)
            program.run("restore", "--db", restored, backup)
            program.run("check", "--db", restored)
            seen_as = Path(given.seen_as or Path(folder) / given.db)
            assert seen_as.with_name(f"{seen_as.name}.restored").stat().st_size > 0
            for made in [*seen_as.parent.glob("*.restored*"), *seen_as.parent.glob("*.backup")]:
                made.unlink()
            print("backup, restore, check: ok")
        program.stop()


if __name__ == "__main__":
    main()
