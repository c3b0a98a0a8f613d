"""Upgrades the program while messages are sent: none that was acknowledged is lost, and a client's queue goes on.

    upgrade.py --db FILE --install COMMAND -- COMMAND...     the database of smoke.py, what installs the new version, the program
"""

import argparse
import json
import shlex
import subprocess
import threading
import time
from http.client import HTTPException

from smoke import EMAIL, PASSWORD, Program


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--db", required=True)
    parser.add_argument("--install", required=True)
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    program = Program(given.command, given.db)
    program.start()
    login = EMAIL, program.request("POST", "/fetch_api_key", username=EMAIL, password=PASSWORD)["api_key"]
    queue = program.request("POST", "/register", login, event_types='["message"]', apply_markdown="false")
    acknowledged, upgraded, enough = [], threading.Event(), threading.Event()

    def send():
        number = after = 0
        while after < 20:
            number += 1
            try:
                program.send(login, f"message {number}")
            except (OSError, HTTPException):
                # The server is away: the message may be there or not.
                time.sleep(0.05)
                continue
            acknowledged.append(f"message {number}")
            after += upgraded.is_set()
            if len(acknowledged) >= 20:
                enough.set()

    sender = threading.Thread(target=send)
    sender.start()
    assert enough.wait(120)
    subprocess.run(shlex.split(given.install), check=True, stdin=subprocess.DEVNULL)
    program.stop()
    program.start()
    upgraded.set()
    sender.join(120)
    contents = program.contents(login)
    lost = [content for content in acknowledged if contents.count(content) != 1]
    assert not lost, f"lost or doubled: {lost}"
    received, last = [], queue["last_event_id"]
    while len(received) < len(acknowledged):
        events = program.request("GET", "/events", login, queue_id=queue["queue_id"], last_event_id=last, dont_block="true")["events"]
        assert events, "events are missing"
        received += [event["message"]["content"] for event in events if event["type"] == "message"]
        last = max(event["id"] for event in events)
    missing = [content for content in acknowledged if received.count(content) != 1]
    assert not missing, f"not received: {missing}"
    program.stop()
    print(json.dumps({"acknowledged": len(acknowledged)}))


if __name__ == "__main__":
    main()
