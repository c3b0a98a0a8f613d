"""The organization that is attacked: people, hostile accounts, bots, channels and messages."""

import concurrent.futures
import dataclasses
import json
import random
import subprocess

from hostile.client import Client

# Honest people, whose requests are timed in turn, and hostile accounts.
PEOPLE, MEMBERS, MODERATORS, GUESTS = 500, 12, 2, 4
BOTS_OF_MEMBER, BOTS = 5, 4
MESSAGES, TOPICS, CHANNELS = 2000, 40, 20
SENDERS = 16

# The most characters of a message.
LONG = 10_000

# Of all accounts that have one.
PASSWORD = "a password of an account"

# Accounts with a password: hashing takes time.
WITH_PASSWORD = 4

WORDS = [f"{a}{b}" for a in "ka lo mi ne ru sta tre vor wen zu".split() for b in "n s ter ling ver do ma pi ro ta".split()]


@dataclasses.dataclass
class World:
    """A server and the accounts on it."""

    address: tuple = None
    has_tls: bool = False
    folder: object = None
    program: str = ""
    db: object = None
    people: list = dataclasses.field(default_factory=list)
    owner: dict = None
    moderators: list = dataclasses.field(default_factory=list)
    members: list = dataclasses.field(default_factory=list)
    guests: list = dataclasses.field(default_factory=list)
    bots: list = dataclasses.field(default_factory=list)
    webhook_bot: dict = None
    # Ids by name. Everyone is in `general`, and visitors may read `open`.
    channels: dict = dataclasses.field(default_factory=dict)
    messages: list = dataclasses.field(default_factory=list)

    def run(self, *command, text=""):
        parts = [str(part) for part in (self.program, *command, "--db", self.db, "--json")]
        return json.loads(subprocess.run(parts, check=True, capture_output=True, text=True, input=text).stdout)


def words(chance, number):
    return " ".join(chance.choices(WORDS, k=number))


def create(world, name, role, has_password=False):
    flags = ["--email", f"{name}@example.com", "--full-name", name, "--role", role]
    user = world.run("user", "create", *flags, *(["--password-stdin"] if has_password else []), text=PASSWORD + "\n")
    return {**user, "email": f"{name}@example.com", "role": role}


def fill(world):
    """Fills a running server. What it needs is done by the program and over HTTP, as it is for people."""
    groups = [("owner", "owner", 1, world.people), ("moderator", "moderator", MODERATORS, world.moderators),
              ("hostile", "member", MEMBERS, world.members), ("guest", "guest", GUESTS, world.guests),
              ("person", "member", PEOPLE, world.people)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for name, role, number, accounts in groups:
            made = [pool.submit(create, world, f"{name}{n}", role, name != "person" and n < WITH_PASSWORD) for n in range(number)]
            accounts.extend(one.result() for one in made)
    world.owner = world.people.pop(0)
    owner = Client(world, world.owner)
    for channel in [f"channel {n}" for n in range(CHANNELS)] + ["general", "open"]:
        private = {"is_web_public": True} if channel == "open" else {}
        if channel == "open":
            owner.must(owner.patch("/realm", enable_spectator_access=True))
        everyone = [account["user_id"] for account in [world.owner, *world.people, *world.members, *world.moderators, *world.guests]]
        some = everyone if channel in ("general", "open") else everyone[:60] + everyone[-18:]
        owner.must(owner.post("/users/me/subscriptions", subscriptions=[{"name": channel}], principals=some, **private))
        world.channels[channel] = owner.must(owner.get("/get_stream_id", stream=channel))["stream_id"]
    make_bots(world)
    with concurrent.futures.ThreadPoolExecutor(SENDERS) as pool:
        for ids in pool.map(lambda number: send(world, number), range(SENDERS)):
            world.messages += ids
    world.messages.sort()
    owner.close()


def make_bots(world):
    for member in world.members[:BOTS]:
        client = Client(world, member)
        for number in range(BOTS_OF_MEMBER):
            short = f"bot{member['user_id']}x{number}"
            made = client.must(client.post("/bots", full_name=f"Bot {short}", short_name=short))
            email = made.get("email") or f"{short}-bot@bots.invalid"
            world.bots.append({"email": email, "api_key": made["api_key"], "user_id": made["user_id"]})
        client.close()
    client = Client(world, world.members[0])
    world.webhook_bot = client.must(client.post("/bots", full_name="Hook", short_name="hook", bot_type=2))
    client.close()


def send(world, number):
    """Sends a part of the messages: some long, many in few topics."""
    chance = random.Random(number)
    client = Client(world, world.people[number])
    names = ["general", "open", *(f"channel {n}" for n in range(CHANNELS))]
    ids = []
    for count in range(MESSAGES // SENDERS):
        channel = names[0] if count % 2 else chance.choice(names)
        topic = f"topic {chance.randrange(TOPICS)}"
        content = words(chance, 12 if chance.random() < 0.9 else 200)
        ids.append(client.must(client.post("/messages", type="stream", to=channel, topic=topic, content=content))["id"])
    client.close()
    return ids


def general(world):
    return world.channels["general"]


def queues_of_all(world, types, number):
    """Registers queues of honest people, which are not read."""
    for account in world.people[:number]:
        client = Client(world, account)
        client.must(client.post("/register", event_types=types, fetch_event_types=[]))
        client.close()
