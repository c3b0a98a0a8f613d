#!/usr/bin/env python3
"""Attacks on a server with 512 MiB: does it survive them, and how long does an honest request take meanwhile?

    benches/attacks.py [--binary FILE] [--seconds 8] [--json] [--verbose] [NAME ...]     names choose the attacks that contain them
    benches/attacks.py --list

For each attack, a new server on a copy of one organization runs in a control group of its own. An honest client measures
`GET /api/v1/users/me` on a kept connection, first alone and then beside the attack. benches/README.md describes the figures.
The exit status is 1 if a server died, did not answer afterwards, or an attack had no effect, and 2 if nothing could be measured.
"""

import argparse
import contextlib
import dataclasses
import json
import multiprocessing
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from hostile import accounts, bodies, controls, http2, messages, outgoing, strangers, tls  # noqa: F401 - their attacks
from hostile.attack import ATTACKS, MAX_PROCESSES, Attackers, raise_descriptors
from hostile.client import Client, authorization, encoded, head
from hostile.organization import World, fill
from small import GROUPS, Group
from year import PROGRAM

GOAL = 3
MIB = 1 << 20

# Seconds between two requests of the honest client, and between two sends.
PACE, SEND_PACE = 0.004, 0.05

# Of the honest client before the first measurement, and of the server after the attack.
WARM, REST = 0.5, 1.0

# Seconds in which the server has to answer a new connection afterwards.
ANSWER = 10

# The honest client comes first: its waiting for a processor is not the server's.
HONEST_NICENESS = -10


class Server:
    """A server on a database, in a group if there is one."""

    def __init__(self, program, db, group, flags):
        serve = [str(program), "serve", "--db", str(db), "--listen", "127.0.0.1:0", "--json", *flags]
        enter = f"{group.enter()}; " if group else ""
        command = ["sh", "-c", f'{enter}exec "$@"', "sh", *serve]
        self.log = open(f"{db}.log", "w")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server did not start: {pathlib.Path(self.log.name).read_text()[-2000:]}")
        host, port = json.loads(line)["url"].split("//")[1].split(":")
        self.address = ("127.0.0.1" if host == "localhost" else host, int(port))

    def has_died(self):
        """True if it has ended, or is ending: a process without memory."""
        return self.process.poll() is not None or not self.memory("VmRSS")

    def memory(self, name):
        """Resident memory in MiB: `VmRSS` now, `VmHWM` at most."""
        with contextlib.suppress(OSError):
            for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
                if line.startswith(f"{name}:"):
                    return int(line.split()[1]) / 1024
        return 0

    def seconds(self):
        """Processor time."""
        with contextlib.suppress(OSError):
            fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return 0

    def stop(self):
        if not self.has_died():
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()


def honest(world, pipe, pace, request):
    """The process of an honest client: answers each number of seconds with the milliseconds of its requests in them."""
    with contextlib.suppress(PermissionError):
        os.nice(HONEST_NICENESS)
    # As many people as there are, in turn: none of them sends more than a limit of requests allows.
    requests = [request(person) for person in world.people]
    client, count = Client(world), 0
    while seconds := pipe.recv():
        times, failed = [], 0
        now = time.monotonic()
        end = now + seconds
        while now < end:
            count += 1
            begun = time.perf_counter()
            try:
                connection = client.open()
                connection.settimeout(ANSWER)
                connection.sendall(requests[count % len(requests)])
                failed += client.read().status != 200
            except (OSError, ValueError):
                client.close()
                failed += 1
            times.append((time.perf_counter() - begun) * 1000)
            time.sleep(max(0, now + pace - time.monotonic()))
            now = time.monotonic()
        pipe.send((times, failed))


def read_request(person):
    return head("GET", "/api/v1/users/me", authorization(person))


def send_request(person):
    body = encoded({"type": "stream", "to": "general", "topic": "honest", "content": "a few words of a message"})
    headers = {**authorization(person), "Content-Type": "application/x-www-form-urlencoded"}
    return head("POST", "/api/v1/messages", headers, len(body)) + body


class Honest:
    """The honest clients: one reads, one sends."""

    def __init__(self, world):
        self.processes = []
        for pace, request in ((PACE, read_request), (SEND_PACE, send_request)):
            ours, theirs = multiprocessing.Pipe()
            process = multiprocessing.Process(target=honest, args=(world, theirs, pace, request), daemon=True)
            process.start()
            self.processes.append((process, ours))

    def begin(self, seconds):
        for _, pipe in self.processes:
            pipe.send(seconds)

    def end(self):
        """Figures of reads and of sends."""
        return [Times.of(*pipe.recv()) for _, pipe in self.processes]

    def stop(self):
        for process, pipe in self.processes:
            with contextlib.suppress(OSError):
                pipe.send(0)
            process.join(2)
            if process.is_alive():
                process.kill()


@dataclasses.dataclass
class Times:
    """Milliseconds."""

    p50: float
    p99: float
    most: float
    number: int
    failed: int

    @staticmethod
    def of(times, failed):
        cuts = statistics.quantiles(times, n=100, method="inclusive") if len(times) > 1 else times * 99
        return Times(cuts[49], cuts[98], max(times), len(times), failed)


class Bench:
    """The filled organization, and the measurement of attacks on copies of it."""

    def __init__(self, flags, folder):
        self.flags, self.folder = flags, folder
        self.program = pathlib.Path(flags.binary).resolve()
        tls.certificate(folder)
        self.world = World(folder=folder, program=str(self.program), db=folder / "organization.sqlite")
        self.begun = time.monotonic()
        if not self.was_kept(pathlib.Path(flags.directory or folder)):
            self.fill()
        self.seconds = time.monotonic() - self.begun

    def was_kept(self, kept):
        """Takes the organization of an earlier run, if this program filled one in the directory."""
        program = self.program.stat()
        self.kept = kept / f"organization-{program.st_size}-{program.st_mtime_ns}.json"
        if self.kept.exists():
            members = json.loads(self.kept.read_text())
            self.world = dataclasses.replace(self.world, **{**members, "db": self.kept.with_suffix(".sqlite")})
            return True
        self.world.db = self.kept.with_suffix(".sqlite")
        for old in kept.glob("organization-*"):
            old.unlink()
        return False

    def fill(self):
        server = Server(self.program, self.world.db, None, ["--rate-limit", "off"])
        self.world.address = server.address
        try:
            fill(self.world)
        finally:
            server.stop()
        left_out = {"address", "has_tls", "folder", "program", "db"}
        members = {name: value for name, value in dataclasses.asdict(self.world).items() if name not in left_out}
        self.kept.write_text(json.dumps(members))

    def serve_flags(self, attack):
        limit = self.flags.rate_limit
        is_limited = attack.is_limited if limit == "each" else limit == "on"
        files = [f"--tls-cert={self.folder}/server.pem", f"--tls-key={self.folder}/server.key"] if attack.has_tls else []
        more = [flag.replace("{folder}", str(self.folder)) for flag in attack.flags]
        return ["--rate-limit", "on" if is_limited else "off", *files, *more]

    def measure(self, attack):
        db = self.folder / "attacked.sqlite"
        for old in self.folder.glob("attacked.sqlite*"):
            old.unlink()
        shutil.copyfile(self.world.db, db)
        group = None if self.flags.no_limit else Group(self.flags.memory * MIB, name="attacks")
        server = clients = None
        try:
            server = Server(self.program, db, group, self.serve_flags(attack))
            world = dataclasses.replace(self.world, address=server.address, has_tls=attack.has_tls, db=db)
            data = attack.prepare(world) if attack.prepare else None
            clients = Honest(world)
            return self.beside(attack, world, data, server, clients, group)
        finally:
            if clients:
                clients.stop()
            if server:
                server.stop()
            if group:
                remove(group)

    def beside(self, attack, world, data, server, clients, group):
        seconds = self.flags.seconds
        clients.begin(WARM)
        clients.end()
        clients.begin(seconds)
        alone, alone_sends = clients.end()
        before, used = server.memory("VmRSS"), server.seconds()
        attackers = Attackers(attack, world, data, seconds, self.flags.niceness, self.flags.processes)
        clients.begin(seconds)
        beside, beside_sends = clients.end()
        used = server.seconds() - used
        counts = attackers.stop()
        answered = answers(world)
        time.sleep(REST)
        if data and isinstance(data, dict) and "receiver" in data:
            counts["received"] = data["receiver"].requests
        return {
            "attack": attack.name,
            "requests": sum(number for outcome, number in counts.items() if is_request(outcome)),
            "outcomes": dict(sorted(counts.items())),
            "has_effect": any(counts[outcome] for outcome in attack.proof) and not counts["fault"],
            "p99_ratio": beside.p99 / alone.p99,
            "p50_ratio": beside.p50 / alone.p50,
            "send_p99_ratio": beside_sends.p99 / alone_sends.p99,
            "alone": dataclasses.asdict(alone),
            "beside": dataclasses.asdict(beside),
            "sends_alone": dataclasses.asdict(alone_sends),
            "sends_beside": dataclasses.asdict(beside_sends),
            "processors": used / seconds,
            "mib_before": before,
            "mib_peak": server.memory("VmHWM"),
            "mib_after": server.memory("VmRSS"),
            "mib_group_peak": group.peak() / MIB if group else None,
            "answer_ms": answered,
            "survived": answered is not None and not server.has_died(),
            "died": server.has_died(),
        }


def is_request(outcome):
    return outcome.isdigit() or outcome in ("aborted", "asked", "begun", "connected", "frames", "handshakes", "opened", "sent", "streams")


def answers(world):
    """Milliseconds of a request on a new connection; None without an answer."""
    begun = time.monotonic()
    client = Client(world, world.people[0])
    while time.monotonic() - begun < ANSWER:
        try:
            client.open().settimeout(ANSWER)
            if client.get("/users/me").status == 200:
                client.close()
                return (time.monotonic() - begun) * 1000
        except (OSError, ValueError):
            client.close()
        time.sleep(0.05)
    return None


def remove(group):
    """Removes a group once its processes are gone."""
    for _ in range(100):
        try:
            return group.remove()
        except (OSError, FileNotFoundError):
            time.sleep(0.05)


def has_memory_groups():
    """True if this process can limit memory."""
    has_controller = (GROUPS / "memory/memory.limit_in_bytes").exists()
    if (GROUPS / "cgroup.controllers").exists():
        has_controller = "memory" in (GROUPS / "cgroup.controllers").read_text().split()
    if os.getuid() != 0 or not has_controller:
        return False
    try:
        remove(Group(512 * MIB, name="trial"))
    except OSError:
        return False
    return True


COLUMNS = "{:44} {:>9} {:>6} {:>6} {:>7} {:>7} {:>6} {:>5} {:>5} {:>5} {:>5} {:>5}  {}"


HEADINGS = "attack", "requests", "p99 x", "p50 x", "alone", "beside", "send x", "cpus", "MiB", "peak", "after", "group"


def line(found):
    state = "answers" if found["survived"] else "DIED" if found["died"] else "SILENT"
    if not found["has_effect"]:
        state += ", NO EFFECT"
    if failed := found["beside"]["failed"] + found["sends_beside"]["failed"]:
        state += f", {failed} honest requests failed"
    group = found["mib_group_peak"]
    return COLUMNS.format(
        found["attack"], found["requests"], f"{found['p99_ratio']:.1f}", f"{found['p50_ratio']:.1f}", f"{found['alone']['p99']:.2f}",
        f"{found['beside']['p99']:.2f}", f"{found['send_p99_ratio']:.1f}", f"{found['processors']:.1f}", f"{found['mib_before']:.0f}",
        f"{found['mib_peak']:.0f}", f"{found['mib_after']:.0f}", "-" if group is None else f"{group:.0f}", state)


def summary(results):
    worst = max(results, key=lambda found: found["p99_ratio"])
    above = sum(found["p99_ratio"] > GOAL for found in results)
    dead = [found["attack"] for found in results if not found["survived"]]
    idle = [found["attack"] for found in results if not found["has_effect"]]
    heaviest = max(results, key=lambda found: found["mib_peak"])
    print(f"{len(results)} attacks; worst p99 {worst['p99_ratio']:.1f} times ({worst['attack']}), {above} above {GOAL} (goal: none); "
          f"most memory {heaviest['mib_peak']:.0f} MiB ({heaviest['attack']})")
    print(f"did not survive: {', '.join(dead) or 'none'}; without effect: {', '.join(idle) or 'none'}")
    return not dead and not idle


def parse():
    flags = argparse.ArgumentParser()
    flags.add_argument("--binary", default=PROGRAM)
    flags.add_argument("--seconds", type=float, default=8, help="alone, and beside the attack")
    flags.add_argument("--memory", type=int, default=512, help="MiB")
    flags.add_argument("--no-limit", action="store_true", help="without a control group")
    flags.add_argument("--rate-limit", choices=["each", "on", "off"], default="each", help="each: on beside strangers of many networks")
    flags.add_argument("--processes", type=int, default=MAX_PROCESSES, help="of an attack, at most")
    flags.add_argument("--niceness", type=int, default=5, help="of the attackers, which share the processors with the server")
    flags.add_argument("--directory", help="for the databases, on a real disk; keeps the organization for the next run")
    flags.add_argument("--json", action="store_true")
    flags.add_argument("--verbose", action="store_true", help="outcomes of each attack")
    flags.add_argument("--list", action="store_true")
    flags.add_argument("names", nargs="*")
    return flags.parse_args()


def main():
    flags = parse()
    names = [name.lower() for name in flags.names]
    chosen = [attack for name, attack in ATTACKS.items() if not names or any(part in name.lower() for part in names)]
    if flags.list or not chosen:
        print("\n".join(attack.name for attack in ATTACKS.values()))
        sys.exit(0 if flags.list else 2)
    if not flags.no_limit and not has_memory_groups():
        print("no control group can limit memory here: this needs root, and the memory controller of cgroups 1 or 2; "
              "--no-limit measures without", file=sys.stderr)
        sys.exit(2)
    raise_descriptors()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    results = []
    if flags.directory:
        os.makedirs(flags.directory, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=flags.directory) as folder:
        bench = Bench(flags, pathlib.Path(folder))
        if not flags.json:
            print(f"filled in {bench.seconds:.0f} s; {flags.seconds:g} s alone and beside each attack; "
                  + (f"{flags.memory} MiB" if not flags.no_limit else "memory without a limit"))
            print(COLUMNS.format(*HEADINGS, ""))
        for attack in chosen:
            found = bench.measure(attack)
            results.append(found)
            if not flags.json:
                print(line(found), flush=True)
                if flags.verbose:
                    print("    " + ", ".join(f"{outcome}: {number}" for outcome, number in found["outcomes"].items()), flush=True)
    if flags.json:
        print(json.dumps(results))
        sys.exit(0 if all(found["survived"] and found["has_effect"] for found in results) else 1)
    sys.exit(0 if summary(results) else 1)


if __name__ == "__main__":
    main()
