"""Attacks: their list, and the processes that run them."""

import collections
import dataclasses
import multiprocessing
import os
import resource
import selectors
import socket
import ssl
import threading
import time
import traceback

from hostile.client import Client, abort, connect

# The list, filled by `attack`.
ATTACKS = {}

# Seconds for an attacker to notice the end.
GRACE = 5

MAX_PROCESSES = 4


@dataclasses.dataclass
class Attack:
    name: str
    run: object
    # Runs once before the measurement, and returns what the attackers need.
    prepare: object
    processes: int
    # One of these outcomes has to occur; without it, the attack did nothing.
    proof: tuple
    flags: tuple
    has_tls: bool
    is_limited: bool


def attack(name, *, prepare=None, processes=2, proof=("200",), flags=(), tls=False, limited=False):
    """Registers an attack. `flags` are further ones of `serve`. The server of `limited` ones has `--rate-limit on`, others have it
    off."""

    def register(run):
        ATTACKS[name] = Attack(name, run, prepare, processes, proof, flags, tls, limited)
        return run

    return register


class Attacker:
    """A process of an attack."""

    def __init__(self, world, data, number, seconds):
        self.world, self.data, self.number = world, data, number
        self.end = time.monotonic() + seconds
        self.counts = collections.Counter()
        self.lock = threading.Lock()

    def is_over(self):
        return time.monotonic() >= self.end

    def count(self, outcome, number=1):
        with self.lock:
            self.counts[str(outcome)] += number

    def threads(self, number, run):
        """Runs a function with each of these numbers until the end."""
        threads = [threading.Thread(target=self.guard, args=(run, index), daemon=True) for index in range(number)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0, self.end + GRACE - time.monotonic()))

    def guard(self, run, index):
        while not self.is_over():
            try:
                run(index)
            except (OSError, ValueError, EOFError) as error:
                if not self.is_over():
                    self.count(f"cut ({type(error).__name__})")
                    time.sleep(0.005)
            except Exception:  # noqa: BLE001 - a fault of the attack, which should not end the others
                self.count("fault")
                traceback.print_exc()
                return

    def loop(self, connections, step, accounts=(None,), headers=None):
        """Repeats a step on several kept connections. A client has a `number`, a `turn` that counts its steps, and a `state`."""

        def client_of(index):
            number = self.number * connections + index
            client = Client(self.world, accounts[number % len(accounts)], headers)
            client.number, client.turn, client.state = number, 0, {}
            return client

        clients = [client_of(index) for index in range(connections)]

        def run(index):
            client = clients[index]
            try:
                while not self.is_over():
                    answer = step(client)
                    client.turn += 1
                    if answer is not None:
                        self.count(answer.status)
            finally:
                client.close()

        self.threads(connections, run)

    def hold(self, connections, opening, drip=b"", pause=1.0, secure=None, context=None, buffer=None):
        """Keeps connections open: sends `opening`, a value or a function of a number, then `drip` at each pause. Connections
        that the server ends are replaced. Answers are not read if `buffer` limits them."""
        selector, held, opened, dripped = selectors.DefaultSelector(), set(), 0, time.monotonic()

        def drop(connection):
            self.count("ended")
            held.discard(connection)
            if not buffer:
                selector.unregister(connection)
            connection.close()

        try:
            while not self.is_over():
                for _ in range(min(50, connections - len(held))):
                    first = opening(opened) if callable(opening) else opening
                    if (connection := self.begin(first, secure, context, buffer)) is None:
                        break
                    opened += 1
                    held.add(connection)
                    if not buffer:
                        selector.register(connection, selectors.EVENT_READ)
                if buffer:
                    time.sleep(0.02)
                    gone = [one for one in held if one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)]
                else:
                    gone = [key.fileobj for key, _ in selector.select(0.02) if self.has_ended(key.fileobj)]
                if drip and time.monotonic() - dripped >= pause:
                    dripped = time.monotonic()
                    gone += [one for one in held if one not in gone and not self.drips(one, drip)]
                for connection in gone:
                    drop(connection)
        finally:
            self.count("held at the end", len(held))
            for connection in held:
                abort(connection)

    def begin(self, first, secure, context, buffer):
        """A new connection that has sent its first bytes, or as many as the server takes."""
        try:
            connection = connect(self.world, secure, context, 5, buffer)
        except OSError:
            self.count("not opened")
            time.sleep(0.01)
            return None
        self.count("opened")
        try:
            connection.settimeout(0.2)
            connection.sendall(first)
        except TimeoutError:
            self.count("opening not taken")
        except OSError:
            self.count("ended")
            connection.close()
            return None
        connection.setblocking(False)
        return connection

    def has_ended(self, connection):
        try:
            received = connection.recv(1 << 16)
        except (ssl.SSLWantReadError, BlockingIOError):
            return False
        except OSError:
            return True
        if received.startswith(b"HTTP/1.1 "):
            self.count(received[9:12].decode())
        return not received

    def drips(self, connection, drip):
        try:
            connection.send(drip)
            self.count("drips")
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError):
            pass
        except OSError:
            return False
        return True


def run_process(chosen, world, data, number, seconds, niceness, results):
    """An attacker's process."""
    os.nice(niceness)
    attacker = Attacker(world, data, number, seconds)
    try:
        chosen.run(attacker)
    except Exception:  # noqa: BLE001 - a fault of the attack
        attacker.count("fault")
        traceback.print_exc()
    results.send(attacker.counts)
    os._exit(0)


class Attackers:
    """The processes of an attack."""

    def __init__(self, chosen, world, data, seconds, niceness, most):
        self.running = []
        self.end = time.monotonic() + seconds
        for number in range(min(chosen.processes, most)):
            receiver, sender = multiprocessing.Pipe(False)
            process = multiprocessing.Process(
                target=run_process, args=(chosen, world, data, number, seconds, niceness, sender), daemon=True)
            process.start()
            sender.close()
            self.running.append((process, receiver))

    def stop(self):
        """Waits for the end, and returns the outcomes by number."""
        counts = collections.Counter()
        for process, receiver in self.running:
            try:
                if receiver.poll(max(0.1, self.end + 2 * GRACE - time.monotonic())):
                    counts.update(receiver.recv())
                else:
                    counts["stuck"] += 1
            except EOFError:
                counts["fault"] += 1
            process.join(0.5)
            if process.is_alive():
                process.kill()
                process.join()
        return counts


def raise_descriptors():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
