#!/usr/bin/env python3
"""Sends beside a backup: the time of sends in a file of a million messages, alone and while a backup is made.

    benches/backup.py [--messages 1000000] [--turns 3] [--directory DIR]

TEAMCHAT_BIN names the program, target/dist/teamchat by default.

In each turn four people send for as long as a backup takes, once beside it and once alone. Prints the 99th percentiles
and their ratio. The goal is at most 2.
"""

import argparse
import json
import pathlib
import sqlite3
import statistics
import subprocess
import tempfile
import threading
import time

from year import PROGRAM, Connection, create_people

SENDERS = 4
COPY = """
    WITH RECURSIVE copy (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM copy WHERE number < ?1)
    INSERT INTO message (recipient_id, topic_id, subject, sender_id, client_id, timestamp, content, html,
        rendered_version, attributes)
    SELECT recipient_id, topic_id, subject, sender_id, client_id, timestamp, content, html, rendered_version,
        attributes FROM message CROSS JOIN copy WHERE id = ?2"""


def serve(program, db):
    command = [program, "serve", "--db", db, "--listen", "127.0.0.1:0", "--json"]
    server = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return server, json.loads(server.stdout.readline())["url"].split("//")[1]


def send_until(people, is_over):
    """Milliseconds of each send."""
    times = []

    def send(person):
        while not is_over():
            begun = time.monotonic()
            person.form("/messages", type="stream", to="general", topic="a topic", content="a few words of a message")
            times.append((time.monotonic() - begun) * 1000)

    threads = [threading.Thread(target=send, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


def percentile(times):
    return statistics.quantiles(times, n=100)[98]


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--messages", type=int, default=1_000_000)
    flags.add_argument("--turns", type=int, default=3)
    flags.add_argument("--directory")
    flags = flags.parse_args()
    with tempfile.TemporaryDirectory(dir=flags.directory) as folder:
        measure(PROGRAM, pathlib.Path(folder), flags)


def measure(program, folder, flags):
    db = folder / "chat.sqlite"
    users = create_people(program, db, SENDERS)
    server, address = serve(program, db)
    people = [Connection(address, user) for user in users]
    for person in people:
        person.form("/users/me/subscriptions", subscriptions=[{"name": "general"}])
    first = people[0].form("/messages", type="stream", to="general", topic="a topic", content="word " * 40)["id"]
    server.terminate()
    server.wait()
    with sqlite3.connect(db) as connection:
        connection.execute(COPY, (flags.messages, first))
    connection.close()

    server, address = serve(program, db)
    people = [Connection(address, user) for user in users]
    ratios = []
    for turn in range(flags.turns):
        command = [program, "backup", "--db", db, folder / f"{turn}.zst", "--json"]
        begun = time.monotonic()
        backup = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE)
        beside = percentile(send_until(people, lambda: backup.poll() is not None))
        assert backup.returncode == 0
        seconds = time.monotonic() - begun
        (folder / f"{turn}.zst").unlink()
        end = time.monotonic() + min(seconds, 60)
        alone = percentile(send_until(people, lambda: time.monotonic() > end))
        ratios.append(beside / alone)
        print(f"p99 {alone:.0f} ms alone, {beside:.0f} ms beside a backup of {seconds:.0f} s: {ratios[-1]:.1f} times", flush=True)
    server.terminate()
    server.wait()
    print(f"the median of {flags.turns} turns: {statistics.median(ratios):.1f} times (goal: at most 2)")


if __name__ == "__main__":
    main()
