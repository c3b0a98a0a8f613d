#!/usr/bin/env python3
"""A day of a team of 12 on a small machine: one slow core, 256 MiB, and a disk that takes 10 ms to write durably.

    benches/small.py [--minutes 5] [--directory DIR]     TEAMCHAT_BIN names the program, target/dist/teamchat by default

Needs root, for control groups, and strace, which delays fsync. The directory should be on a real disk. The day is that of clients:
messages, files, reading, typing, and a presence every minute of eight hours. Then the server starts again, without strace, which wakes
threads as well, and 100 polls wait for three minutes without any message. Prints times of answers, memory, wake-ups, and bytes written:
the rows of the table in README.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

from year import CHANNELS, FILES, MESSAGES, PEOPLE, PROGRAM, TOPICS, Connection, create_people, text

HOURS, POLLS = 8, 100
# Seconds: until the positions of new queues are saved, and of the measure: four times the interval at which heartbeats meet.
SETTLING, QUIET = 130, 190
GROUPS = pathlib.Path("/sys/fs/cgroup")


class Person(Connection):
    """A person whose requests are timed."""

    times: dict = {}

    def timed(self, name, method, path, **parameters):
        texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in parameters.items()}
        begun = time.monotonic()
        if method == "POST":
            answer = self.form(path, **texts)
        else:
            answer = self.get(path, **texts)
        self.times.setdefault(name, []).append((time.monotonic() - begun) * 1000)
        return answer

    def get(self, path, **parameters):
        self.connection.request("GET", f"/api/v1{path}?{urllib.parse.urlencode(parameters)}", headers=self.headers)
        answer = json.load(self.connection.getresponse())
        assert answer["result"] == "success", answer
        return answer


class Group:
    """A control group with this memory, in bytes, and this part of a processor. Both versions of control groups."""

    def __init__(self, memory, speed=None, name="small"):
        name = f"teamchat-{name}-{os.getpid()}"
        self.is_second = (GROUPS / "cgroup.controllers").exists()
        # -1 is no limit in the first version.
        quota = -1 if speed is None else int(speed * 100_000)
        if self.is_second:
            (GROUPS / "cgroup.subtree_control").write_text("+memory +cpu")
            self.folders = [GROUPS / name]
            settings = {"memory.max": memory, "memory.swap.max": 0, "cpu.max": f"{'max' if speed is None else quota} 100000"}
        else:
            self.folders = [GROUPS / "memory" / name, GROUPS / "cpu" / name]
            settings = {"memory.limit_in_bytes": memory, "cpu.cfs_quota_us": quota}
        for folder in self.folders:
            folder.mkdir()
            for file, value in settings.items():
                if (folder / file).exists():
                    (folder / file).write_text(str(value))

    def enter(self):
        """What a shell does to enter the group."""
        return "; ".join(f"echo $$ >{folder}/cgroup.procs" for folder in self.folders)

    def peak(self):
        """The most memory in bytes, with the cache of files."""
        name = "memory.peak" if self.is_second else "memory.max_usage_in_bytes"
        return int((self.folders[0] / name).read_text())

    def remove(self):
        for folder in self.folders:
            folder.rmdir()


class Process:
    """The server in a group, on one processor, with writes that are delayed by `delay` ms."""

    def __init__(self, program, db, group, delay):
        serve = [program, "serve", "--db", str(db), "--listen", "127.0.0.1:0", "--json"]
        inner = f"{group.enter()}; exec taskset -c 0 {' '.join(serve)}"
        trace = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync",
                 "-e", f"inject=fsync,fdatasync:delay_exit={int(delay * 1000)}"]
        command = [*(trace if delay else []), "sh", "-c", inner]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = json.loads(self.process.stdout.readline())["url"].split("//")[1]
        pids = (group.folders[0] / "cgroup.procs").read_text().split()
        [self.pid] = [int(pid) for pid in pids if self.name(pid) == "teamchat"]

    @staticmethod
    def name(pid):
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()

    def number(self, file, name):
        """A number of a file of the process, such as VmRSS."""
        found = re.search(rf"^{name}:\s+(\d+)", pathlib.Path(f"/proc/{self.pid}/{file}").read_text(), re.MULTILINE)
        return int(found[1])

    def wake_ups(self):
        """How often its threads stopped waiting."""
        tasks = os.listdir(f"/proc/{self.pid}/task")
        return sum(self.number(f"task/{task}/status", "voluntary_ctxt_switches") for task in tasks)

    def seconds(self):
        """Processor time."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        os.kill(self.pid, 15)
        self.process.wait(60)


def day(person, number, users, seconds):
    """What the clients of a person do in a day, in this many seconds."""
    chance = random.Random(number)
    own = MESSAGES // PEOPLE
    actions = ["send"] * own + ["typing"] * own + ["read"] * own * 2 + ["presence"] * HOURS * 60 + ["upload"] * (number < FILES)
    chance.shuffle(actions)
    begun = time.monotonic()
    for count, action in enumerate(actions):
        time.sleep(max(0, begun + seconds * count / len(actions) - time.monotonic()))
        channel, to = chance.randrange(CHANNELS), users[chance.randrange(PEOPLE)]["user_id"]
        if action == "send" and chance.random() < 0.2:
            person.timed("send", "POST", "/messages", type="direct", to=[to], content=text(chance))
        elif action == "send":
            person.timed("send", "POST", "/messages", type="stream", to=f"channel {channel}",
                         topic=f"topic {chance.randrange(TOPICS)}", content=text(chance))
        elif action == "typing":
            person.timed("typing", "POST", "/typing", op="start", to=[to])
        elif action == "read":
            narrow = [{"operator": "channel", "operand": f"channel {channel}"}]
            messages = person.timed("read", "GET", "/messages", anchor="newest", num_before=50, num_after=0, narrow=narrow)["messages"]
            newest = [message["id"] for message in messages[-10:]]
            if newest:
                person.timed("mark as read", "POST", "/messages/flags", op="add", flag="read", messages=newest)
        elif action == "presence":
            person.timed("presence", "POST", "/users/me/presence", status="active", ping_only="false", last_update_id="0")
        else:
            person.upload(chance)


def poll(person, is_over):
    """Waits for events until the end."""
    queue = person.form("/register", event_types=["message"])
    last = queue["last_event_id"]
    while not is_over.is_set():
        events = person.get("/events", queue_id=queue["queue_id"], last_event_id=last)["events"]
        last = max([last, *(event["id"] for event in events)])


def start_polls(address, users, count, is_over):
    polls = []
    for number in range(count):
        person = Person(address, users[number % PEOPLE])
        polls.append(threading.Thread(target=poll, args=(person, is_over), daemon=True))
        polls[-1].start()
    return polls


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--minutes", type=float, default=5, help="the length of the day")
    flags.add_argument("--memory", type=int, default=256, help="MiB")
    flags.add_argument("--speed", type=float, default=0.25, help="of one processor")
    flags.add_argument("--fsync", type=float, default=10, help="ms; 0 for those of the disk alone")
    flags.add_argument("--directory")
    flags = flags.parse_args()
    if os.getuid() != 0 or (flags.fsync and not shutil.which("strace")):
        sys.exit("benches/small.py needs root, and strace (on Debian: apt-get install strace)")
    if flags.directory:
        os.makedirs(flags.directory, exist_ok=True)
    group = Group(flags.memory << 20, flags.speed)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    try:
        with tempfile.TemporaryDirectory(dir=flags.directory) as folder:
            measure(PROGRAM, pathlib.Path(folder) / "chat.sqlite", group, flags)
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error}: {error.stderr}")
    finally:
        group.remove()


@contextlib.contextmanager
def serving(program, db, group, delay):
    """A server, and the event that ends its polls."""
    server, is_over = Process(program, db, group, delay), threading.Event()
    try:
        yield server, is_over
    finally:
        is_over.set()
        server.stop()


def measure(program, db, group, flags):
    users = create_people(program, db, PEOPLE)
    print(f"a day of {PEOPLE} people in {flags.minutes:g} min; {flags.speed:g} of a core, {flags.memory} MiB, fsync +{flags.fsync:g} ms")
    with serving(program, db, group, flags.fsync) as (server, is_over):
        measure_day(server, users, group, flags.minutes * 60, is_over)
    with serving(program, db, group, 0) as (server, is_over):
        measure_quiet(server, users, is_over)


def measure_day(server, users, group, seconds, is_over):
    people = [Person(server.address, user) for user in users]
    for person in people:
        person.form("/users/me/subscriptions", subscriptions=[{"name": f"channel {n}"} for n in range(CHANNELS)])
    polls = start_polls(server.address, users, PEOPLE, is_over)
    written, used = server.number("io", "write_bytes"), server.seconds()
    failed = []

    def live(number):
        try:
            day(people[number], number, users, seconds)
        except Exception as error:  # noqa: BLE001 - reported below
            failed.append(error)

    threads = [threading.Thread(target=live, args=(number,)) for number in range(PEOPLE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        sys.exit(f"a person failed: {failed[0]!r}")
    check_polls(polls)
    written, used = server.number("io", "write_bytes") - written, server.seconds() - used
    for name, times in sorted(Person.times.items()):
        cuts = statistics.quantiles(times, n=100)
        print(f"{name:14} {len(times):6} requests, median {cuts[49]:6.1f} ms, 99 % {cuts[98]:6.1f} ms")
    print(f"resident       {server.number('status', 'VmRSS') / 1024:.1f} MiB, at most {server.number('status', 'VmHWM') / 1024:.1f}; "
          f"with the cache of files at most {group.peak() / (1 << 20):.1f}")
    print(f"written        {written / (1 << 20):.1f} MiB in the day")
    print(f"processor      {used:.1f} s in the day")


def measure_quiet(server, users, is_over):
    polls = start_polls(server.address, users, POLLS, is_over)
    time.sleep(SETTLING)
    woken, written, used = server.wake_ups(), server.number("io", "write_bytes"), server.seconds()
    time.sleep(QUIET)
    woken, written, used = server.wake_ups() - woken, server.number("io", "write_bytes") - written, server.seconds() - used
    check_polls(polls)
    print(f"{POLLS} polls wait: {woken / QUIET:.2f} wake-ups a second (goal: below 2), {used / QUIET * 100:.2f} % of a core, "
          f"{server.number('status', 'VmRSS') / 1024:.1f} MiB resident, {written / (1 << 20) / QUIET * 3600:.2f} MiB written an hour")


def check_polls(polls):
    if ended := sum(not thread.is_alive() for thread in polls):
        sys.exit(f"{ended} polls have ended")


if __name__ == "__main__":
    main()
