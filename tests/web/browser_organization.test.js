/** What people set for themselves and owners for all: accounts, keys, pictures, welcome, calls; in a headless browser against the
 * real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { choose, clickButton, clickText, clickToast, countOf, enter, eventually, fillIn, intercept, onElement, onElements, onField, setUp, until, untilAllEqual, untilEqual, untilText, untilToast } from "./harness.js";

const bench = setUp();
const { as, at, go } = bench;

/** Some of the state, as the server has it now. */
const fetched = async (name, ...parts) => bench.server.call(name, "POST", "/register", { fetch_event_types: parts, event_types: ["restart"] });
const realm = async () => fetched("Ada", "realm");
const settings = async (name) => (await fetched(name, "user_settings")).user_settings;

/** Gives the field with this label another value, or clicks it. */
const change = (page, label, value) => (value === undefined ? onField(page, label, (control) => control.click()) : choose(page, label, value));

/** A picture of one dot, as a file for an upload. */
const DOT = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** Gives the field for files at this place a picture. */
const choosePicture = (page, place = 0) => onElements(page, "dialog input[type=file]", async (inputs, url, index) => {
  const bytes = Uint8Array.from(atob(url.split(",")[1]), (character) => character.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], "dot.png", { type: "image/png" }));
  inputs[index].files = transfer.files;
  inputs[index].dispatchEvent(new Event("change"));
}, DOT, place);

describe("an account", () => {
  it("takes the same picture again after a failure", async () => {
    const ada = await as("Ada", "#settings/profile");
    ada.expected.push(/503/);
    await intercept(ada, (request) => request.url().endsWith("/json/users/me/avatar") && [503, { result: "error", msg: "Busy" }]);
    await ada.waitForSelector("dialog input[type=file]");
    await choosePicture(ada);
    await untilToast(ada, "Busy");
    // For a file that the field has already, browsers report no change.
    assert.equal(await onElement(ada, "dialog input[type=file]", (input) => input.files.length), 0);
  });

  it("changes its email with the password, has keys for programs, and is closed", async () => {
    await bench.server.person("Dan");
    const dan = await as("Dan", "#settings/account-and-privacy");
    await fillIn(dan, "Email", "dan@example.org");
    await fillIn(dan, "Your password, to change the email", "correct horse");
    await clickText(dan, "dialog button", "Change email");
    await untilToast(dan, "Saved");
    await eventually(async () => assert.equal((await bench.server.call("Dan", "GET", "/users/me").catch(() => ({}))).delivery_email ?? "dan@example.org", "dan@example.org"));
    bench.server.accounts.Dan.email = "dan@example.org";
    await eventually(async () => assert.equal((await bench.server.call("Dan", "GET", "/users/me")).delivery_email, "dan@example.org"));
    // With this event, the page has that of the new email too, which it logs in with for a key.
    await bench.server.channel("later", ["Dan"]);
    await untilText(dan, ".sidebar", "later");
    await go(dan, "#settings/devices");
    await clickText(dan, "dialog button", "Create a key for a program");
    await fillIn(dan, "Your password", "correct horse");
    await clickText(dan, "dialog.dialog--small button", "Create a key");
    await until(dan, () => /\[api\]\nemail=dan@example\.org\nkey=\w{32}\n/.test(document.querySelector("dialog textarea.source")?.value ?? ""));
    const key = await onElement(dan, "dialog textarea.source", (area) => /key=(\w+)/.exec(area.value)[1]);
    const me = await fetch(`${bench.server.url}/api/v1/users/me`, { headers: { Authorization: `Basic ${Buffer.from(`dan@example.org:${key}`).toString("base64")}` } });
    assert.equal((await me.json()).full_name, "Dan");
    await dan.keyboard.press("Escape");
    await go(dan, "#settings/account-and-privacy");
    dan.expected.push(/401/);
    await clickText(dan, "dialog button", "Close your account");
    await clickText(dan, "dialog.dialog--small button", "Close account");
    await dan.waitForSelector("#id_username");
    const { members } = await bench.server.call("Ada", "GET", "/users");
    assert.equal(members.find(({ full_name: name }) => name === "Dan").is_active, false);
  });

  it("has no password where people do not log in with one", async () => {
    const bob = await bench.open();
    // The server has such an organization only after an import.
    await bob.evaluateOnNewDocument(() => {
      const { fetch } = window;
      window.fetch = async (url, options) => {
        const reply = await fetch(url, options);
        return url === "/json/register" ? Response.json({ ...(await reply.json()), realm_password_auth_enabled: false }) : reply;
      };
    });
    await enter(bob, bench.server, "Bob");
    await go(bob, "#settings/account-and-privacy");
    assert.equal(await onField(bob, "Your password, to change the email", (proof) => proof.required), false);
    await untilAllEqual(bob, "dialog button", (buttons) => ["Change email", "Change password"].map((text) => buttons.some((one) => one.textContent === text)), [true, false]);
    await go(bob, "#settings/devices");
    await untilText(bob, "dialog button", "Log out all other devices");
    await untilAllEqual(bob, "dialog button", (buttons) => buttons.some((one) => one.textContent === "Create a key for a program"), false);
  });

  it("says what it prefers, and nothing that does nothing", async () => {
    const bob = await as("Bob", "#settings/preferences");
    await change(bob, "Lines", 160);
    await until(bob, () => document.documentElement.style.getPropertyValue("--line-height") === "1.6");
    await change(bob, "Mark the notice that a topic was resolved as read", "never");
    await change(bob, "Show that others are typing");
    await change(bob, "Follow topics in which you are mentioned");
    await eventually(async () => {
      const now = await settings("Bob");
      assert.deepEqual([now.resolved_topic_notice_auto_read_policy, now.receives_typing_notifications, now.automatically_follow_topics_where_mentioned], ["never", false, false]);
    });
    await go(bob, "#settings/profile");
    await change(bob, "Language", "fr");
    await eventually(async () => assert.equal((await settings("Bob")).default_language, "fr"));
    await untilText(bob, "dialog h2", "Paramètres");
    await go(bob, "#settings/devices");
    await untilText(bob, "dialog .row", "Depuis le");
    await until(bob, () => /\b(lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b/.test(document.querySelector("dialog .row .muted").textContent));
    await bench.server.call("Bob", "PATCH", "/settings", { default_language: "en" });
  });
});

describe("the organization", () => {
  it("has pictures, a welcome, a language for code, and unique names", async () => {
    const ada = await as("Ada", "#organization/organization-profile");
    await untilText(ada, "dialog button", "Upload a dark logo");
    await choosePicture(ada, 0);
    await untilText(ada, "dialog button", "Remove icon");
    await choosePicture(ada, 2);
    await untilText(ada, "dialog button", "Remove dark logo");
    await eventually(async () => assert.deepEqual([(await realm()).realm_icon_source, (await realm()).realm_logo_source, (await realm()).realm_night_logo_source], ["U", "D", "U"]));
    await clickText(ada, "dialog button", "Remove dark logo");
    await untilText(ada, "dialog button", "Upload a dark logo");
    await go(ada, "#organization/organization-settings");
    await change(ada, "Names of people must be unique");
    await change(ada, "Default language of code blocks", "python");
    for (let count = 0; count < 2; count++) await untilToast(ada, "Saved");
    await change(ada, "Additional welcome message", "Lunch is at **noon**.");
    await clickText(ada, "dialog button", "Send it to me");
    await untilToast(ada, "The Welcome Bot has sent you a message");
    await onElements(ada, "dialog form", (forms) => forms.find((form) => form.textContent.includes("Additional welcome message")).requestSubmit());
    await eventually(async () => {
      const now = await realm();
      assert.deepEqual([now.realm_require_unique_names, now.realm_default_code_block_language, now.realm_welcome_message_custom_text], [true, "python", "Lunch is at **noon**."]);
    });
    const { messages } = await bench.server.call("Ada", "GET", "/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow: [["is", "dm"]] });
    assert.match(messages[0].content, /Lunch is at <strong>noon/);
  });

  it("keeps its name, as people do, if the new one has only spaces", async () => {
    const { user_id: id } = bench.server.accounts.Bob;
    const { realm_name: before } = await realm();
    const ada = await as("Ada", "#organization/organization-profile");
    const refuses = async (label) => {
      await fillIn(ada, "Name", "  ");
      await onElements(ada, "dialog form", (forms, text) => forms.find((form) => form.textContent.includes(text)).requestSubmit(), label);
      await eventually(async () => assert.equal(await onField(ada, "Name", (name) => name.validity.valueMissing), true));
    };
    await refuses("Description");
    assert.equal((await realm()).realm_name, before);
    await go(ada, `#user/${id}`);
    await clickText(ada, "dialog button", "Edit");
    await untilText(ada, "dialog h2", "Edit Bob");
    await refuses("Email");
    await fillIn(ada, "Name", "Bob B");
    await onElements(ada, "dialog form", (forms) => forms.find((form) => form.textContent.includes("Email")).requestSubmit());
    await untilToast(ada, "Saved");
    assert.equal((await bench.server.call("Ada", "GET", `/users/${id}`)).user.full_name, "Bob B");
    await bench.server.call("Ada", "PATCH", `/users/${id}`, { full_name: "Bob" });
  });

  it("has a server for video calls", async () => {
    const bob = await as("Bob", await at("general", "calls"));
    await bob.waitForSelector(".composer .editor__text", { visible: true });
    assert.equal(await countOf(bob, "[aria-label='Video call']"), 0);
    const ada = await as("Ada", "#organization/organization-settings");
    await change(ada, "Video calls", 1);
    await change(ada, "Address of the Jitsi server", "https://meet.example.com");
    await eventually(async () => assert.equal((await realm()).realm_jitsi_server_url, "https://meet.example.com"));
    await bob.reload();
    await bob.waitForSelector(".composer [aria-label='Video call']");
    await clickButton(bob, "Video call");
    await until(bob, () => /^\[Join the video call\]\(https:\/\/meet\.example\.com\/\w{16,}\) $/.test(document.querySelector(".composer .editor__text").value));
  });

  it("leaves to owners what is theirs", async () => {
    const id = await bench.server.person("Eva");
    await bench.server.call("Ada", "PATCH", `/users/${id}`, { role: 200 });
    const eva = await as("Eva", "#organization/organization-permissions");
    const isDisabled = (label) => onField(eva, label, (control) => control.disabled);
    assert.deepEqual([await isDisabled("Manage all groups"), await isDisabled("Create bots"), await isDisabled("Decide whether a channel has topics")], [true, false, false]);
    assert.deepEqual([await isDisabled("Invite by email"), await isDisabled("Create invitation links")], [true, true]);
    await go(eva, "#organization/organization-settings");
    assert.deepEqual([await isDisabled("Waiting period for new members"), await isDisabled("Default language of code blocks")], [true, false]);
    await bench.server.call("Ada", "POST", "/realm/domains", { domain: "example.net", allow_subdomains: false });
    await go(eva, "#organization/allowed-domains");
    await untilText(eva, "dialog .row", "example.net");
    assert.ok(await isDisabled("Only people with an email address in one of these domains can join"));
    assert.equal(await countOf(eva, "dialog .panes__body button, dialog .panes__body form"), 0);
    await bench.server.call("Ada", "DELETE", "/realm/domains/example.net");
  });
});

describe("forms that are open", () => {
  it("follow the welcome message, and the role of the user", async () => {
    const id = await bench.server.person("Gil");
    await bench.server.call("Ada", "PATCH", `/users/${id}`, { role: 200 });
    const gil = await as("Gil", "#organization/organization-settings");
    await untilText(gil, "dialog label", "Additional welcome message");
    await bench.server.call("Ada", "PATCH", "/realm", { welcome_message_custom_text: "Look around" });
    await eventually(async () => assert.equal(await onField(gil, "Additional welcome message", (text) => text.value), "Look around"));
    await bench.server.call("Ada", "PATCH", `/users/${id}`, { role: 400 });
    await untilEqual(gil, "dialog .panes__body", (body) => body.innerText.includes("Additional welcome message"), false);
    await eventually(async () => assert.equal(await onField(gil, "Waiting period for new members", (days) => days.disabled), true));
    await go(gil, "#organization/profile-field-settings");
    await untilText(gil, "dialog h2", "Profile fields");
    await untilEqual(gil, "dialog .panes__body", (body) => body.innerText.includes("New field"), false);
    await bench.server.call("Ada", "PATCH", `/users/${id}`, { role: 200 });
    await untilText(gil, "dialog .panes__body", "New field");
  });

  it("keep their text when the role of the user changes, which the list of sections follows", async () => {
    const id = await bench.server.person("Ina");
    const become = (role) => bench.server.call("Ada", "PATCH", `/users/${id}`, { role });
    const untilOffered = (expected) => untilAllEqual(ina, "dialog nav a", (links, names) => names.map((name) => links.some((link) => link.textContent === name)), expected, ["Audit log", "Data exports"]);
    await become(200);
    const ina = await as("Ina", "#organization/organization-profile");
    await untilOffered([false, true]);
    await fillIn(ina, "Description", "About boats");
    await become(100);
    await untilOffered([true, true]);
    assert.equal(await onField(ina, "Description", (text) => text.value), "About boats");
    await go(ina, "#organization/audit-log");
    await untilText(ina, "dialog h2", "Audit log");
    await untilText(ina, "dialog .row", "role changed: Ina");
    await become(400);
    await untilOffered([false, false]);
    await untilText(ina, "dialog h2", "Name and icon");
  });

  it("of bots and invitations follow the role of the user", async () => {
    const id = await bench.server.person("Jon");
    await bench.server.call("Jon", "POST", "/bots", { full_name: "Pump", short_name: "pump", bot_type: 1 });
    const become = (role) => bench.server.call("Ada", "PATCH", `/users/${id}`, { role });
    const jon = await as("Jon", "#settings/your-bots");
    const untilOffered = (labels, expected) => eventually(async () => assert.deepEqual(await Promise.all(labels.map((label) => onField(jon, label, (control) => !control.closest(".field").hidden))), expected));
    await clickButton(jon, "Edit Pump");
    await untilOffered(["Owner", "Role"], [true, false]);
    await fillIn(jon, "Name", "Pump two");
    await become(200);
    await untilOffered(["Owner", "Role"], [true, true]);
    assert.equal(await onField(jon, "Name", (name) => name.value), "Pump two");
    await jon.keyboard.press("Escape");
    await go(jon, "#invite");
    const fields = ["Email addresses", "Welcome message"];
    await untilOffered(fields, [true, true]);
    await fillIn(jon, "Email addresses", "kit@example.com");
    const roles = () => onField(jon, "They join as", (list) => [...list.options].filter((option) => !option.disabled).map((option) => option.value));
    assert.deepEqual(await roles(), ["200", "300", "400", "600"]);
    await become(400);
    await untilOffered(fields, [true, false]);
    assert.deepEqual([await roles(), await onField(jon, "Email addresses", (emails) => emails.required)], [["400", "600"], true]);
    await become(200);
    await untilOffered(fields, [true, true]);
    assert.equal(await onField(jon, "Email addresses", (emails) => emails.value), "kit@example.com");
    // A form begins with the focus in its first field that is offered.
    const { realm_user_groups: groups } = await fetched("Ada", "realm_user_groups");
    const idOf = (role) => groups.find(({ name }) => name === `role:${role}`).id;
    const allow = (mail, link) => bench.server.call("Ada", "PATCH", "/realm", { can_invite_users_group: { new: idOf(mail) }, create_multiuse_invite_group: { new: idOf(link) } });
    await become(400);
    await allow("administrators", "members");
    await untilOffered(fields, [false, false]);
    await jon.keyboard.press("Escape");
    await until(jon, () => document.querySelector("dialog") === null && location.hash !== "#invite");
    await go(jon, "#invite");
    await eventually(async () => assert.equal(await onField(jon, "They join as", (list) => list === document.activeElement), true));
    await allow("members", "administrators");
  });

  it("offer the own name and picture as long as the organization lets people change them", async () => {
    await bench.server.person("Hal");
    const hal = await as("Hal", "#settings/profile");
    const allow = (is) => bench.server.call("Ada", "PATCH", "/realm", { name_changes_disabled: !is, avatar_changes_disabled: !is });
    const untilOffered = async (is) => {
      await eventually(async () => assert.equal(await onField(hal, "Name", (name) => name.disabled), !is));
      await untilAllEqual(hal, "dialog button", (buttons) => ["Save name", "Change picture"].map((text) => buttons.some((one) => one.textContent === text && one.checkVisibility())), [is, is]);
      await untilAllEqual(hal, "dialog .field__hint", (hints) => hints.some((one) => one.textContent === "Only administrators can change names." && one.checkVisibility()), !is);
    };
    for (const is of [true, false, true]) {
      await allow(is);
      await untilOffered(is);
    }
  });

  it("follow the list of profile fields, and the status of the person", async () => {
    const { user_id: id } = bench.server.accounts.Bob;
    const ada = await as("Ada", `#user/${id}`);
    await clickText(ada, "dialog button", "Edit");
    await untilText(ada, "dialog h2", "Edit Bob");
    await bench.server.call("Bob", "POST", "/users/me/status", { status_text: "In the garden" });
    const { id: hat } = await bench.server.call("Ada", "POST", "/realm/profile_fields", { name: "Hat size", field_type: 1, hint: "" });
    await untilText(ada, "dialog label", "Hat size");
    await eventually(async () => assert.equal(await onField(ada, "Status", (text) => text.value), "In the garden"));
    await bench.server.call("Ada", "DELETE", `/realm/profile_fields/${hat}`);
    await eventually(async () => assert.ok(!(await onElements(ada, "dialog label", (all) => all.map((label) => label.textContent))).includes("Hat size")));
  });
});

describe("the audit log", () => {
  it("can be read by owners only", async () => {
    const id = await bench.server.person("Finn");
    await bench.server.call("Ada", "PATCH", `/users/${id}`, { role: 300 });
    const ada = await as("Ada", "#organization/audit-log");
    await untilText(ada, "dialog", "role changed: Finn");
    await untilText(ada, "dialog", "by Ada from 127.0.0.1");
    await untilText(ada, "dialog", "member → moderator");
    await untilText(ada, "dialog", "client: ");
    const bob = await as("Bob", "#organization/audit-log");
    await untilText(bob, "dialog nav", "Permissions");
    await untilEqual(bob, "dialog nav", (nav) => nav.innerText.includes("Audit log"), false);
  });
});

describe("a direct message", () => {
  it("to a guest has a warning, where the organization wants one", async () => {
    const id = await bench.server.person("Gus");
    await bench.server.call("Ada", "PATCH", `/users/${id}`, { role: 600 });
    const ada = await as("Ada", `#narrow/dm/${id}-Gus`);
    await untilText(ada, ".composer", "Not members of this organization: Gus.");
    await bench.server.call("Ada", "PATCH", "/realm", { enable_guest_user_dm_warning: false });
    await go(ada, "#inbox");
    await go(ada, `#narrow/dm/${id}-Gus`);
    await until(ada, () => document.querySelector(".composer .editor__text")?.checkVisibility() && !document.querySelector(".composer").innerText.includes("Not members of"));
  });
});

describe("the time zone", () => {
  it("is that of the computer for those who have none, and is offered to others", async () => {
    const { user_id: id } = await bench.server.call("Ada", "POST", "/users", { full_name: "Dora", email: "dora@example.com", password: "correct horse" });
    bench.server.accounts.Dora = { email: "dora@example.com" };
    const zone = async () => (await bench.server.call("Ada", "GET", `/users/${id}`)).user.timezone;
    await eventually(async () => assert.equal(await zone(), ""));
    const dora = await bench.open();
    await dora.emulateTimezone("Asia/Tokyo");
    await enter(dora, bench.server, "Dora");
    await eventually(async () => assert.equal(await zone(), "Asia/Tokyo"));
    await dora.emulateTimezone("Europe/Rome");
    await dora.reload();
    await clickToast(dora, "Use it", "This computer is in the time zone Europe/Rome");
    await eventually(async () => assert.equal(await zone(), "Europe/Rome"));
  });
});
