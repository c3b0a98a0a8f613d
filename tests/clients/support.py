"""Shared by the client tests: a server of their own, and steps that are printed as one line each."""

import contextlib
import json
import os
import re
import subprocess
import tempfile
import threading
import time
import traceback

BINARY = os.environ["TEAMCHAT_BIN"]

# How long something may take before we call it stuck. Not a limit on speed: nothing here comes near it.
STUCK_AFTER = 300


class Steps:
    """Counts steps, and prints a line for each. `run` adds up the lines that start with `ok` and `FAILED`."""

    def __init__(self):
        self.failed = 0

    @contextlib.contextmanager
    def step(self, text):
        try:
            yield
        except Exception as error:  # Whatever it is, the step failed, and the next ones may still tell something.
            self.failed += 1
            frames = traceback.extract_tb(error.__traceback__)
            place = next(frame for frame in frames if frame.filename != __file__)
            print(f"FAILED  {text}", flush=True)
            print(f"        line {place.lineno}: {type(error).__name__}: {error}", flush=True)
        else:
            print(f"ok      {text}", flush=True)

    def exit_code(self):
        return 1 if self.failed else 0


def expect(actual, expected):
    """Compares JSON values, and reports the first difference."""
    difference = first_difference(actual, expected, "")
    if difference:
        raise AssertionError(difference)


def first_difference(actual, expected, path):
    if isinstance(actual, dict) and isinstance(expected, dict):
        for key in sorted(set(actual) | set(expected)):
            if key not in actual:
                return f"{path}/{key} is missing, expected {expected[key]!r}"
            if key not in expected:
                return f"{path}/{key} is not expected: {actual[key]!r}"
            difference = first_difference(actual[key], expected[key], f"{path}/{key}")
            if difference:
                return difference
        return None
    if isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        for index, pair in enumerate(zip(actual, expected)):
            difference = first_difference(*pair, f"{path}/{index}")
            if difference:
                return difference
        return None
    return None if actual == expected else f"{path or '/'} is {actual!r}, expected {expected!r}"


class Server:
    """A `teamchat serve` process on an empty file in a folder of its own."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="teamchat-clients-")
        self.database = os.path.join(self.folder.name, "chat.sqlite")
        self.address = "127.0.0.1:0"
        self.log = os.path.join(self.folder.name, "server.log")
        self.process = None

    @property
    def url(self):
        return f"http://{self.address}"

    def start(self, options=()):
        """Starts it, the first time on a port that it picks, later on the same one, which another program may have until
        then. Ready when this returns."""
        stuck = time.monotonic() + STUCK_AFTER
        while True:
            try:
                return self.launch(options)
            except AssertionError:
                if self.address.endswith(":0") or time.monotonic() > stuck:
                    raise
                time.sleep(0.1)

    def launch(self, options):
        self.end()  # A failed step may have left one.
        with open(self.log, "a") as log:
            command = [BINARY, "serve", "--db", self.database, "--listen", self.address, *options]
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self.address = re.search(r"http://(\S+)", self.says("listening")).group(1)

    def says(self, text):
        """The next line of its greeting that has a text in it."""
        stuck = threading.Timer(STUCK_AFTER, self.process.kill)
        stuck.start()
        try:
            for line in self.process.stdout:
                if text in line:
                    return line
        finally:
            stuck.cancel()
        raise AssertionError(f"it did not say {text!r} and ended with code {self.process.wait()}: {self.last_words()}")

    def last_words(self):
        with open(self.log) as log:
            return log.read()[-2000:].strip()

    def terminate(self):
        """SIGTERM. It has to end by itself and be content."""
        self.process.terminate()
        self.process.communicate(timeout=STUCK_AFTER)
        if self.process.returncode != 0:
            raise AssertionError(f"the server ended with code {self.process.returncode}: {self.last_words()}")

    def kill(self):
        """SIGKILL: no last words, nothing saved that was not saved already."""
        self.process.kill()
        self.process.communicate(timeout=STUCK_AFTER)

    def end(self):
        if self.process and self.process.poll() is None:
            self.kill()

    def close(self):
        self.end()
        self.folder.cleanup()

    def create_user(self, email, full_name, role="member", password=None, bot_owner=None):
        """`teamchat user create`; what it printed."""
        command = [BINARY, "user", "create", "--db", self.database, "--json"]
        command += ["--email", email, "--full-name", full_name, "--role", role]
        command += ["--bot-owner", bot_owner] if bot_owner else []
        command += ["--password-stdin"] if password else []
        done = subprocess.run(
            command, input=f"{password}\n" if password else "", capture_output=True, text=True, timeout=STUCK_AFTER
        )
        if done.returncode != 0:
            raise AssertionError(f"user create: {done.stderr.strip()}")
        return json.loads(done.stdout)
