/** The settings of mail, and the addresses of channels, of a server that sends and receives mail, in headless Chromium. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { choose, clickText, eventually, onElement, onField, setUp, until, untilEqual, untilText, untilToast } from "./harness.js";

// Nothing listens there: letters wait.
const SENDS = ["--smtp-url", "smtp://127.0.0.1:1?tls=none", "--mail-from", "chat@example.com"];
const RECEIVES = ["--mail-listen", "127.0.0.1:0", "--mail-pattern", "%s@mail.example.com"];
const bench = setUp({ args: [...SENDS, ...RECEIVES] });
const { as, go } = bench;

/** Some of the state, as the server has it now. */
const fetched = (name, ...parts) => bench.server.call(name, "POST", "/register", { fetch_event_types: parts, event_types: ["restart"] });
/** Clicks the field with this label. */
const toggle = (page, label) => onField(page, label, (control) => control.click());
/** Waits until the dialog has no field with this label. */
const untilGone = (page, label) => until(page, (text) => document.querySelector("dialog h3") && ![...document.querySelectorAll("dialog label")].some((one) => one.textContent === text), label);

describe("mail", () => {
  it("has switches for each person", async () => {
    await bench.server.call("Ada", "PATCH", "/realm", { digest_emails_enabled: false });
    const bob = await as("Bob", "#settings/notifications");
    await untilText(bob, "dialog h3", "Email notifications");
    for (const label of ["Topics that you follow", "Everything in channels", "Show the text of messages", "New logins to your account"]) await toggle(bob, label);
    await choose(bob, "Delay before an email is sent", 600);
    await choose(bob, "Name of the organization in the subject", 2);
    const settings = async () => (await fetched("Bob", "user_settings")).user_settings;
    await eventually(async () => {
      const now = await settings();
      assert.deepEqual(
        [now.enable_followed_topic_email_notifications, now.enable_stream_email_notifications, now.message_content_in_email_notifications, now.enable_login_emails, now.email_notifications_batching_period_seconds, now.realm_name_in_email_notifications_policy],
        [false, true, false, false, 600, 2],
      );
    });

    // There is a digest if the organization has one.
    await untilGone(bob, "Weekly digest if you have been away");
    await bench.server.call("Ada", "PATCH", "/realm", { digest_emails_enabled: true });
    await toggle(bob, "Weekly digest if you have been away");
    await eventually(async () => assert.equal((await settings()).enable_digest_emails, false));

    // Without mail about direct messages and mentions, there is none about other messages.
    await toggle(bob, "Direct messages and mentions");
    await untilGone(bob, "Delay before an email is sent");
    await eventually(async () => assert.equal((await settings()).enable_offline_email_notifications, false));
    await toggle(bob, "Direct messages and mentions");
    await eventually(async () => assert.equal(await onField(bob, "Delay before an email is sent", (control) => control.value), "600"));
    await eventually(async () => assert.equal((await settings()).enable_offline_email_notifications, true));
  });

  it("has rules of the organization, and defaults for new people", async () => {
    await bench.server.call("Ada", "PATCH", "/realm", { digest_emails_enabled: false });
    const ada = await as("Ada", "#organization/organization-settings");
    for (const label of ["Send a weekly digest to people who were away", "People cannot join with disposable email addresses", "Show names and texts in push and email notifications", "New people need an invitation"]) await toggle(ada, label);
    await choose(ada, "The weekly digest is sent on", 4);
    await eventually(async () => {
      const now = await fetched("Ada", "realm");
      assert.deepEqual(
        [now.realm_digest_emails_enabled, now.realm_disallow_disposable_email_addresses, now.realm_message_content_allowed_in_email_notifications, now.realm_invite_required, now.realm_digest_weekday],
        [true, false, false, false, 4],
      );
    });
    await eventually(async () => assert.equal(await onField(ada, "The weekly digest is sent on", (control) => control.selectedOptions[0].text), "Friday"));

    await go(ada, "#organization/organization-level-user-defaults");
    await choose(ada, "Delay before an email is sent", 300);
    await eventually(async () => assert.equal((await fetched("Ada", "realm_user_settings_defaults")).realm_user_settings_defaults.email_notifications_batching_period_seconds, 300));
    // These are for each person to decide.
    for (const label of ["New logins to your account", "Let administrators export your private data"]) await untilGone(ada, label);
  });

  it("leaves to owners what is theirs", async () => {
    const id = await bench.server.person("Eva");
    await bench.server.call("Ada", "PATCH", `/users/${id}`, { role: 200 });
    const eva = await as("Eva", "#organization/organization-settings");
    const isDisabled = (label) => onField(eva, label, (control) => control.disabled);
    assert.deepEqual([await isDisabled("People cannot join with disposable email addresses"), await isDisabled("Send a weekly digest to people who were away")], [true, false]);
  });
});

describe("people without an account", () => {
  it("sign up where no invitation is required", async () => {
    const { server } = bench;
    const page = await bench.open();
    const choices = () => onElement(page, ".login", (login) => login.innerText);
    await server.call("Ada", "PATCH", "/realm", { invite_required: true });
    await page.goto(`${server.url}/login/`);
    assert.doesNotMatch(await choices(), /Sign up/);
    await server.call("Ada", "PATCH", "/realm", { invite_required: false });
    await page.goto(`${server.url}/login/`);
    assert.match(await choices(), /No account yet\? Sign up/);

    // Visitors are offered it where they need an account.
    const id = await server.channel("square", ["Ada"]);
    await server.call("Ada", "PATCH", "/realm", { enable_spectator_access: true });
    await server.call("Ada", "PATCH", `/streams/${id}`, { is_web_public: true });
    await page.goto(`${server.url}/#settings/profile`);
    await clickText(page, "dialog a", "Sign up");
    await untilText(page, "h1", "Sign up");
  });
});

describe("a channel", () => {
  it("has a switch for mail, and an address for each person who can read it", async () => {
    const { stream_id: id } = await bench.server.call("Bob", "GET", "/get_stream_id", { stream: "design" });
    const bob = await as("Bob", `#channels/${id}/design/personal`);
    await choose(bob, "Email notifications", true);
    await eventually(async () => assert.equal((await fetched("Bob", "subscription")).subscriptions.find((one) => one.stream_id === id).email_notifications, true));
    await go(bob, `#channels/${id}/design/general`);
    await eventually(async () => assert.match(await onField(bob, "Email address", (control) => control.value), /^design\.\w+\.show-sender@mail\.example\.com$/));
    await untilEqual(bob, "dialog", (dialog) => dialog.innerText.includes("log out all other devices, this address stops working"), true);
    await clickText(bob, "dialog button", "Copy");
    await untilToast(bob, "Copied.");

    // Administrators see the settings of private channels that they cannot read.
    await bench.server.call("Bob", "POST", "/users/me/subscriptions", { subscriptions: [{ name: "secret" }], invite_only: true });
    const { stream_id: secret } = await bench.server.call("Bob", "GET", "/get_stream_id", { stream: "secret" });
    const ada = await as("Ada", `#channels/${secret}/secret/general`);
    await untilText(ada, "dialog p", "Created by Bob");
    await untilEqual(ada, "dialog", (dialog) => dialog.innerText.includes("Email address"), false);
  });
});
