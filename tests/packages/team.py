"""From nothing to three people who chat over TLS, behind Caddy as the book configures it, with a backup every day.

    team.py [--compose] [--db FILE] [--config FILE] [--backups FOLDER] [--root FOLDER] -- COMMAND...     as for smoke.py

The first backup is restored. `--backups` is their folder as the program names it; without `--config`, which has to name it too, it
is passed to `serve`. `--root` is where this script sees the root of the program. With `--compose`, Caddy runs with the command of
compose.yaml. It then listens at ports 80 and 443, and adds its authority to those of the machine: both need namespaces of their own.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import smoke

SOURCE = Path(__file__).resolve().parents[2]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def command_of_book(folder, port, upstream):
    """The command that runs Caddy with the configuration of the book, and a certificate of its own authority."""
    site = re.search(r"^```caddyfile\n(.*?)^```", (SOURCE / "docs/reverse-proxies.md").read_text(), re.DOTALL | re.MULTILINE)[1]
    site = site.replace("chat.example.com", f"https://localhost:{port}").replace("127.0.0.1:9991", upstream)
    file = folder / "Caddyfile"
    file.write_text("{\n admin off\n local_certs\n skip_install_trust\n auto_https disable_redirects\n}\n" + site)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(file)]


def command_of_compose(upstream):
    """The command of Caddy in compose.yaml, with a certificate of its own authority."""
    command = re.search(r"^    command: (caddy .*)$", (SOURCE / "packaging/compose.yaml").read_text(), re.MULTILINE)[1]
    for written, here in (("${CHAT_HOST}", "localhost"), ("teamchat:9991", upstream)):
        assert written in command, command
        command = command.replace(written, here)
    return [*command.split(), "--internal-certs"]


def start_caddy(folder, port, command):
    """Starts Caddy, and returns the file of its authority."""
    environment = dict(os.environ, HOME=str(folder), XDG_DATA_HOME=str(folder), XDG_CONFIG_HOME=str(folder))
    caddy = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    smoke.atexit.register(caddy.kill)
    authority = folder / "caddy/pki/authorities/local/root.crt"
    while not authority.exists() or not is_open(port):
        assert caddy.poll() is None, "caddy has ended"
        time.sleep(0.1)
    return authority


def is_open(port):
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def check_backup(program, db, backups, seen_as):
    """Waits for the first backup, and restores it beside the database."""
    while not (made := list(seen_as.glob("teamchat-*.sqlite.zst"))):
        assert program.process.poll() is None, "the server has ended"
        time.sleep(0.1)
    program.run("restore", "--db", f"{db}.restored", f"{backups}/{made[0].name}")
    program.run("check", "--db", f"{db}.restored")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compose", action="store_true")
    parser.add_argument("--db", default="chat.sqlite")
    parser.add_argument("--config")
    parser.add_argument("--backups", default="backups")
    parser.add_argument("--root", type=Path)
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        seen_as = (given.root or folder) / given.backups.lstrip("/")
        if not given.root:
            seen_as.mkdir()
        every_day = [] if given.config else ["--backup-to", given.backups, "--backup-every", "24h"]
        program = smoke.Program(given.command, given.db, given.config, folder)
        port = 443 if given.compose else free_port()
        origin = "https://localhost" if given.compose else f"https://localhost:{port}"
        program.start("--public-url", origin, "--trusted-proxy", "127.0.0.1", *every_day)
        upstream = program.origin.removeprefix("http://")
        command = command_of_compose(upstream) if given.compose else command_of_book(folder, port, upstream)
        authority = start_caddy(folder, port, command)
        program.origin = origin
        assert program.link.startswith(program.origin), program.link
        smoke.OPENER = smoke.opener(authority)
        people = [program.sign_up()]
        program.request("POST", "/users/me/subscriptions", people[0], subscriptions=json.dumps([{"name": "general"}]))
        channel = program.request("GET", "/get_stream_id", people[0], stream="general")["stream_id"]
        invitation = program.request("POST", "/invites/multiuse", people[0], stream_ids=json.dumps([channel]))["invite_link"]
        for name in ("ann", "bob"):
            # Each has a browser of their own.
            smoke.OPENER = smoke.opener(authority)
            people.append(program.join(invitation, f"{name}@example.com", name))
        for email, key in people:
            program.send((email, key), f"hello from {email}")
        for login in people:
            assert program.contents(login) == [f"hello from {email}" for email, _ in people]
        check_backup(program, given.db, given.backups, seen_as)
        program.stop()


if __name__ == "__main__":
    main()
