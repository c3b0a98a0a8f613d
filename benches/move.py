#!/usr/bin/env python3
"""Moves a large organization in, out, and in again: writes a published archive by chance, imports it, and compares what people then see.

    benches/move.py [--messages 100000] [--seed 1] [--directory DIR] [--keep]

TEAMCHAT_BIN names the program, target/dist/teamchat by default.

Prints the time and the peak memory of the import. The goals for a million messages are 10 minutes on two cores and 300 MiB.
Then the organization is exported and imported again. Fails if anything is lost on either way: all messages of two people by id, and
each member of a sample of messages, by the interface.
"""

import argparse
import base64
import http.client
import json
import os
import pathlib
import random
import subprocess
import tempfile
import time
import urllib.parse

from year import PROGRAM, WORDS

PEOPLE, CHANNELS, TOPICS, GROUPS = 120, 60, 400, 40
PER_FILE = 1000
START = 1_600_000_000
SYSTEM_GROUPS = ["nobody", "owners", "administrators", "moderators", "fullmembers", "members", "everyone", "internet"]
EMOJI = [("tada", "1f389"), ("heart", "2764"), ("+1", "1f44d"), ("eyes", "1f440")]
READ, STARRED, MENTIONED, PRIVATE = 1, 2, 8, 2048


class Archive:
    """The organization, and what is expected of each message of the sample."""

    def __init__(self, folder, chance, count):
        self.folder, self.chance, self.count = folder, chance, count
        self.people = list(range(10, 10 + PEOPLE))
        self.channels = {100 + n: self.members(n) for n in range(CHANNELS)}
        self.groups = {1000 + n: sorted(chance.sample(self.people, chance.randrange(3, 8))) for n in range(GROUPS)}
        self.seen = {self.people[0]: [], self.people[1]: []}
        self.sample = {}
        self.reactions, self.attachments, self.records = [], [], []

    def members(self, number):
        size = PEOPLE if number == 0 else self.chance.randrange(5, 30)
        return sorted({*self.chance.sample(self.people, size), self.people[0]})

    def text(self):
        return " ".join(self.chance.choices(WORDS, k=max(1, int(self.chance.lognormvariate(2.3, 0.8)))))

    def write(self):
        wanted = set(self.chance.sample(range(1, self.count + 1), min(self.count, 300)))
        for number, first in enumerate(range(1, self.count + 1, PER_FILE), 1):
            messages, rows = [], []
            for message in range(first, min(first + PER_FILE, self.count + 1)):
                self.message(message, messages, rows, message in wanted)
            with open(self.folder / f"messages-{number:06}.json", "w") as out:
                out.write('{"zerver_message": [\n' + ",\n".join(messages) + '],\n"zerver_usermessage": [\n')
                out.write(",\n".join(rows) + "]}\n")
        self.dump("realm.json", self.realm())
        self.dump("attachment.json", {"zerver_attachment": self.attachments})
        self.dump("uploads/records.json", self.records)
        for name in ["avatars", "emoji", "realm_icons"]:
            self.dump(f"{name}/records.json", [])
        self.dump("migration_status.json", {})

    def dump(self, name, value):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))

    def message(self, message, messages, rows, is_sampled):
        chance = self.chance
        topic, content, html, history, is_direct = "", self.text(), None, None, False
        kind = chance.random()
        if kind < 0.75:
            # 15 percent are in the channel of everyone, the others in smaller ones.
            channel = 100 if chance.random() < 0.15 else 100 + chance.randrange(1, CHANNELS)
            recipient, receivers = 10_000 + channel, self.channels[channel]
            sender = chance.choice(receivers)
            topic = f"topic {chance.randrange(TOPICS)} {self.chance.choice(WORDS)}"
        elif kind < 0.95:
            other, sender = chance.sample(self.people, 2)
            recipient, receivers, is_direct = 20_000 + other, [other, sender], True
        else:
            group = chance.choice(list(self.groups))
            recipient, receivers, is_direct = group, self.groups[group], True
            sender = chance.choice(receivers)
        mentioned = None
        if chance.random() < 0.1:
            mentioned = chance.choice(receivers)
            content += f" @**Person {mentioned}**"
        if chance.random() < 0.01:
            content += " " + self.upload(message, sender)
        if chance.random() < 0.05:
            before = f"{content} {chance.choice(WORDS)}"
            history = [{"user_id": sender, "timestamp": START + message * 30 + 20, "prev_content": before,
                        "prev_rendered_content": f"<p>{before}</p>", "prev_rendered_content_version": 1}]
        reactions = []
        if chance.random() < 0.1:
            for person in chance.sample(receivers, min(len(receivers), chance.randrange(1, 4))):
                name, code = chance.choice(EMOJI)
                reactions.append((person, name))
                self.reactions.append({"id": len(self.reactions) + 1, "user_profile": person, "message": message,
                                       "emoji_name": name, "emoji_code": code, "reaction_type": "unicode_emoji"})
        if "[" not in content and "@" not in content:
            html = f"<p>{content}</p>"
        messages.append(json.dumps({
            "id": message, "realm": 1, "type": 1, "sender": sender, "recipient": recipient, "subject": topic,
            "content": content, "rendered_content": html, "rendered_content_version": 1, "date_sent": START + message * 30 + 0.5,
            "sending_client": 1, "last_edit_time": START + message * 30 + 20.0 if history else None,
            "edit_history": json.dumps(history) if history else None, "has_attachment": False, "has_image": False,
            "has_link": False, "is_channel_message": not is_direct, "search_tsvector": None,
        }))
        flags = {}
        for person in receivers:
            mask = READ if person == sender or message < self.count * 0.98 or chance.random() < 0.5 else 0
            mask |= STARRED if chance.random() < 0.002 else 0
            mask |= MENTIONED if person == mentioned else 0
            flags[person] = mask
            mask |= PRIVATE if is_direct else 0
            rows.append(f'{{"id": {message * 1000 + person}, "user_profile": {person}, "message": {message}, "flags_mask": {mask}}}')
        for person, ids in self.seen.items():
            if person in flags:
                ids.append(message)
        if is_sampled:
            self.sample[message] = {
                "content": content, "sender_id": sender, "timestamp": START + message * 30, "subject": topic, "flags": flags,
                "receivers": receivers, "reactions": sorted(reactions), "stream_id": None if is_direct else recipient - 10_000,
                "edits": len(history or []),
            }

    def upload(self, message, sender):
        path = f"1/{len(self.records):x}/{self.chance.randbytes(12).hex()}/notes.txt"
        content = self.chance.randbytes(self.chance.randrange(100, 5000))
        file = self.folder / "uploads" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        self.attachments.append({"id": len(self.attachments) + 1, "realm": 1, "owner": sender, "file_name": "notes.txt",
                                 "path_id": path, "size": len(content), "create_time": START + message * 30.0,
                                 "content_type": "text/plain", "messages": [message], "scheduled_messages": []})
        self.records.append({"realm_id": 1, "user_profile_id": sender, "path": path, "s3_path": path, "size": len(content),
                             "last_modified": START + 0.0, "content_type": None})
        return f"[notes.txt](/user_uploads/{path})"

    def realm(self):
        groups = dict(enumerate(SYSTEM_GROUPS, 1))
        permissions = {"can_add_members_group": 1, "can_join_group": 1, "can_leave_group": 7, "can_manage_group": 1,
                       "can_mention_group": 7, "can_remove_members_group": 1}
        recipients = [{"id": 10_000 + channel, "type": 2, "type_id": channel} for channel in self.channels]
        recipients += [{"id": 20_000 + person, "type": 1, "type_id": person} for person in self.people]
        recipients += [{"id": group, "type": 3, "type_id": group} for group in self.groups]
        places = [(person, 20_000 + person) for person in self.people]
        places += [(person, 10_000 + channel) for channel, members in self.channels.items() for person in members]
        places += [(person, group) for group, members in self.groups.items() for person in members]
        return {
            "zerver_realm": [{"id": 1, "name": "Large", "description": "", "string_id": "", "date_created": START + 0.0}],
            "zerver_userprofile": [
                {"id": person, "email": f"person{person}@example.com", "delivery_email": f"person{person}@example.com",
                 "full_name": f"Person {person}", "role": 100 if person == self.people[0] else 400, "date_joined": START + 0.0}
                for person in self.people
            ],
            "zerver_userprofile_mirrordummy": [],
            "zerver_userprofile_crossrealm": [],
            "zerver_usergroup": [{"id": group, "realm": 1} for group in groups],
            "zerver_namedusergroup": [
                {"id": group, "usergroup_ptr": group, "name": f"role:{name}", "description": "", "is_system_group": True,
                 "date_created": None, "creator": None, "deactivated": False, **permissions}
                for group, name in groups.items()
            ],
            "zerver_stream": [
                {"id": channel, "name": f"channel {channel}", "description": "", "date_created": START + 0.0, "creator": None}
                for channel in self.channels
            ],
            "zerver_huddle": [{"id": group} for group in self.groups],
            "zerver_recipient": recipients,
            "zerver_subscription": [
                {"id": number, "user_profile": person, "recipient": recipient, "color": "#76ce90"}
                for number, (person, recipient) in enumerate(places, 1)
            ],
            "zerver_client": [{"id": 1, "name": "website"}],
            "zerver_reaction": self.reactions,
        }


class Person:
    """Requests of a person to the new server."""

    def __init__(self, program, db, address, person):
        email = f"person{person}@example.com"
        command = [program, "user", "key", "mint", "--db", db, "--email", email, "--json"]
        key = json.loads(subprocess.run([str(part) for part in command], check=True, capture_output=True).stdout)["api_key"]
        self.headers = {"Authorization": "Basic " + base64.b64encode(f"{email}:{key}".encode()).decode()}
        self.connection = http.client.HTTPConnection(address)

    def get(self, path, **parameters):
        query = urllib.parse.urlencode({name: json.dumps(value) for name, value in parameters.items()})
        self.connection.request("GET", f"/api/v1{path}?{query}", headers=self.headers)
        answer = json.load(self.connection.getresponse())
        assert answer["result"] == "success", answer
        return answer

    def all_ids(self):
        ids, anchor = [], 0
        while True:
            answer = self.get("/messages", anchor=anchor, num_before=0, num_after=5000, include_anchor=False, narrow=[])
            # That of the server's own bot, about the key.
            ids += [message["id"] for message in answer["messages"]]
            if answer["found_newest"]:
                return ids
            anchor = ids[-1]


def check(archive, program, db):
    command = [program, "serve", "--db", db, "--listen", "127.0.0.1:0", "--json"]
    server = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        address = json.loads(server.stdout.readline())["url"].split("//")[1]
        people = {}
        for person, expected in archive.seen.items():
            people[person] = Person(program, db, address, person)
            found = [id for id in people[person].all_ids() if id <= archive.count]
            assert found == expected, f"person {person}: {len(found)} messages instead of {len(expected)}"
        compared = 0
        for message, expected in archive.sample.items():
            for person in expected["receivers"][:2]:
                if person not in people:
                    people[person] = Person(program, db, address, person)
                compare(people[person], person, message, expected)
                compared += 1
        return compared
    finally:
        server.terminate()
        server.wait()


def compare(client, person, message, expected):
    found = client.get(f"/messages/{message}", apply_markdown=False, allow_empty_topic_name=True)["message"]
    for name in ["content", "sender_id", "timestamp", "subject"]:
        assert found[name] == expected[name], f"message {message}: {name} is {found[name]!r}, not {expected[name]!r}"
    assert found.get("stream_id") == expected["stream_id"], found
    reactions = sorted((reaction["user_id"], reaction["emoji_name"]) for reaction in found["reactions"])
    assert reactions == expected["reactions"], f"message {message}: {reactions} instead of {expected['reactions']}"
    mask = expected["flags"][person]
    flags = sorted(name for bit, name in [(READ, "read"), (STARRED, "starred"), (MENTIONED, "mentioned")] if mask & bit)
    assert sorted(found["flags"]) == flags, f"message {message}: {found['flags']} instead of {flags}"
    assert len(found.get("edit_history", [])) == expected["edits"], found
    if expected["stream_id"] is None:
        people = sorted(one["id"] for one in found["display_recipient"])
        assert people == sorted(expected["receivers"]), f"message {message}: {people}"


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--messages", type=int, default=100_000)
    flags.add_argument("--seed", type=int, default=1)
    flags.add_argument("--directory")
    flags.add_argument("--keep", action="store_true", help="keep the archive and the database in the directory")
    flags = flags.parse_args()
    if flags.directory:
        os.makedirs(flags.directory, exist_ok=True)
    if flags.keep:
        measure(PROGRAM, pathlib.Path(flags.directory), flags)
    else:
        with tempfile.TemporaryDirectory(dir=flags.directory) as folder:
            measure(PROGRAM, pathlib.Path(folder), flags)


def timed(command):
    """Runs a command, and returns its report with what it took."""
    begun = time.monotonic()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE)
    report = json.loads(process.stdout.read().splitlines()[-1])
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, status
    seconds, cpu = time.monotonic() - begun, usage.ru_utime + usage.ru_stime
    return report, f"{seconds:.1f} s ({cpu:.1f} s of a processor), at most {usage.ru_maxrss / 1024:.0f} MiB in memory"


def measure(program, folder, flags):
    archive = Archive(folder / "archive", random.Random(flags.seed), flags.messages)
    archive.folder.mkdir()
    archive.write()
    size = sum(file.stat().st_size for file in archive.folder.rglob("*") if file.is_file())
    db, mib = folder / "chat.sqlite", 1 << 20
    report, took = timed([program, "import", "zulip", archive.folder, "--db", db, "--json"])
    print(f"{flags.messages} messages, {size / mib:.0f} MiB: {took}, a file of {db.stat().st_size / mib:.0f} MiB", flush=True)
    expected = {"users": PEOPLE, "channels": CHANNELS, "messages": flags.messages, "attachments": len(archive.attachments)}
    assert {name: report[name] for name in expected} == expected, report
    assert not report["left_out"], report["left_out"]
    assert report["rendered_differently"]["count"] == 0, report["rendered_differently"]
    print(f"{check(archive, program, db)} views of {len(archive.sample)} messages are as in the archive", flush=True)
    # Out, and in again.
    out, again = folder / "again.tar.gz", folder / "again.sqlite"
    report, took = timed([program, "export", "zulip", out, "--db", db, "--json"])
    print(f"exported in {took}, {out.stat().st_size / mib:.0f} MiB", flush=True)
    for name in ["users", "channels", "attachments"]:
        assert report[name] == expected[name], report
    report, took = timed([program, "import", "zulip", out, "--db", again, "--json"])
    print(f"imported again in {took}", flush=True)
    assert report["rendered_differently"]["count"] == 0, report["rendered_differently"]
    print(f"{check(archive, program, again)} views are as in the archive after the way out and in again")


if __name__ == "__main__":
    main()
