#!/usr/bin/env python3
"""A year of a busy team, sent through the interface of the program with a moved clock: 12 people, 300 messages and 10 files a day.

    benches/year.py [--days 365] [--directory DIR]     TEAMCHAT_BIN names the program, target/dist/teamchat by default

Prints the size of the file, its growth, the time of a start, and time and size of a backup.
"""

import argparse
import base64
import http.client
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

PEOPLE, MESSAGES, FILES, CHANNELS, TOPICS = 12, 300, 10, 8, 40
WORDS = [f"{a}{b}" for a in "ka lo mi ne ru sta tre vor wen zu".split() for b in "n s ter ling ver do ma pi ro ta".split()]

# The program that is measured.
PROGRAM = os.environ.get("TEAMCHAT_BIN", str(pathlib.Path(__file__).resolve().parents[1] / "target/dist/teamchat"))

# Bytes of a file: many small ones, and few of some MiB.
MEDIAN_FILE, SPREAD, LARGEST_FILE = 100_000, 1.2, 10 << 20


class Connection:
    """A kept connection of one person."""

    def __init__(self, address, user):
        self.connection = http.client.HTTPConnection(address)
        credentials = base64.b64encode(f"{user['email']}:{user['api_key']}".encode()).decode()
        self.headers = {"Authorization": f"Basic {credentials}"}

    def post(self, path, body, content_type="application/x-www-form-urlencoded"):
        self.connection.request("POST", f"/api/v1{path}", body, {**self.headers, "Content-Type": content_type})
        answer = json.load(self.connection.getresponse())
        assert answer["result"] == "success", answer
        return answer

    def form(self, path, **parameters):
        texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in parameters.items()}
        return self.post(path, urllib.parse.urlencode(texts))

    def upload(self, chance):
        size = min(int(chance.lognormvariate(0, SPREAD) * MEDIAN_FILE), LARGEST_FILE)
        bound = "a-boundary"
        head = f'--{bound}\r\nContent-Disposition: form-data; name="file"; filename="file.bin"\r\n\r\n'
        body = head.encode() + chance.randbytes(size) + f"\r\n--{bound}--\r\n".encode()
        return self.post("/user_uploads", body, f"multipart/form-data; boundary={bound}")["url"]


def text(chance):
    return " ".join(chance.choices(WORDS, k=max(1, int(chance.lognormvariate(2.3, 0.8)))))


def start(program, db):
    command = [program, "serve", "--db", db, "--listen", "127.0.0.1:0", "--test-control", "127.0.0.1:0", "--json"]
    begun = time.monotonic()
    server = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    urls = json.loads(server.stdout.readline())
    return server, urls["url"].split("//")[1], urls["test_control_url"].split("//")[1], time.monotonic() - begun


def run(*command):
    begun = time.monotonic()
    out = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout
    return json.loads(out), time.monotonic() - begun


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--days", type=int, default=365)
    flags.add_argument("--directory")
    flags = flags.parse_args()
    if flags.directory:
        os.makedirs(flags.directory, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=flags.directory) as folder:
        simulate(PROGRAM, pathlib.Path(folder), flags.days)


def create_people(program, db, count):
    """Creates people in a new database, the first as its owner."""
    return [
        run(program, "user", "create", "--db", db, "--email", f"p{n}@example.com", "--full-name", f"Person {n}",
            "--role", "owner" if n == 0 else "member", "--json")[0]
        for n in range(count)
    ]


def simulate(program, folder, days):
    db = folder / "chat.sqlite"
    users = create_people(program, db, PEOPLE)
    server, address, control, _ = start(program, db)
    people = [Connection(address, user) for user in users]
    for person in people:
        person.form("/users/me/subscriptions", subscriptions=[{"name": f"channel {n}"} for n in range(CHANNELS)])
    failed = []

    def day(number, person):
        chance = random.Random(number * PEOPLE + person)
        try:
            for count in range(MESSAGES // PEOPLE):
                content = text(chance)
                # Spread over the people.
                if count == 0 and (number + person) % PEOPLE < FILES:
                    content += f" [file]({people[person].upload(chance)})"
                if chance.random() < 0.2:
                    to = users[chance.randrange(PEOPLE)]["user_id"]
                    people[person].form("/messages", type="direct", to=[to], content=content)
                else:
                    topic = f"topic {number // 7} {chance.randrange(TOPICS)}"
                    people[person].form("/messages", type="stream", to=f"channel {chance.randrange(CHANNELS)}",
                                        topic=topic, content=content)
            people[person].form("/mark_all_as_read")
        except Exception as error:  # noqa: BLE001 - reported below
            failed.append(error)

    begun = time.monotonic()
    for number in range(days):
        threads = [threading.Thread(target=day, args=(number, person)) for person in range(PEOPLE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            sys.exit(f"day {number}: {failed[0]!r}")
        clock = http.client.HTTPConnection(control)
        clock.request("PUT", "/clock", json.dumps({"advance": 24 * 60 * 60}), {"Content-Type": "application/json"})
        clock.getresponse().read()
    sent = time.monotonic() - begun
    backup, while_running = run(program, "backup", "--db", db, folder / "running.zst", "--json")
    server.terminate()
    server.wait()
    size = db.stat().st_size
    _, stopped = run(program, "backup", "--db", db, folder / "stopped.zst", "--json")
    check, checked = run(program, "check", "--db", db, "--json")
    assert check["sound"], check
    restored, restoring = run(program, "restore", "--db", folder / "new.sqlite", folder / "stopped.zst", "--json")
    server, _, _, starting = start(program, db)
    server.terminate()
    server.wait()
    mib = 1 << 20
    print(f"{days} days, {backup['messages']} messages, {backup['files']} files, sent in {sent:.0f} s")
    print(f"file {size / mib:.0f} MiB, {size / mib / days * 30:.0f} MiB a month; start {starting * 1000:.0f} ms")
    print(f"backup {backup['bytes'] / mib:.0f} MiB: {while_running:.1f} s beside a running server, {stopped:.1f} s alone; "
          f"check {checked:.1f} s; restore {restoring:.1f} s")


if __name__ == "__main__":
    main()
