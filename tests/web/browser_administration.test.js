/** What administrators do: channels that are archived, rules, groups in permissions, domains, webhooks, invitations; in a headless
 * browser against the real server. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { choose, chooseFrom, clickButton, clickText, countOf, eventually, fillIn, intercept, onElement, onElements, onField, openPage, pressOn, setUp, typeInto, until, untilAllEqual, untilEqual, untilText, untilToast } from "./harness.js";

const bench = setUp();
const { as, go } = bench;

/** Some of the state, as the server has it now. */
const fetched = async (name, ...parts) => bench.server.call(name, "POST", "/register", { fetch_event_types: parts.map((part) => part.replace(/^realm_(?!user_groups|domains|linkifiers|bot).*/, "realm")), event_types: ["restart"] });
const realm = async () => fetched("Ada", "realm");

describe("moving messages and resolving topics", () => {
  it("are offered where they are allowed, by each way", async () => {
    const id = await bench.server.channel("files", ["Ada", "Bob"]);
    const message = await bench.server.send("Ada", "files", "drawer", "Keep this here");
    const { realm_user_groups: groups } = await fetched("Ada", "realm_user_groups");
    const allow = (name) => {
      const { id: group } = groups.find((one) => one.name === name);
      const settings = ["can_move_messages_between_channels_group", "can_move_messages_between_topics_group", "can_resolve_topics_group"];
      return bench.server.call("Ada", "PATCH", "/realm", Object.fromEntries(settings.map((setting) => [setting, { new: group }])));
    };
    const bob = await as("Bob", `#narrow/channel/${id}-files/topic/drawer`);
    await untilText(bob, ".message-row", "Keep this here");
    await bob.waitForSelector(".header [aria-label='Mark as resolved']");
    const fields = async (wanted) => {
      await pressOn(bob, `[data-id="${message.id}"]`, "m");
      await untilAllEqual(bob, "dialog .field > label", (labels) => labels.map((label) => label.textContent.trim()), wanted);
      // Escape would close the choices of the topic first, if they are there yet.
      await clickText(bob, "dialog button", "Cancel");
      await until(bob, () => !document.querySelector("dialog"));
    };
    const offered = ["Mark as resolved", "Rename", "Move messages"];
    const menu = async (wanted) => {
      await untilEqual(bob, "[role=menu]", (element, names) => [...element.querySelectorAll("[role=menuitem]")].map((item) => names.find((name) => item.textContent.includes(name))).filter(Boolean), wanted, offered);
      await bob.keyboard.press("Escape");
      await until(bob, () => !document.querySelector("[role=menu]"));
    };
    await fields(["Channel", "Topic", "What to move"]);
    await allow("role:administrators");
    await until(bob, () => document.querySelector(".header__topic") && !document.querySelector(".header [aria-label='Mark as resolved']"));
    await clickButton(bob, "Actions on the topic");
    await menu([]);
    // The key opens no dialog, which would take the next one.
    await pressOn(bob, `[data-id="${message.id}"]`, "m");
    await pressOn(bob, `[data-id="${message.id}"]`, "i");
    await menu([]);
    // The channel can allow one of them.
    await bench.server.call("Ada", "PATCH", `/streams/${id}`, { can_move_messages_within_channel_group: { new: { direct_members: [bench.server.accounts.Bob.user_id], direct_subgroups: [] } } });
    await bench.server.send("Ada", "files", "drawer", "Now you may");
    await untilText(bob, ".message-row", "Now you may");
    await clickButton(bob, "Actions on the topic");
    await menu(["Rename", "Move messages"]);
    await fields(["Topic", "What to move"]);
    await allow("role:members");
    await bob.waitForSelector(".header [aria-label='Mark as resolved']");
    await clickButton(bob, "Actions on the topic");
    await menu(offered);
  });

  it("keep their topic where it cannot be changed, whatever was written for another channel", async () => {
    const from = await bench.server.channel("attic", ["Ada", "Bob"]);
    const to = await bench.server.channel("cellar", ["Ada", "Bob"]);
    const { id } = await bench.server.send("Ada", "attic", "trunk", "Old letters");
    const { realm_user_groups: groups } = await fetched("Ada", "realm_user_groups");
    const may = (name) => bench.server.call("Ada", "PATCH", "/realm", { can_move_messages_between_topics_group: { new: groups.find((one) => one.name === name).id } });
    await may("role:administrators");
    await bench.server.call("Ada", "PATCH", `/streams/${to}`, { can_move_messages_within_channel_group: { new: { direct_members: [bench.server.accounts.Bob.user_id], direct_subgroups: [] } } });
    const bob = await as("Bob", `#narrow/channel/${from}-attic/topic/trunk`);
    await untilText(bob, ".message-row", "Old letters");
    await pressOn(bob, `[data-id="${id}"]`, "m");
    const topic = () => onField(bob, "Topic", (input) => [input.value, input.disabled]);
    assert.deepEqual(await topic(), ["trunk", true]);
    await chooseFrom(bob, "Channel", "cell", "cellar");
    await fillIn(bob, "Topic", "chest");
    await chooseFrom(bob, "Channel", "att", "attic");
    assert.deepEqual(await topic(), ["trunk", true]);
    await chooseFrom(bob, "Channel", "cell", "cellar");
    assert.deepEqual(await topic(), ["chest", false]);
    await clickText(bob, "dialog button[type=submit]", "Move");
    await untilToast(bob, "The messages have been moved.");
    const { message } = await bench.server.call("Bob", "GET", `/messages/${id}`);
    assert.deepEqual([message.stream_id, message.subject], [to, "chest"]);
    await may("role:everyone");
  });
});

describe("channels", () => {
  it("are kept for a time, archived, and brought back", async () => {
    await bench.server.channel("fair", ["Ada", "Bob"]);
    const { stream_id: id } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "fair" });
    const ada = await as("Ada", `#channels/${id}/fair/general`);
    const stored = async () => (await bench.server.call("Ada", "GET", `/streams/${id}`)).stream;
    await choose(ada, "Messages are kept for", 90);
    await clickText(ada, "dialog.dialog--small button", "Delete old messages");
    await eventually(async () => assert.equal((await stored()).message_retention_days, 90));
    await choose(ada, "Messages are kept for", "other");
    await onElement(ada, "dialog input[type=number]", (input) => { input.value = "12"; });
    await clickText(ada, "dialog.dialog--small button", "Save");
    await clickText(ada, "dialog.dialog--small button", "Delete old messages");
    await eventually(async () => assert.equal((await stored()).message_retention_days, 12));
    await choose(ada, "Messages are kept for", "realm_default");
    await eventually(async () => assert.equal((await stored()).message_retention_days, null));
    // Where the organization deletes messages, so does its default.
    await choose(ada, "Messages are kept for", "unlimited");
    await eventually(async () => assert.equal((await stored()).message_retention_days, -1));
    await bench.server.call("Ada", "PATCH", "/realm", { message_retention_days: 30 });
    await ada.reload();
    await choose(ada, "Messages are kept for", "realm_default");
    await clickText(ada, "dialog.dialog--small button", "Cancel");
    await eventually(async () => assert.equal(await onField(ada, "Messages are kept for", (list) => list.value), "unlimited"));
    assert.equal((await stored()).message_retention_days, -1);
    await bench.server.call("Ada", "PATCH", "/realm", { message_retention_days: '"unlimited"' });
    await clickText(ada, "dialog button", "Archive channel");
    await clickText(ada, "dialog.dialog--small button", "Archive");
    await until(ada, () => location.hash === "#channels/subscribed");
    await go(ada, "#channels/archived");
    await clickText(ada, "dialog .row a", "fair");
    await clickText(ada, "dialog button", "Restore from the archive");
    await eventually(async () => assert.equal((await stored()).is_archived, false));
    await go(ada, "#channels/archived");
    await untilText(ada, "dialog .empty", "There is no such channel");
  });
});

describe("the organization", () => {
  it("has limits of time, and channels for notices", async () => {
    const ada = await as("Ada", "#organization/organization-settings");
    await choose(ada, "Authors can delete their messages for", 3600);
    await eventually(async () => assert.equal((await realm()).realm_message_content_delete_limit_seconds, 3600));
    await choose(ada, "Messages can be moved to other channels for", "unlimited");
    await eventually(async () => assert.equal((await realm()).realm_move_messages_between_streams_limit_seconds, null));
    const id = (await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "design" })).stream_id;
    await chooseFrom(ada, "New channels are announced in", "desi", "design");
    await eventually(async () => assert.equal((await realm()).realm_new_stream_announcements_stream_id, id));
    await untilEqual(ada, "dialog [aria-label='New channels are announced in']", (input) => input.value, "design");
    // Members see the rules, and cannot change them.
    const bob = await as("Bob", "#organization/organization-settings");
    assert.ok(await onField(bob, "Messages are kept for", (control) => control.disabled));
    assert.equal(await countOf(bob, "dialog [aria-label='New channels are announced in']"), 0);
  });

  it("takes email addresses of some domains", async () => {
    const ada = await as("Ada", "#organization/allowed-domains");
    await typeInto(ada, "dialog [aria-label=Domain]", "example.org");
    await clickText(ada, "dialog form button", "Add");
    await untilText(ada, "dialog .row", "example.org");
    await clickText(ada, "dialog .row button", "With subdomains");
    await untilText(ada, "dialog .row", "and its subdomains");
    await eventually(async () => assert.deepEqual((await fetched("Ada", "realm_domains")).realm_domains, [{ domain: "example.org", allow_subdomains: true }]));
    await clickButton(ada, "Remove example.org");
    await untilText(ada, "dialog", "There are no domains");
  });

  it("changes linkifiers", async () => {
    await bench.server.call("Ada", "POST", "/realm/filters", { pattern: "#(?P<id>[0-9]+)", url_template: "https://example.com/{id}" });
    const ada = await as("Ada", "#organization/linkifier-settings");
    await clickButton(ada, "Change #(?P<id>[0-9]+)");
    await ada.waitForSelector("dialog.dialog--small input");
    await onElements(ada, "dialog.dialog--small input", (inputs) => { inputs[1].value = "https://example.com/issues/{id}"; });
    await clickText(ada, "dialog.dialog--small button", "Save");
    await untilText(ada, "dialog .row", "https://example.com/issues/{id}");
  });
});

describe("permissions", () => {
  it("name several groups and people, and groups have groups", async () => {
    const { group_id: id } = await bench.server.call("Ada", "POST", "/user_groups/create", { name: "editors", description: "They edit", members: [bench.server.accounts.Bob.user_id] });
    const { group_id: inner } = await bench.server.call("Ada", "POST", "/user_groups/create", { name: "interns", description: "", members: [bench.server.accounts.Cleo.user_id] });
    const ada = await as("Ada", "#organization/organization-permissions");
    await choose(ada, "Create bots", "several");
    await ada.waitForSelector("dialog.dialog--small .picker");
    await chooseFrom(ada, "Groups", "edit", "editors");
    await chooseFrom(ada, "People", "cle", "Cleo");
    await clickText(ada, "dialog.dialog--small button", "Save");
    await eventually(async () => {
      const value = (await realm()).realm_can_create_bots_group;
      assert.ok(value.direct_subgroups?.includes(id) && value.direct_members.includes(bench.server.accounts.Cleo.user_id), JSON.stringify(value));
    });
    await until(ada, () => [...document.querySelectorAll("dialog option:checked")].some((option) => option.textContent.includes("editors, Cleo")));
    await go(ada, `#groups/${id}/editors/general`);
    await typeInto(ada, "dialog [aria-label='Add groups']", "inter");
    await untilText(ada, "dialog .completion__label", "interns");
    await ada.keyboard.press("Enter");
    await onElements(ada, "dialog form", (forms) => forms.find((form) => form.querySelector("[aria-label='Add groups']")).requestSubmit());
    const group = async () => (await fetched("Ada", "realm_user_groups")).realm_user_groups.find((one) => one.id === id);
    await eventually(async () => assert.deepEqual((await group()).direct_subgroup_ids, [inner]));
    await choose(ada, "Who can mention it", (await group()).can_manage_group.direct_subgroups?.[0] ?? (await fetched("Ada", "realm_user_groups")).realm_user_groups.find(({ name }) => name === "role:moderators").id);
    await eventually(async () => assert.equal(typeof (await group()).can_mention_group, "number"));
    // The choice has a button of this name too, until the reply has come.
    await until(ada, () => !document.querySelector("dialog .pill"));
    await clickButton(ada, "Remove interns");
    await eventually(async () => assert.deepEqual((await group()).direct_subgroup_ids, []));
    // It cannot go while a permission names it.
    ada.expected.push(/400/);
    await clickText(ada, "dialog button", "Deactivate group");
    await clickText(ada, "dialog.dialog--small button", "Deactivate");
    await untilToast(ada, "Cannot deactivate user group in use");
    await bench.server.call("Ada", "PATCH", "/realm", { can_create_bots_group: { new: inner } });
    await clickText(ada, "dialog button", "Deactivate group");
    await clickText(ada, "dialog.dialog--small button", "Deactivate");
    await until(ada, () => location.hash === "#groups/all");
    await clickText(ada, "dialog .row button", "Reactivate");
    await eventually(async () => assert.equal((await group()).deactivated, false));
  });
});

describe("the name and the description of a group", () => {
  it("are saved also if nothing has changed", async () => {
    const { group_id: id } = await bench.server.call("Ada", "POST", "/user_groups/create", { name: "bakers", description: "They bake", members: [] });
    const ada = await as("Ada", `#groups/${id}/bakers/general`);
    await clickText(ada, "dialog button[type=submit]", "Save");
    await untilToast(ada, "Saved.");
  });
});

describe("people who are chosen for a group", () => {
  it("stay chosen if they cannot be added", async () => {
    const { group_id: id } = await bench.server.call("Ada", "POST", "/user_groups/create", { name: "readers", description: "", members: [] });
    const ada = await as("Ada", `#groups/${id}/readers/general`);
    ada.expected.push(/503/);
    let fails = true;
    await intercept(ada, (request) => fails && request.url().endsWith(`/user_groups/${id}/members`) && [503, { result: "error", msg: "Busy" }]);
    await typeInto(ada, "dialog [aria-label='Add people']", "Bo");
    await untilText(ada, "dialog .completion__label", "Bob");
    await ada.keyboard.press("Enter");
    await untilText(ada, "dialog .pill", "Bob");
    await clickText(ada, "dialog button[type=submit]", "Add");
    await untilToast(ada, "Busy");
    assert.equal(await countOf(ada, "dialog .pill"), 1);
    fails = false;
    await clickText(ada, "dialog button[type=submit]", "Add");
    await untilText(ada, "dialog .row", "Bob");
    await until(ada, () => !document.querySelector("dialog .pill"));
  });
});

describe("what the user may not do", () => {
  it("is not offered: adding people to a channel, taking others out of it, and adding emoji", async () => {
    const id = await bench.server.channel("balcony", ["Ada", "Bob"]);
    const { realm_user_groups: groups } = await fetched("Ada", "realm_user_groups");
    const allow = (name) => {
      const value = { new: groups.find((one) => one.name === name).id };
      return bench.server.call("Ada", "PATCH", "/realm", { can_add_subscribers_group: value, can_add_custom_emoji_group: value });
    };
    const isAdding = (page, wanted) => untilAllEqual(page, "dialog form.inline", (forms) => forms.some((form) => form.checkVisibility()), wanted);
    const bob = await as("Bob", `#channels/${id}/balcony/subscribers`);
    await untilAllEqual(bob, "dialog .row [aria-label^=Remove]", (buttons) => buttons.map((button) => button.ariaLabel), ["Remove Bob"]);
    await isAdding(bob, true);
    await go(bob, "#organization/emoji-settings");
    await untilText(bob, "dialog h2", "Emoji");
    await isAdding(bob, true);
    await allow("role:administrators");
    await go(bob, `#channels/${id}/balcony/subscribers`);
    await untilText(bob, "dialog .row", "Ada");
    await isAdding(bob, false);
    await go(bob, "#organization/emoji-settings");
    await untilText(bob, "dialog h2", "Emoji");
    await isAdding(bob, false);
    // The form follows while the section is open.
    await allow("role:members");
    await isAdding(bob, true);
  });

  it("is offered as soon as it is allowed, and no longer than that: taking people out of a channel", async () => {
    const tess = await bench.server.person("Tess");
    const id = await bench.server.channel("terrace", ["Ada", "Bob", "Tess"]);
    const page = await as("Tess", `#channels/${id}/terrace/subscribers`);
    const untilRemovable = (...names) => untilAllEqual(page, "dialog .row [aria-label^=Remove]", (buttons) => buttons.map((button) => button.ariaLabel), names.map((name) => `Remove ${name}`));
    const { realm_user_groups: groups } = await fetched("Ada", "realm_user_groups");
    const administrators = groups.find(({ name }) => name === "role:administrators").id;
    await untilRemovable("Tess");
    for (const setting of ["can_remove_subscribers_group", "can_administer_channel_group"]) {
      await bench.server.call("Ada", "PATCH", `/streams/${id}`, { [setting]: { new: { direct_members: [tess], direct_subgroups: [] } } });
      await untilRemovable("Ada", "Bob", "Tess");
      await bench.server.call("Ada", "PATCH", `/streams/${id}`, { [setting]: { new: administrators } });
      await untilRemovable("Tess");
    }
    await bench.server.call("Ada", "PATCH", `/users/${tess}`, { role: 200 });
    await untilRemovable("Ada", "Bob", "Tess");
    await bench.server.call("Ada", "PATCH", `/users/${tess}`, { role: 400 });
    await untilRemovable("Tess");
  });

  it("is offered as soon as it is allowed, and no longer than that: creating channels and groups", async () => {
    const { realm_user_groups: groups } = await fetched("Ada", "realm_user_groups");
    const allow = (name) => {
      const value = { new: groups.find((one) => one.name === name).id };
      return bench.server.call("Ada", "PATCH", "/realm", { can_create_public_channel_group: value, can_create_private_channel_group: value, can_create_groups: value });
    };
    const bob = await as("Bob", "#channels/all");
    for (const [view, text] of [["channels/all", "Create a channel"], ["groups/all", "Create a group"]]) {
      await go(bob, `#${view}`);
      const untilOffered = (is) => untilAllEqual(bob, "dialog .button--primary", (links, words) => links.some((link) => link.textContent === words && link.checkVisibility()), is, text);
      await untilOffered(true);
      for (const [name, is] of [["role:administrators", false], ["role:members", true]]) {
        await allow(name);
        await untilOffered(is);
      }
    }
  });

  it("is offered as soon as it is allowed, and no longer than that: changing a channel", async () => {
    const vera = await bench.server.person("Vera");
    const id = await bench.server.channel("porch", ["Ada", "Vera"]);
    const page = await as("Vera", `#channels/${id}/porch/general`);
    const isOffered = (fields) => fields.map((field) => !field.disabled && field.checkVisibility());
    const untilOffered = async (is) => {
      await untilAllEqual(page, "dialog form :is(input, textarea, button)", isOffered, [is, is, is]);
      await untilAllEqual(page, "dialog .button--danger", (buttons) => buttons.map((button) => button.textContent), is ? ["Archive channel"] : []);
    };
    await untilOffered(false);
    for (const [role, is] of [[200, true], [400, false]]) {
      await bench.server.call("Ada", "PATCH", `/users/${vera}`, { role });
      await untilOffered(is);
    }
  });

  it("is offered as soon as it is allowed, and no longer than that: the topics and the kind of a channel", async () => {
    const una = await bench.server.person("Una");
    const id = await bench.server.channel("loft", ["Ada", "Una"], { can_administer_channel_group: { direct_members: [una], direct_subgroups: [] } });
    const page = await as("Una", `#channels/${id}/loft/general`);
    const { realm_user_groups: groups } = await fetched("Ada", "realm_user_groups");
    const allow = (setting, name) => bench.server.call("Ada", "PATCH", "/realm", { [setting]: { new: groups.find((one) => one.name === name).id } });
    const untilFixed = (is) => eventually(async () => assert.deepEqual([await onField(page, "Folder", (list) => list.disabled), await onField(page, "Topics", (list) => list.disabled)], [false, is]));
    for (const [name, is] of [["role:administrators", true], ["role:members", false]]) {
      await allow("can_set_topics_policy_group", name);
      await untilFixed(is);
    }
    await go(page, `#channels/${id}/loft/permissions`);
    const untilKinds = (...kinds) => eventually(async () => assert.deepEqual(await onField(page, "Who can read it", (list) => [...list.options].map(({ value }) => value)), kinds));
    for (const [name, ...kinds] of [["role:administrators", "public"], ["role:members", "public", "private", "protected"]]) {
      await allow("can_create_private_channel_group", name);
      await untilKinds(...kinds);
    }
  });

  it("is offered as soon as it is allowed, and no longer than that: changing a group", async () => {
    const gus = await bench.server.person("Gus");
    const { group_id: id } = await bench.server.call("Ada", "POST", "/user_groups/create", { name: "gardeners", description: "", members: [] });
    const page = await as("Gus", `#groups/${id}/gardeners/general`);
    const administrators = (await fetched("Ada", "realm_user_groups")).realm_user_groups.find(({ name }) => name === "role:administrators").id;
    const set = (setting, value) => bench.server.call("Ada", "PATCH", `/user_groups/${id}`, { [setting]: { new: value } });
    const own = { direct_members: [gus], direct_subgroups: [] };
    const untilOffered = async (is) => {
      await untilAllEqual(page, "dialog form :is(input, button), dialog select", (fields) => [...new Set(fields.map((field) => !field.disabled && field.checkVisibility()))], [is]);
      await untilAllEqual(page, "dialog .button--danger", (buttons) => buttons.map((button) => button.textContent), is ? ["Deactivate group"] : []);
    };
    await untilOffered(false);
    await set("can_manage_group", own);
    await untilOffered(true);
    await set("can_manage_group", administrators);
    await untilOffered(false);
    await set("can_join_group", own);
    await clickText(page, "dialog button", "Join");
    await untilText(page, "dialog .row", "Gus");
    await untilAllEqual(page, "dialog button", (buttons) => buttons.some((button) => button.textContent === "Join"), false);
  });
});

describe("other programs", () => {
  it("get an address for their webhooks, which works", async () => {
    const bob = await as("Bob", "#settings/your-bots");
    await fillIn(bob, "Name", "Watcher");
    await fillIn(bob, "Short name", "watcher");
    await choose(bob, "Kind", 2);
    await clickText(bob, "dialog button", "Create the bot");
    await untilText(bob, "dialog h2", "Webhook of Watcher");
    await choose(bob, "Program", "text");
    await chooseFrom(bob, "Channel", "desi", "design");
    await fillIn(bob, "Topic", "from a script");
    const address = await onElement(bob, "dialog [aria-label=Address]", (area) => area.value);
    assert.ok(address.startsWith(`${bench.server.url}/api/v1/external/text?`), address);
    const response = await fetch(address, { method: "POST", body: "Backup done" });
    assert.equal(response.status, 200);
    await eventually(async () => {
      const { messages } = await bench.server.call("Bob", "GET", "/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow: [["channel", "design"], ["topic", "from a script"]] });
      assert.match(messages[0]?.content ?? "", /Backup done/);
    });
  });
});

describe("people", () => {
  it("are invited by email, also by members, and say their time zone", async () => {
    const members = (await fetched("Ada", "realm_user_groups")).realm_user_groups.find(({ name }) => name === "role:members").id;
    await bench.server.call("Ada", "PATCH", "/realm", { can_invite_users_group: { new: members } });
    // A person without a time zone gets that of the computer.
    await bench.server.call("Bob", "PATCH", "/settings", { timezone: "Europe/Lisbon" });
    const bob = await as("Bob", "#invite");
    await untilEqual(bob, "dialog button[type=submit]", (button) => button.textContent, "Create link");
    await fillIn(bob, "Email addresses", "dora@example.com");
    await clickText(bob, "dialog button[type=submit]", "Invite");
    await untilText(bob, "dialog [role=status]", "Administrators receive the links and pass them on");
    await untilText(bob, "dialog .row", "dora@example.com");
    await go(bob, "#settings/profile");
    await chooseFrom(bob, "Time zone", "toky", "Asia/Tokyo");
    await eventually(async () => assert.equal((await bench.server.call("Ada", "GET", `/users/${bench.server.accounts.Bob.user_id}`)).user.timezone, "Asia/Tokyo"));
  });
});

describe("exports", () => {
  it("are started, downloaded and deleted by administrators", async () => {
    const ada = await as("Ada", "#organization/data-exports-admin");
    await choose(ada, "What is exported", 1);
    await clickText(ada, "dialog button", "Start the export");
    await untilText(ada, "dialog .row", "Complete");
    const url = await onElement(ada, "dialog a[download]", (link) => link.href);
    const answer = await ada.evaluate(async (address) => { const reply = await fetch(address); return [reply.status, reply.headers.get("content-type")]; }, url);
    assert.deepEqual(answer, [200, "application/gzip"]);
    await clickButton(ada, "Delete the archive");
    await clickText(ada, "dialog.dialog--small button", "Delete");
    await untilText(ada, "dialog .row", "Deleted");
    await bench.server.call("Bob", "PATCH", "/settings", { allow_private_data_export: true });
    await untilText(ada, "dialog .row", "Bob");
    // An export of private data needs the consent of an owner, which is given on the same page.
    await choose(ada, "What is exported", 2);
    await clickText(ada, "dialog label", "Let administrators export your private data");
    await untilText(ada, "dialog .muted", "2 of ");
    await clickText(ada, "dialog button", "Start the export");
    await untilText(ada, "dialog .row", "Complete");
    // Members have no such page.
    const bob = await as("Bob", "#organization/users");
    await untilText(bob, "dialog", "Accounts");
    assert.ok(!(await onElement(bob, "dialog", (dialog) => dialog.textContent)).includes("Data exports"));
  });

  it("are loaded again on request, and say what failed", async () => {
    const ada = await as("Ada", "#inbox");
    ada.expected.push(/503/, /400/);
    const failed = { id: 1, acting_user_id: bench.server.accounts.Ada.user_id, export_time: 1_700_000_000, export_type: 1, export_url: null, pending: false, failed_timestamp: 1_700_000_100, deleted_timestamp: null };
    const answers = { GET: [503, { result: "error", msg: "Busy" }], POST: [400, { result: "error", msg: "Exceeded rate limit.", code: "BAD_REQUEST" }] };
    await intercept(ada, (request) => request.url().endsWith("/json/export/realm") && answers[request.method()]);
    await go(ada, "#organization/data-exports-admin");
    await untilText(ada, "dialog .load-hint", "could not be loaded");
    assert.ok(!(await onElement(ada, "dialog", (dialog) => dialog.textContent)).includes("There are no exports."));
    answers.GET = [200, { result: "success", msg: "", exports: [failed] }];
    await clickText(ada, "dialog .load-hint button", "Try again");
    await untilText(ada, "dialog .row", "Failed");
    assert.equal(await countOf(ada, "dialog a[download]"), 0);
    await clickText(ada, "dialog button", "Start the export");
    await untilToast(ada, "Exceeded rate limit.");
    await until(ada, () => [...document.querySelectorAll("dialog button")].some((button) => button.textContent === "Start the export" && !button.disabled));
  });

  it("open from a folder as pages, with a search, and load nothing else", async () => {
    await bench.server.send("Bob", "general", "door", "A **lanternfish** lights the door");
    await bench.server.send("Bob", "general", "door", "It is gone");
    const folder = mkdtempSync(join(tmpdir(), "teamchat-pages-"));
    const url = pathToFileURL(join(folder, "pages")).href;
    bench.server.run("export", "html", join(folder, "pages"));
    const page = await openPage(bench.browser, { url });
    await page.goto(`${url}/index.html`);
    await typeInto(page, "#search input", "Lantern");
    await page.keyboard.press("Enter");
    await untilEqual(page, "#found", (found) => found.textContent, "1 message found.");
    const { place, address } = await onElement(page, "#results a", (link) => ({ place: link.textContent, address: link.href }));
    assert.equal(place, "#general > door");
    await page.goto(address);
    await untilEqual(page, "article:target div", (message) => message.textContent, "A lanternfish lights the door");
    await untilEqual(page, "p a", (link) => link.href, `${url}/index.html`);
    const { problems } = page;
    await page.closeContext();
    rmSync(folder, { recursive: true });
    assert.deepEqual(problems, []);
  });
});
