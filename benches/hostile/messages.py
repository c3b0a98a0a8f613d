"""Attacks by accounts with messages: texts that are expensive, and reading and changing many messages."""

from hostile.attack import attack
from hostile.client import Client
from hostile.organization import LONG, queues_of_all

# Texts that are expensive.

TEXTS = [
    ":smile:" * (LONG // 7),
    "> " * (LONG // 2),
    "* a\n  " * (LONG // 6),
    "**" * (LONG // 2),
    "[a](" * (LONG // 4),
    "|a" * 40 + "\n" + "|-" * 40 + "\n" + ("|a" * 40 + "\n") * 100,
    "`" * 5000 + " a " + "`" * 4990,
    "https://a.example/b " * (LONG // 20),
    "@**hostile0** #**general** " * (LONG // 27),
    "```python\n" + "def a(b): return [c for c in b if c]\n" * 250 + "```",
    "~~*_a_*~~ " * (LONG // 10),
    "<" * LONG,
    "1. a\n" * (LONG // 5),
    "\\" * LONG,
    "```\na\n```\n" * (LONG // 10),
    "# a\n" * (LONG // 4),
]
FORMULAS = [
    "$$ " + r"\sqrt{" * 200 + "}" * 200 + " $$",
    "$$ " + r"\binom ab" * 200 + " $$",
    "$$ " + r"\cancel{a}" * 200 + " $$",
    r"$$ \boxed{a} $$ " * 500,
    r"$$ \color{red}a $$ " * 500,
    r"$$ \sum_{a}^{b} $$ " * 500,
    "$$ " + r"\begin{matrix}" + "a&" * 200 + r"\end{matrix}" + " $$",
    "$$ " + r"\frac{a}{" * 40 + "b" + "}" * 40 + " $$",
]


def of_length(texts):
    return [text[:LONG] for text in texts]


@attack("renderings")
def renderings(me):
    texts = of_length(TEXTS)
    me.loop(4, lambda client: client.post("/messages/render", content=texts[(client.turn + client.number) % len(texts)]), me.world.members)


@attack("formulas", proof=("200", "400"))
def formulas(me):
    texts = of_length(FORMULAS)
    me.loop(4, lambda client: client.post("/messages/render", content=texts[(client.turn + client.number) % len(texts)]), me.world.members)


@attack("large messages", prepare=lambda world: queues_of_all(world, ["message"], 300))
def large_messages(me):
    texts = of_length([":smile:" * 1700, *TEXTS])

    def step(client):
        content = texts[(client.turn + client.number) % len(texts)]
        return client.post("/messages", type="stream", to="general", topic="t", content=content)

    me.loop(4, step, me.world.members)


def edited_message(world):
    client = Client(world, world.members[0])
    sent = client.must(client.post("/messages", type="stream", to="general", topic="edited", content="a"))
    for number in range(110):
        text = " ".join(f"word{(n * 7 + number * 13) % 1000}" for n in range(1200))[:LONG]
        client.must(client.patch(f"/messages/{sent['id']}", content=text))
    client.close()
    return sent["id"]


@attack("histories of edits", prepare=edited_message)
def histories(me):
    def step(client):
        if client.account == me.world.members[0]:
            text = " ".join(f"word{(n * 7 + client.turn * 13) % 1000}" for n in range(1200))[:LONG]
            return client.patch(f"/messages/{me.data}", content=text)
        return client.get(f"/messages/{me.data}/history")

    # The author edits, and others read.
    me.loop(4, step, me.world.members[:1] + me.world.people[-7:])


@attack("reactions and votes")
def reactions(me):
    names = ["smile", "tada", "heart", "octopus", "rocket", "fire", "eyes", "cat", "dog", "bike"]

    def step(client):
        message = me.world.messages[client.number * 100 + client.turn // 20 % 100]
        name = names[client.turn % 10]
        if client.turn // 10 % 2:
            return client.delete(f"/messages/{message}/reactions", emoji_name=name)
        return client.post(f"/messages/{message}/reactions", emoji_name=name)

    me.loop(6, step, me.world.members)


# Reading and changing many messages.


def topic_of_many(world):
    """A topic of 1,500 messages, which members may move."""
    client = Client(world, world.members[0])
    sent = {"type": "stream", "to": "general", "topic": "many", "content": "word " * 20}
    ids = [client.must(client.post("/messages", **sent))["id"] for _ in range(1500)]
    client.close()
    return ids


@attack("moves of many messages", prepare=topic_of_many)
def moves(me):
    def step(client):
        return client.patch(f"/messages/{me.data[0]}", topic=f"many {client.number} {client.turn}", propagate_mode="change_all",
                            send_notification_to_new_thread=False, send_notification_to_old_thread=False)

    me.loop(2, step, me.world.members)


def private_channels(world):
    """Private channels that a group may administer and enter."""
    client = Client(world, world.members[1])
    owned = client.must(client.post("/user_groups/create", name="entry", description="", members=[world.members[1]["user_id"]]))
    group = owned.get("group_id")
    for number in range(4):
        names = [{"name": f"private {number} {n}"} for n in range(100)]
        client.must(client.post("/users/me/subscriptions", subscriptions=names, invite_only=True, can_subscribe_group=group,
                                can_add_subscribers_group=group))
    client.close()
    return group


@attack("private channels by membership", prepare=private_channels)
def memberships(me):
    people = [account["user_id"] for account in me.world.people[:100]]

    def step(client):
        changed = people[client.number * 20:][:20]
        if client.turn % 2:
            return client.post(f"/user_groups/{me.data}/members", delete=changed)
        return client.post(f"/user_groups/{me.data}/members", add=changed)

    me.loop(2, step, me.world.members[1:2])


@attack("subscriptions of all people")
def subscriptions(me):
    people = [account["user_id"] for account in me.world.people]

    def step(client):
        if client.turn == 0:
            names = [{"name": f"all {client.number} {n}"} for n in range(10)]
            return client.post("/users/me/subscriptions", subscriptions=names)
        names = [f"all {client.number} {n}" for n in range(10)]
        if client.turn % 2:
            return client.post("/users/me/subscriptions", subscriptions=[{"name": name} for name in names], principals=people)
        return client.delete("/users/me/subscriptions", subscriptions=names, principals=people)

    me.loop(2, step, me.world.members)


def narrow(*terms):
    return [{"operator": operator, "operand": operand} for operator, operand in terms]


@attack("searches")
def searches(me):
    asked = ["k*", "kan", "a b c d e f g h i j k l", "kan OR los", "zuta wenro vorpi", "z", "ka lo mi ne ru st tr vo we zu"]

    def step(client):
        terms = narrow(("search", asked[(client.turn + client.number) % len(asked)]))
        return client.get("/messages", anchor="newest", num_before=5000, num_after=0, narrow=terms)

    me.loop(4, step, me.world.members)


@attack("searches for phrases")
def phrases(me):
    def step(client):
        words = " ".join(["kan", "los", "miter", "neling", "ruver"] * 300)[:8000]
        terms = narrow(("search", f'"{words}"' if client.turn % 2 else '"kan los" "miter neling" -"ruver stado"'))
        return client.get("/messages", anchor="newest", num_before=5000, num_after=0, narrow=terms)

    me.loop(4, step, me.world.members)


@attack("flags of a narrow")
def flags(me):
    def step(client):
        return client.post("/messages/flags/narrow", anchor="newest", num_before=5000, num_after=0, narrow=[], include_anchor=True,
                           op="remove" if client.turn % 2 else "add", flag="starred")

    me.loop(2, step, me.world.members)


@attack("marking as read and unread")
def read_state(me):
    def step(client):
        return client.post("/messages/flags/narrow", anchor="newest", num_before=5000, num_after=0,
                           narrow=narrow(("channel", "general")), op="remove" if client.turn % 2 else "add", flag="read")

    me.loop(2, step, me.world.members)


@attack("registering again and again")
def registering(me):
    me.loop(4, lambda client: client.post("/register", client_capabilities={"user_list_incomplete": False}), me.world.members)


@attack("requests of one member at a time", processes=2)
def at_once(me):
    """As many as HTTP/2 would have on few connections."""
    me.loop(250, lambda client: client.get("/messages", anchor="newest", num_before=100, num_after=0), me.world.members[:1])


@attack("large pages")
def pages(me):
    def step(client):
        return client.get("/messages", anchor="newest", num_before=5000, num_after=0, apply_markdown=bool(client.turn % 2))

    me.loop(4, step, me.world.members)


@attack("lists of people and channels")
def lists(me):
    paths = ["/users", "/streams", "/users/me/subscriptions", "/realm/presence", "/user_groups", "/bots"]
    me.loop(4, lambda client: client.get(paths[client.turn % len(paths)]), me.world.members)


@attack("exports", proof=("200",))
def exports(me):
    """An owner asks for exports, and downloads each archive again and again."""

    def step(client):
        if client.turn % 50 == 0:
            return client.post("/export/realm", export_type=1 + client.turn // 50 % 2)
        if client.turn % 5 == 0:
            made = client.get("/export/realm").json()["exports"]
            client.state["urls"] = [one["export_url"] for one in made if one.get("export_url")]
        urls = client.state.get("urls")
        if not urls:
            return client.get("/export/realm")
        url = urls[client.turn % len(urls)]
        return client.request("GET", "/" + url.split("/", 3)[3])

    me.loop(2, step, [me.world.owner])


@attack("invitations")
def invitations(me):
    """Reusable links of an owner, which all administrators receive."""

    def step(client):
        links = client.state.setdefault("links", [])
        if client.turn % 10 == 9:
            links += [one["id"] for one in client.get("/invites").json()["invites"] if one["id"] % 4 == client.number]
        if len(links) > 5:
            return client.delete(f"/invites/multiuse/{links.pop()}")
        return client.post("/invites/multiuse", stream_ids=list(me.world.channels.values()))

    me.loop(2, step, [me.world.owner])
