"""A participant that uses the PyPI package `zulip`, driven by lines of JSON on the standard input.

Each line is [method, arguments...] of `zulip.Client`, and is answered by a line {"result": ...}. Messages that arrive are
written as lines {"message": ...}.
"""

import json
import sys
import tempfile
import threading

import zulip

email, api_key, site = sys.argv[1:]
client = zulip.Client(email=email, api_key=api_key, site=site, client="participant")
write_lock = threading.Lock()


def write(**line):
    with write_lock:
        print(json.dumps(line), flush=True)


def upload(name, text):
    """Uploads a file with this text."""
    with tempfile.NamedTemporaryFile("w+b", suffix=name) as file:
        file.write(text.encode())
        file.seek(0)
        return client.upload_file(file)


def listen():
    queue = client.register(event_types=["message"])
    write(result=queue["queue_id"])
    last = queue["last_event_id"]
    while True:
        reply = client.get_events(queue_id=queue["queue_id"], last_event_id=last)
        for event in reply.get("events", []):
            last = max(last, event["id"])
            if event["type"] == "message":
                write(message=event["message"])


threading.Thread(target=listen, daemon=True).start()
for line in sys.stdin:
    method, *arguments = json.loads(line)
    call = upload if method == "upload" else getattr(client, method)
    write(result=call(*arguments))
