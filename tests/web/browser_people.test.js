/** Accounts, bots, invitations, groups, channels and other programs, as administrators and members make and change them; in a
 * headless browser against the real server. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { choose, chooseFrom, click, clickButton, clickText, countOf, eventually, fillIn, onElement, onElements, onField, ROOT, setUp, typeInto, until, untilAllEqual, untilEqual, untilFocus, untilText, untilToast } from "./harness.js";

const bench = setUp();
const { as, at, go } = bench;

const fetched = async (name, ...parts) => bench.server.call(name, "POST", "/register", { fetch_event_types: parts, event_types: ["restart"], client_capabilities: { include_deactivated_groups: true } });
const userNamed = async (wanted) => (await bench.server.call("Ada", "GET", "/users", { include_custom_profile_fields: true })).members.find(({ full_name: name }) => name === wanted);
const groupNamed = async (wanted) => (await fetched("Ada", "realm_user_groups")).realm_user_groups.find(({ name }) => name === wanted);
const idOf = (name) => bench.server.accounts[name].user_id;

/** Gives the field with this label another value, or clicks it. */
const change = (page, label, value) => (value === undefined ? onField(page, label, (control) => control.click()) : choose(page, label, value));

/** Submits the form with this button. */
const submit = (page, label) => onElements(page, "dialog button[type=submit]", (buttons, wanted) => buttons.findLast((button) => button.textContent === wanted).click(), label);

describe("accounts", () => {
  it("are made and changed by owners", async () => {
    const { id: fieldId } = await bench.server.call("Ada", "POST", "/realm/profile_fields", { name: "Room", field_type: 1 });
    const ada = await as("Ada", "#organization/users/active");
    await clickText(ada, "dialog button", "Create an account");
    await fillIn(ada, "Name", "Dora");
    await fillIn(ada, "Email", "dora@example.com");
    await fillIn(ada, "Password", "a long password");
    await submit(ada, "Create");
    await untilText(ada, "dialog .row", "Dora");
    await clickButton(ada, "Edit Dora");
    await fillIn(ada, "Name", "Dora Maar");
    await fillIn(ada, "Email", "maar@example.com");
    await submit(ada, "Save");
    await eventually(async () => assert.equal((await userNamed("Dora Maar")).delivery_email, "maar@example.com"));
    await fillIn(ada, "Status", "On leave");
    await submit(ada, "Set status");
    const { user_id: id } = await userNamed("Dora Maar");
    await eventually(async () => assert.equal((await bench.server.call("Bob", "GET", `/users/${id}/status`)).status.status_text, "On leave"));
    await fillIn(ada, "Room", "12b");
    await ada.keyboard.press("Tab");
    await eventually(async () => assert.equal((await userNamed("Dora Maar")).profile_data[fieldId]?.value, "12b"));
    const login = await fetch(`${bench.server.url}/api/v1/fetch_api_key`, { method: "POST", body: new URLSearchParams({ username: "maar@example.com", password: "a long password" }) });
    assert.equal(login.status, 200);
  });

  it("come by invitations, whose links are made again", async () => {
    const { group_id: id } = await bench.server.call("Ada", "POST", "/user_groups/create", { name: "newcomers", description: "", members: [] });
    const ada = await as("Ada", "#invite");
    await fillIn(ada, "Email addresses", "eva@example.com");
    await clickText(ada, "dialog summary", "More");
    await chooseFrom(ada, "Groups", "newc", "newcomers");
    await fillIn(ada, "Welcome message", "Hello Eva");
    await submit(ada, "Invite");
    await untilText(ada, "dialog [role=status]", "The people are invited");
    const links = async () => {
      const { messages } = await bench.server.call("Ada", "GET", "/messages", { anchor: "newest", num_before: 10, num_after: 0, narrow: [["is", "dm"]], apply_markdown: false });
      return messages.flatMap(({ content }) => content.match(/http\S+\/join\/\w+/g) ?? []);
    };
    await eventually(async () => assert.equal((await links()).length, 1));
    await clickButton(ada, "New link for eva@example.com");
    await untilToast(ada, "A new link was created");
    await eventually(async () => assert.equal((await links()).length, 2));
    const [old, next] = await links();
    assert.notEqual(old, next);
    const page = await bench.open();
    await page.goto(next);
    for (const [name, value] of [["full_name", "Eva"], ["password", "correct horse"]]) await typeInto(page, `#${name}`, value);
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
    const { user_id: eva } = await userNamed("Eva");
    await eventually(async () => assert.deepEqual((await bench.server.call("Ada", "GET", `/user_groups/${id}/members`)).members, [eva]));
  });
});

describe("the card of a person", () => {
  it("has the profile fields that are for cards, with links to accounts elsewhere", async () => {
    const field = (params) => bench.server.call("Ada", "POST", "/realm/profile_fields", params);
    const account = JSON.stringify({ subtype: "custom", url_pattern: "https://code.example/%(username)s" });
    const { id: code } = await field({ name: "Code", field_type: 7, field_data: account, display_in_profile_summary: true });
    const { id: desk } = await field({ name: "Desk", field_type: 1 });
    await bench.server.call("Cleo", "PATCH", "/users/me/profile_data", { data: [{ id: code, value: "cleo" }, { id: desk, value: "by the door" }] });
    const bob = await as("Bob");
    await clickButton(bob, "Card of Cleo");
    const lines = (list) => [...list.children].map((line) => line.querySelector("a")?.href ?? line.textContent);
    await untilEqual(bob, ".card dl", lines, ["Code", "https://code.example/cleo"]);
    await untilFocus(bob, ".card .menu button");
    await clickText(bob, ".card button", "Profile");
    await untilEqual(bob, "dialog dl", (list) => [...list.children].slice(0, 4).map((line) => line.textContent), ["Code", "cleo", "Desk", "by the door"]);
  });
});

describe("bots", () => {
  it("are changed, given to others, and brought back", async () => {
    const { user_id: id } = await bench.server.call("Bob", "POST", "/bots", { full_name: "Relay", short_name: "relay", bot_type: 3, payload_url: '"http://127.0.0.1:9/one"' });
    const bob = await as("Bob", "#settings/your-bots");
    await clickButton(bob, "Edit Relay");
    await fillIn(bob, "Name", "Relay two");
    await fillIn(bob, "Address to post messages to", "http://127.0.0.1:9/two");
    await change(bob, "Format", 2);
    await submit(bob, "Save");
    const record = async () => (await fetched("Ada", "realm_bot")).realm_bots.find((bot) => bot.user_id === id);
    await eventually(async () => {
      const { full_name: name, services: [service] } = (await fetched("Bob", "realm_bot")).realm_bots.find((bot) => bot.user_id === id);
      assert.deepEqual([name, service.base_url, service.interface], ["Relay two", "http://127.0.0.1:9/two", 2]);
    });
    const ada = await as("Ada", "#organization/bot-list-admin");
    await clickButton(ada, "Edit Relay two");
    await chooseFrom(ada, "Owner", "cle", "Cleo");
    await change(ada, "Role", 600);
    await submit(ada, "Save");
    await clickText(ada, "dialog button", "Give");
    await eventually(async () => assert.deepEqual([(await record()).owner_id, (await userNamed("Relay two")).role], [idOf("Cleo"), 600]));
    await clickButton(ada, "Deactivate Relay two");
    await clickText(ada, "dialog.dialog--small button", "Cancel");
    assert.equal((await record()).is_active, true);
    await clickButton(ada, "Deactivate Relay two");
    await clickText(ada, "dialog.dialog--small .button--danger", "Deactivate");
    await untilText(ada, "dialog .row", "deactivated");
    await clickButton(ada, "Reactivate Relay two");
    await eventually(async () => assert.equal((await record()).is_active, true));
  });

  it("write what other programs say, some of their events", async () => {
    const bob = await as("Bob", "#integrations");
    await untilText(bob, "dialog .programs .row", "Grafana");
    await typeInto(bob, "dialog [aria-label='Filter programs']", "github");
    await until(bob, () => document.querySelectorAll("dialog .programs .row").length === 1);
    await clickText(bob, "dialog .programs button", "GitHub");
    await submit(bob, "Next");
    await untilText(bob, "dialog h2", "Webhook of GitHub");
    await chooseFrom(bob, "Channel", "desi", "design");
    await clickText(bob, "dialog summary", "Only some events");
    await change(bob, "fork");
    const address = new URL(await onElement(bob, "dialog [aria-label=Address]", (area) => area.value));
    assert.equal(address.pathname, "/api/v1/external/github");
    assert.equal(address.searchParams.get("only_events"), '["fork"]');
    for (const event of ["commit_comment", "fork"]) {
      const body = readFileSync(join(ROOT, `tests/api/integrations/github/${event}.json`), "utf8");
      const { status } = await fetch(address, { method: "POST", headers: { "Content-Type": "application/json", "X-GitHub-Event": event }, body });
      assert.equal(status, 200);
    }
    const { messages } = await bench.server.call("Bob", "GET", "/messages", { anchor: "newest", num_before: 5, num_after: 0, narrow: [["channel", "design"], ["sender", "github-bot@" + (await fetched("Bob", "realm_bot")).realm_bots[0].email.split("@")[1]]] });
    assert.deepEqual(messages.map(({ content }) => /forked/.test(content)), [true]);
    await eventually(async () => assert.equal((await fetched("Bob", "realm_bot")).realm_bots.find((bot) => bot.full_name === "GitHub").bot_type, 2));
  });
});

describe("groups", () => {
  it("are made of whole channels, joined and left, and closed to others", async () => {
    const cleo = await as("Cleo", "#groups/new");
    await fillIn(cleo, "Name", "designers");
    await typeInto(cleo, "dialog [aria-label=Members]", "#desi");
    await untilText(cleo, "dialog .completion__label", "#design");
    await cleo.keyboard.press("Enter");
    await untilText(cleo, "dialog .pill", "Bob");
    await submit(cleo, "Create");
    await untilText(cleo, "dialog h3", "designers");
    const members = async () => (await groupNamed("designers")).members.toSorted((a, b) => a - b);
    await eventually(async () => assert.deepEqual(await members(), [idOf("Ada"), idOf("Bob"), idOf("Cleo")].toSorted((a, b) => a - b)));
    const bob = await as("Bob", "#groups/all");
    await clickButton(bob, "Leave designers");
    await eventually(async () => assert.ok(!(await members()).includes(idOf("Bob"))));
    await until(bob, () => !document.querySelector("[aria-label='Leave designers'], [aria-label='Join designers']"));
    const everybody = (await groupNamed("role:members")).id;
    await bench.server.call("Cleo", "PATCH", `/user_groups/${(await groupNamed("designers")).id}`, { can_join_group: { new: everybody } });
    await clickButton(bob, "Join designers");
    await eventually(async () => assert.ok((await members()).includes(idOf("Bob"))));
    await clickText(bob, "dialog .row a", "designers");
    await untilText(bob, "dialog h3", "Permissions");
    await untilAllEqual(bob, "dialog select", (all) => all.map(({ disabled }) => disabled), [true, true, true, true, true, true]);
    await untilAllEqual(bob, "dialog [aria-label='Add people'], dialog [aria-label^='Remove']", (all) => all.some((one) => one.checkVisibility()), false);
    // What is written stays while others change the group.
    await go(cleo, `#groups/${(await groupNamed("designers")).id}/designers/general`);
    await fillIn(cleo, "Description", "They dra");
    await bench.server.call("Bob", "POST", `/user_groups/${(await groupNamed("designers")).id}/members`, { delete: [idOf("Bob")] });
    await until(cleo, () => !document.querySelector("dialog [aria-label='Remove Bob']"));
    await untilAllEqual(cleo, "dialog input", (inputs) => inputs[1].value, "They dra");
  });
});

describe("a name that was changed", () => {
  it("can be changed back on the same page, of a person and of a group", async () => {
    const id = await bench.server.person("Kuno");
    const { group_id: group } = await bench.server.call("Ada", "POST", "/user_groups/create", { name: "rowers", description: "", members: [] });
    const ada = await as("Ada", `#user/${id}`);
    await clickText(ada, "dialog button", "Edit");
    for (const name of ["Udo", "Kuno"]) {
      await fillIn(ada, "Name", name);
      await submit(ada, "Save");
      await untilToast(ada, "Saved.");
      await untilText(ada, ".people .side-item__name", name);
    }
    assert.ok(await userNamed("Kuno"));
    await go(ada, "#inbox");
    await until(ada, () => !document.querySelector("dialog"));
    await go(ada, `#groups/${group}/rowers/general`);
    await untilText(ada, "dialog h3", "rowers");
    for (const name of ["sculls", "rowers"]) {
      await fillIn(ada, "Name", name);
      await submit(ada, "Save");
      await untilToast(ada, "Saved.");
      await untilText(ada, "dialog h3", name);
    }
    assert.ok(await groupNamed("rowers"));
  });
});

describe("a mention of a group", () => {
  it("has the present name of the group, and opens it", async () => {
    const { group_id: id } = await bench.server.call("Ada", "POST", "/user_groups/create", { name: "sailors", description: "", members: [idOf("Bob")] });
    await bench.server.send("Ada", "general", "crew", "Ahoy @*sailors* and @_*sailors*");
    const bob = await as("Bob", await at("general", "crew"));
    const untilNamed = (...names) => untilAllEqual(bob, ".user-group-mention", (all) => all.map((one) => one.textContent), names);
    await untilNamed("@sailors", "sailors");
    await bench.server.call("Ada", "PATCH", `/user_groups/${id}`, { name: "pirates" });
    await untilNamed("@pirates", "pirates");
    await click(bob, ".user-group-mention");
    await untilEqual(bob, "dialog", (dialog) => [location.hash, dialog.textContent.includes("pirates")], [`#groups/${id}`, true]);
  });
});

describe("channels", () => {
  it("are made in a folder, with people of a group, and for new people", async () => {
    await bench.server.call("Ada", "POST", "/channel_folders/create", { name: "Trips", description: "" });
    await bench.server.call("Ada", "POST", "/user_groups/create", { name: "travellers", description: "", members: [idOf("Bob"), idOf("Cleo")] });
    const ada = await as("Ada", "#channels/new");
    await fillIn(ada, "Name", "lisbon");
    await typeInto(ada, "dialog [aria-label=Members]", "trave");
    await untilText(ada, "dialog .completion__label", "travellers");
    await ada.keyboard.press("Enter");
    await untilText(ada, "dialog .pill", "Cleo");
    await clickText(ada, "dialog summary", "More");
    await change(ada, "Folder", (await fetched("Ada", "channel_folders")).channel_folders[0].id);
    await change(ada, "Topics", "disable_empty_topic");
    await fillIn(ada, "Days for which messages are kept", "40");
    await change(ada, "New people are subscribed to it");
    await submit(ada, "Create");
    await untilText(ada, ".header h1", "lisbon");
    const { stream_id: id } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "lisbon" });
    const { stream } = await bench.server.call("Ada", "GET", `/streams/${id}`);
    assert.deepEqual([stream.message_retention_days, stream.topics_policy, stream.folder_id > 0], [40, "disable_empty_topic", true]);
    await eventually(async () => assert.equal((await bench.server.call("Ada", "GET", `/streams/${id}/members`)).subscribers.length, 3));
    const defaults = async () => (await fetched("Ada", "default_streams")).realm_default_streams;
    await eventually(async () => assert.ok((await defaults()).includes(id)));
    await go(ada, `#channels/${id}/lisbon/general`);
    await change(ada, "New people are subscribed to it");
    await eventually(async () => assert.ok(!(await defaults()).includes(id)));
  });

  it("stand in folders with descriptions, which come back", async () => {
    const ada = await as("Ada", "#organization/channel-folders");
    await clickText(ada, "dialog button", "New folder");
    await fillIn(ada, "Name", "Fairs");
    await fillIn(ada, "Description", "Where we stand");
    await submit(ada, "Create");
    await untilText(ada, "dialog .row", "Where we stand");
    await clickButton(ada, "Delete Fairs");
    await clickText(ada, "dialog.dialog--small button", "Delete");
    await untilText(ada, "dialog h3", "Deleted");
    await clickText(ada, "dialog .row button", "Restore");
    await until(ada, () => ![...document.querySelectorAll("dialog h3")].some((head) => head.textContent === "Deleted"));
    await ada.waitForSelector("[aria-label='Edit Fairs']");
  });
});

describe("open invitations", () => {
  it("are listed while others make and revoke them", async () => {
    const ada = await as("Ada", "#invite");
    await untilText(ada, "dialog button", "Create link");
    await bench.server.call("Ada", "POST", "/invites/multiuse", {});
    await untilText(ada, "dialog .row", "Link for several people");
    for (const { id } of (await bench.server.call("Ada", "GET", "/invites")).invites) await bench.server.call("Ada", "DELETE", `/invites/multiuse/${id}`);
    await until(ada, () => !document.querySelector("dialog .row"));
  });

  it("name the addresses that cannot be invited, and invite the others once", async () => {
    const ada = await as("Ada", "#invite");
    ada.expected.push(/400/);
    await fillIn(ada, "Email addresses", "gia@example.com, nowhere");
    await submit(ada, "Invite");
    await untilText(ada, "dialog .problem", "These addresses cannot be invited.");
    await untilText(ada, "dialog .row", "nowhere");
    await fillIn(ada, "Email addresses", "gia@example.com, bob@example.com");
    await submit(ada, "Invite");
    await untilText(ada, "dialog .problem", "These addresses were not invited:");
    await untilText(ada, "dialog .row", "Already has an account.");
    assert.equal(await onField(ada, "Email addresses", (emails) => emails.value), "bob@example.com");
    const { invites } = await bench.server.call("Ada", "GET", "/invites");
    assert.deepEqual(invites.map(({ email }) => email), ["gia@example.com"]);
    await bench.server.call("Ada", "DELETE", `/invites/${invites[0].id}`);
  });

  it("are revoked after a question, each under its name", async () => {
    await bench.server.call("Ada", "POST", "/invites", { invitee_emails: "flo@example.com", stream_ids: [] });
    await bench.server.call("Ada", "POST", "/invites/multiuse", { invite_expires_in_minutes: "null" });
    const ada = await as("Ada", "#invite");
    await untilAllEqual(ada, "dialog .row [aria-label^='Revoke']", (buttons) => buttons.map((one) => one.ariaLabel).toSorted(), ["Revoke Link for several people. As Member. Does not expire", "Revoke flo@example.com"]);
    const open = async () => (await bench.server.call("Ada", "GET", "/invites")).invites.length;
    await clickButton(ada, "Revoke flo@example.com");
    await clickText(ada, "dialog.dialog--small button", "Cancel");
    assert.equal(await open(), 2);
    await clickButton(ada, "Revoke flo@example.com");
    await clickText(ada, "dialog.dialog--small .button--danger", "Revoke");
    await eventually(async () => assert.equal(await open(), 1));
    await untilAllEqual(ada, "dialog .row [aria-label^='Revoke']", (buttons) => buttons.length, 1);
  });
});

describe("people", () => {
  it("see before they write where direct messages are not allowed", async () => {
    const allow = async (setting, group) => bench.server.call("Ada", "PATCH", "/realm", { [setting]: { new: (await groupNamed(group)).id } });
    await allow("direct_message_permission_group", "role:nobody");
    const bob = await as("Bob", `#narrow/dm/${idOf("Cleo")}-dm`);
    const says = (words) => until(bob, (text) => {
      const banner = document.querySelector(".composer__banner");
      return (banner.hidden ? "" : banner.textContent) === text && document.querySelector(".composer__send").disabled === (text !== "");
    }, words);
    await says("Direct messages are disabled in this organization.");
    await go(bob, `#narrow/dm/${idOf("Bob")}-notes`);
    await says("");
    await go(bob, `#narrow/dm/${idOf("Cleo")}-dm`);
    await allow("direct_message_permission_group", "role:owners");
    await says("This conversation does not include anyone who can authorize it.");
    await allow("direct_message_permission_group", "role:everyone");
    await says("");
    await allow("direct_message_initiator_group", "role:owners");
    await says("You do not have permission to start direct conversations.");
    await allow("direct_message_initiator_group", "role:everyone");
    await bench.server.direct("Cleo", ["Bob"], "You may answer");
    await allow("direct_message_initiator_group", "role:owners");
    await untilText(bob, ".message-row", "You may answer");
    await says("");
    await allow("direct_message_initiator_group", "role:everyone");
  });

  it("see the channels of others in their profiles, but not those that they cannot see", async () => {
    await bench.server.channel("painting", ["Bob"]);
    await bench.server.call("Bob", "POST", "/channels/create", { name: "surprise", subscribers: [idOf("Bob")], invite_only: true });
    const cleo = await as("Cleo", `#user/${idOf("Bob")}`);
    const channels = (links) => links.map((link) => link.textContent).filter((name) => ["general", "painting", "surprise"].includes(name));
    await untilAllEqual(cleo, "dialog .facts a", channels, ["general", "painting"]);
    await clickText(cleo, "dialog .facts a", "painting");
    await untilText(cleo, ".header__channel", "painting");
  });
});

describe("a mention of a person who is not in the channel", () => {
  it("is pointed out, and adds them on request", async () => {
    const id = await bench.server.channel("attic", ["Ada"]);
    const ada = await as("Ada", await at("attic", "boxes"));
    await typeInto(ada, ".composer .editor__text", "Look @**Cleo** ");
    await untilText(ada, ".composer__banner", "not notified: Cleo");
    await clickText(ada, ".composer__banner button", "Add");
    await eventually(async () => assert.ok((await bench.server.call("Ada", "GET", `/streams/${id}/members`)).subscribers.includes(idOf("Cleo"))));
    await until(ada, () => document.querySelector(".composer__banner").hidden);
  });
});

describe("a mention of a guest", () => {
  it("says that they are one", async () => {
    const id = await bench.server.person("Gita");
    await bench.server.call("Ada", "PATCH", `/users/${id}`, { role: 600 });
    await bench.server.call("Ada", "PATCH", "/realm", { enable_guest_user_indicator: true });
    await bench.server.send("Ada", "general", "visit", "Welcome @**Gita**, says @**Bob**");
    const ada = await as("Ada", await at("general", "visit"));
    await untilAllEqual(ada, ".user-mention", (all) => all.map((one) => [one.textContent, one.dataset.mark ?? null, getComputedStyle(one, "::after").content === "none"]), [["@Gita", " (guest)", false], ["@Bob", null, true]]);
  });
});

describe("a mention of a bot, or of a group of the system", () => {
  it("has an icon, or a name in the language of the reader", async () => {
    const { user_id: id } = await bench.server.call("Bob", "POST", "/bots", { full_name: "Courier", short_name: "courier" });
    await bench.server.send("Ada", "general", "machines", "Thank @_**Courier** and @_**Bob**, @_*role:administrators*");
    const cleo = await as("Cleo", await at("general", "machines"));
    const mentions = () => onElements(cleo, ".content :is(.user-mention, .user-group-mention)", (all) => all.map((one) => [one.textContent, one.title, one.querySelector(".icon") !== null]));
    await eventually(async () => assert.deepEqual(await mentions(), [["Courier", "bot", true], ["Bob", "", false], ["Administrators", "", false]]));
    await click(cleo, `[data-user-id="${id}"].user-mention`);
    await untilText(cleo, ".card", "Courier");
    await bench.server.call("Cleo", "PATCH", "/settings", { default_language: "de" });
    await untilEqual(cleo, ".content .user-group-mention", (one) => one.textContent, "Administratoren");
    await bench.server.call("Cleo", "PATCH", "/settings", { default_language: "en" });
    await untilEqual(cleo, ".content .user-group-mention", (one) => one.textContent, "Administrators");
  });
});

describe("profile fields", () => {
  it("link to any site, and ask to be filled in", async () => {
    const ada = await as("Ada", "#organization/profile-field-settings");
    await clickText(ada, "dialog button", "New field");
    await change(ada, "Kind", 7);
    await change(ada, "Website", "custom");
    await fillIn(ada, "Name", "Forge");
    await fillIn(ada, "Address", "https://forge.example.com/%(username)s");
    await change(ada, "Ask people to fill in this field");
    await submit(ada, "Add");
    await untilText(ada, "dialog .row", "Forge");
    const field = (await fetched("Ada", "custom_profile_fields")).custom_profile_fields.find(({ name }) => name === "Forge");
    assert.deepEqual([field.required, JSON.parse(field.field_data)], [true, { subtype: "custom", url_pattern: "https://forge.example.com/%(username)s" }]);
    const bob = await as("Bob", "#settings/profile");
    await untilText(bob, "dialog label", "Forge (please fill in)");
  });

  it("that people cannot change are fixed for them, also a list of people, and not for administrators", async () => {
    const fixed = { field_type: 6, editable_by_user: false, hint: "Set by the office" };
    const { id } = await bench.server.call("Ada", "POST", "/realm/profile_fields", { name: "Mentors", ...fixed });
    const { id: badge } = await bench.server.call("Ada", "POST", "/realm/profile_fields", { name: "Badge", field_type: 1, editable_by_user: false });
    await bench.server.call("Ada", "PATCH", `/users/${idOf("Bob")}`, { profile_data: [{ id, value: [idOf("Cleo")] }] });
    const bob = await as("Bob", "#settings/profile");
    await untilText(bob, "dialog .pill", "Cleo");
    await untilText(bob, "dialog .field__hint", "Set by the office");
    assert.deepEqual([await onElement(bob, "dialog [aria-label=Mentors]", (input) => input.disabled), await countOf(bob, "dialog .pill button")], [true, 0]);
    assert.equal(await onField(bob, "Badge", (input) => input.disabled), true);
    const ada = await as("Ada", "#settings/profile");
    await untilEqual(ada, "dialog [aria-label=Mentors]", (input) => input.disabled, false);
    await fillIn(ada, "Badge", "7");
    await ada.keyboard.press("Tab");
    await untilToast(ada, "Saved.");
    for (const field of [id, badge]) await bench.server.call("Ada", "DELETE", `/realm/profile_fields/${field}`);
  });

  it("keep what people chose if a choice gets another text, and ask before a choice is deleted", async () => {
    const field_data = { 0: { text: "Tee", order: "1" }, 1: { text: "Coffee", order: "2" } };
    const { id } = await bench.server.call("Ada", "POST", "/realm/profile_fields", { name: "Drink", field_type: 3, field_data });
    await bench.server.call("Bob", "PATCH", "/users/me/profile_data", { data: [{ id, value: "0" }] });
    const chosen = async () => (await userNamed("Bob")).profile_data[id]?.value;
    const ada = await as("Ada", "#organization/profile-field-settings");
    const save = async (text) => {
      await clickButton(ada, "Edit Drink");
      await onField(ada, "Choices", (area, value) => { area.value = value; }, text);
      await submit(ada, "Save");
    };
    const untilClosed = () => until(ada, () => document.querySelectorAll("dialog").length === 1);
    await save("Tea\nCoffee");
    await untilClosed();
    assert.equal(await chosen(), "0");
    await save("Coffee");
    // The event with the text "Tea" may come later than the reply.
    await untilText(ada, "dialog h2", "Delete Te");
    await clickText(ada, "dialog.dialog--small .button--danger", "Delete");
    await untilClosed();
    assert.equal(await chosen(), undefined);
    await bench.server.call("Ada", "DELETE", `/realm/profile_fields/${id}`);
  });

  it("of accounts on known sites have no hint of one's own", async () => {
    const ada = await as("Ada", "#organization/profile-field-settings");
    await clickText(ada, "dialog button", "New field");
    await onField(ada, "Hint", (input) => input.checkVisibility() || Promise.reject(new Error("there is no hint")));
    await change(ada, "Kind", 7);
    assert.deepEqual([await onField(ada, "Name", (input) => input.checkVisibility()), await onField(ada, "Hint", (input) => input.checkVisibility())], [false, false]);
    await change(ada, "Website", "custom");
    assert.deepEqual([await onField(ada, "Name", (input) => input.checkVisibility()), await onField(ada, "Hint", (input) => input.checkVisibility())], [true, true]);
  });

  it("show texts as messages do", async () => {
    const { id } = await bench.server.call("Ada", "POST", "/realm/profile_fields", { name: "Motto", field_type: 2 });
    await bench.server.call("Bob", "PATCH", "/users/me/profile_data", { data: [{ id, value: "So $$x^2$$ :tada: [out](https://example.com/)" }] });
    const ada = await as("Ada", `#user/${idOf("Bob")}`);
    await untilText(ada, "dialog .facts", "🎉");
    assert.deepEqual(await onElements(ada, "dialog .facts .content a", (links) => links.map(({ target, rel }) => [target, rel])), [["_blank", "noopener noreferrer"]]);
    assert.deepEqual([await countOf(ada, "dialog .facts math"), await countOf(ada, "dialog .facts .katex-html")], [1, 0]);
  });
});
