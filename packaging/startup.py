#!/usr/bin/env python3
"""The functions that a server runs from its start to the first messages, as a linker script that puts them side by side.

    cargo rustc --profile dist --bin teamchat -- -C strip=none
    packaging/startup.py target/dist/teamchat >packaging/startup.ld

The kernel maps the pages around each function that runs. Functions that are spread over the whole program map most of it: 10 MiB
for 2 MiB of functions. Names are without the hashes of a build, so that the list serves all architectures and later versions;
one that has become old costs memory, and nothing else. Needs qemu-user-static, which lists the functions.
"""

import json
import re
import sys
import tempfile
from pathlib import Path
from platform import machine

sys.dont_write_bytecode = True
sys.path.append(str(Path(__file__).resolve().parent.parent / "tests/packages"))
import smoke

HEAD = """/* Functions that run at the start, in the order in which they do. Written by packaging/startup.py. */
SECTIONS
{
    .text.at_start :
    {
"""
TAIL = """    }
}
INSERT BEFORE .text;
"""


def main():
    binary = Path(sys.argv[1]).resolve()
    names = []
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        emulated = [f"qemu-{machine()}-static", "-d", "in_asm", "-D", str(log), str(binary)]
        for requests in (on_a_new_file, of_a_user):
            requests(smoke.Program(emulated, "chat.sqlite", folder=folder), binary)
            names += re.findall(r"^IN: (\S+)$", log.read_text(errors="replace"), re.MULTILINE)
    patterns = dict.fromkeys(pattern(name) for name in names)
    print(HEAD + "".join(f"        *({one})\n" for one in patterns) + TAIL, end="")


def pattern(name):
    """The section of a function. That of Rust has a hash at the end, or one for each crate in it."""
    if name.startswith("_R"):
        return ".text." + re.sub(r"Cs[0-9A-Za-z]+_", "Cs*_", name)
    return ".text." + re.sub(r"17h[0-9a-f]{16}E$", "17h*", name)


def on_a_new_file(program, _):
    program.start()
    program.request("GET", "/server_settings")
    program.stop()


def of_a_user(program, binary):
    """A channel and a message. The emulator would take too long for a password."""
    account = ["--email", smoke.EMAIL, "--full-name", "Owner", "--role", "owner", "--json"]
    native = smoke.Program([str(binary)], program.on_file[1], folder=program.folder)
    login = smoke.EMAIL, json.loads(native.run("user", "create", *program.on_file, *account))["api_key"]
    program.start()
    program.request("POST", "/users/me/subscriptions", login, subscriptions=json.dumps([{"name": "general"}]))
    queue = program.request("POST", "/register", login)
    poller = smoke.poll(program, login, queue["queue_id"], queue["last_event_id"])
    program.send(login, "hello")
    poller.join()
    program.contents(login)
    program.stop()


if __name__ == "__main__":
    main()
