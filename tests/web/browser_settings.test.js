/** Settings of people, of channels and of the organization, in headless Chromium against the real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { act, choose, chooseFrom, clickButton, clickText, clickToast, eventually, fillIn, intercept, IS_FIREFOX, onElement, onElements, onField, setUp, typeInto, until, untilEqual, untilText, untilToast } from "./harness.js";

const bench = setUp();
const { as, at, go } = bench;

/** Parts of the state of a user. */
const fetched = (name, ...types) => bench.server.call(name, "POST", "/register", { fetch_event_types: types, event_types: [], client_capabilities: { user_settings_object: true, linkifier_url_template: true, notification_settings_null: true, bulk_message_deletion: true } });
/** Waits until the second dialog has closed, which the reply does: the row comes with the event. */
const untilClosed = (page) => until(page, () => document.querySelectorAll("dialog").length === 1);
const texts = (page, selector) => onElements(page, selector, (elements) => elements.map((element) => element.textContent.trim()));

describe("one's own settings", () => {
  it("are saved at once, apply at once, and keep the focus", async () => {
    const ada = await as("Ada", "#settings/preferences");
    await choose(ada, "Theme", 2);
    await until(ada, () => document.documentElement.dataset.theme === "dark");
    await onField(ada, "Enter sends", (control) => control.focus());
    await ada.keyboard.press(" ");
    await eventually(async () => assert.equal((await fetched("Ada", "user_settings")).user_settings.enter_sends, true));
    await until(ada, () => document.activeElement?.closest("label")?.textContent === "Enter sends");
    await choose(ada, "Times", "true");
    await eventually(async () => assert.equal((await fetched("Ada", "user_settings")).user_settings.twenty_four_hour_time, true));
    await choose(ada, "Theme", 1);
    await until(ada, () => document.documentElement.dataset.theme !== "dark");
  });

  it("offer the other theme than the one that the system has chosen", { skip: IS_FIREFOX }, async () => {
    for (const dark of [true, false]) {
      const bob = await as("Bob", "#inbox", { dark });
      await clickButton(bob, "Your menu");
      await untilText(bob, "[role=menuitem]", dark ? "Light theme" : "Dark theme");
    }
  });

  it("are shown as they are if they could not be saved", async () => {
    await bench.server.call("Ada", "PATCH", "/settings", { timezone: "Asia/Tokyo" });
    const ada = await as("Ada", "#settings/preferences");
    ada.expected.push(/503/);
    const isChecked = () => onField(ada, "Enter sends", (control) => control.checked);
    const before = [await onField(ada, "Theme", (control) => control.value), await isChecked()];
    await intercept(ada, (request) => /^(PATCH .*\/json\/(settings|realm)|POST .*\/properties)$/.test(`${request.method()} ${request.url()}`) && [503, { result: "error", msg: "Busy" }]);
    await choose(ada, "Theme", 3);
    await untilToast(ada, "Busy");
    await onField(ada, "Enter sends", (control) => control.click());
    await untilToast(ada, "Busy");
    await eventually(async () => assert.deepEqual([await onField(ada, "Theme", (control) => control.value), await isChecked()], before));
    await go(ada, "#settings/profile");
    await chooseFrom(ada, "Time zone", "Lisb", "Europe/Lisbon");
    await untilToast(ada, "Busy");
    await untilEqual(ada, "dialog [aria-label='Time zone']", (input) => input.value, "Asia/Tokyo");
    const { stream_id: id } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "design" });
    await go(ada, `#channels/${id}/design/personal`);
    const color = await onField(ada, "Colour", (input) => input.value);
    await choose(ada, "Colour", "#010203");
    await untilToast(ada, "Busy");
    await eventually(async () => assert.equal(await onField(ada, "Colour", (input) => input.value), color));
    await go(ada, "#organization/organization-settings");
    await onField(ada, "New channels are announced in", (input) => { window.before = input.value; });
    await chooseFrom(ada, "New channels are announced in", "desi", "design");
    await untilToast(ada, "Busy");
    await until(ada, () => document.querySelector("dialog [aria-label='New channels are announced in']").value === window.before);
  });

  it("change the name, the password and alert words", async () => {
    const id = await bench.server.person("Dan");
    const dan = await as("Dan", "#settings/profile");
    await fillIn(dan, "Name", "Dan the Great");
    await clickText(dan, "dialog button", "Save name");
    await eventually(async () => assert.equal((await bench.server.call("Ada", "GET", `/users/${id}`)).user.full_name, "Dan the Great"));
    await go(dan, "#settings/account-and-privacy");
    await fillIn(dan, "Current password", "correct horse");
    await fillIn(dan, "New password", "battery staple");
    await clickText(dan, "dialog button", "Change password");
    await untilToast(dan, "password has been changed");
    await go(dan, "#settings/alert-words");
    await typeInto(dan, "[aria-label='New alert word']", "tea");
    await dan.keyboard.press("Enter");
    await untilText(dan, "dialog .row", "tea");
    await clickButton(dan, "Remove tea");
    await until(dan, () => document.querySelectorAll("dialog .row").length === 0);
  });

  it("keep what is half written while others change the organization, and save it", async () => {
    for (const name of ["Motto", "Office"]) await bench.server.call("Ada", "POST", "/realm/profile_fields", { name, field_type: 2 });
    const { custom_fields: fields } = await bench.server.call("Ada", "GET", "/realm/profile_fields");
    const { id } = fields.find(({ name }) => name === "Motto");
    const bob = await as("Bob", "#settings/profile");
    await fillIn(bob, "Motto", "Slow and");
    await bench.server.call("Ada", "PATCH", `/realm/profile_fields/${fields.find(({ name }) => name === "Office").id}`, { name: "Room" });
    await untilText(bob, "dialog label", "Room");
    assert.deepEqual(await onField(bob, "Motto", (area) => [area.value, area === document.activeElement]), ["Slow and", true]);
    await bob.keyboard.press("Tab");
    await untilToast(bob, "Saved.");
    await eventually(async () => {
      const { user } = await bench.server.call("Bob", "GET", `/users/${bench.server.accounts.Bob.user_id}`, { include_custom_profile_fields: true });
      assert.equal(user.profile_data[id].value, "Slow and");
    });
    for (const { id: field } of fields) await bench.server.call("Ada", "DELETE", `/realm/profile_fields/${field}`);
  });

  it("follow changes from elsewhere, but for what is half written", async () => {
    const fields = [];
    for (const name of ["Slogan", "Floor"]) fields.push((await bench.server.call("Ada", "POST", "/realm/profile_fields", { name, field_type: 1 })).id);
    const choices = { 1: { text: "Bus", order: "1" }, 2: { text: "Bike", order: "2" } };
    fields.push((await bench.server.call("Ada", "POST", "/realm/profile_fields", { name: "Comes by", field_type: 3, field_data: choices })).id);
    const set = (...values) => bench.server.call("Bob", "PATCH", "/users/me/profile_data", { data: values.map((value, at) => ({ id: fields[at], value })).filter(({ value }) => value) });
    await set("Slow", "1st", "1");
    const bob = await as("Bob", "#settings/profile");
    await eventually(async () => assert.equal(await onField(bob, "Slogan", (input) => input.value), "Slow"));
    await fillIn(bob, "Floor", "2nd");
    await set("Steady", "", "2");
    await eventually(async () => assert.deepEqual([await onField(bob, "Slogan", (input) => input.value), await onField(bob, "Comes by", (list) => list.value)], ["Steady", "2"]));
    assert.deepEqual(await onField(bob, "Floor", (input) => [input.value, input === document.activeElement]), ["2nd", true]);
    await bob.keyboard.press("Tab");
    await untilToast(bob, "Saved.");
    for (const field of fields) await bench.server.call("Ada", "DELETE", `/realm/profile_fields/${field}`);
  });

  it("are saved with Enter also after others changed the organization", async () => {
    const fields = [];
    for (const name of ["Nickname", "Desk"]) fields.push((await bench.server.call("Ada", "POST", "/realm/profile_fields", { name, field_type: 1 })).id);
    const bob = await as("Bob", "#settings/profile");
    await fillIn(bob, "Nickname", "Bobby");
    await bench.server.call("Ada", "PATCH", `/realm/profile_fields/${fields[1]}`, { name: "Table" });
    await untilText(bob, "dialog label", "Table");
    assert.deepEqual(await onField(bob, "Nickname", (input) => [input.value, input === document.activeElement]), ["Bobby", true]);
    await bob.keyboard.press("Enter");
    await untilToast(bob, "Saved.");
    await eventually(async () => {
      const { user } = await bench.server.call("Bob", "GET", `/users/${bench.server.accounts.Bob.user_id}`, { include_custom_profile_fields: true });
      assert.equal(user.profile_data[fields[0]].value, "Bobby");
    });
    for (const field of fields) await bench.server.call("Ada", "DELETE", `/realm/profile_fields/${field}`);
  });

  it("make a bot with its file", async () => {
    const bob = await as("Bob", "#settings/your-bots");
    await fillIn(bob, "Name", "Helper");
    await fillIn(bob, "Short name", "helper");
    await clickText(bob, "dialog button", "Create the bot");
    await untilText(bob, "dialog .row", "Helper");
    await clickText(bob, "dialog .row button", "zuliprc");
    await until(bob, () => /\[api\]\nemail=helper-bot@/.test(document.querySelector("dialog textarea.source")?.value ?? ""));
  });
});

describe("the organization", () => {
  it("has playgrounds for code", async () => {
    const ada = await as("Ada", "#organization/playground-settings");
    await fillIn(ada, "Language", "Python");
    await fillIn(ada, "Name", "Try it");
    await fillIn(ada, "Address", "https://example.com/run?code={code}");
    await clickText(ada, "dialog button", "Add");
    await untilText(ada, "dialog .row", "Python: Try it");
    await bench.server.send("Bob", "general", "code", "```python\nprint(1)\n```");
    await go(ada, await at("general", "code"));
    await untilText(ada, ".codehilite a", "Try it");
    await eventually(async () => assert.match(await onElement(ada, ".codehilite a", (link) => link.href), /^https:\/\/example\.com\/run\?code=print/));
    await go(ada, "#organization/playground-settings");
    await clickButton(ada, "Delete Try it");
    await untilText(ada, "dialog", "There are no playgrounds");
  });

  it("has default channels, to which new people are subscribed", async () => {
    const ada = await as("Ada", "#organization/default-channels-list");
    const id = (await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "design" })).stream_id;
    await chooseFrom(ada, "Add a channel", "desi", "design");
    await untilText(ada, "dialog .row", "design");
    await eventually(async () => assert.ok((await fetched("Ada", "default_streams")).realm_default_streams.includes(id)));
    await clickButton(ada, "Remove design");
    await until(ada, () => ![...document.querySelectorAll("dialog .row")].some((row) => row.textContent.includes("design")));
    assert.ok(!(await fetched("Ada", "default_streams")).realm_default_streams.includes(id));
  });

  it("has defaults for new people", async () => {
    const ada = await as("Ada", "#organization/organization-level-user-defaults");
    await choose(ada, "Home view", "recent_topics");
    await eventually(async () => assert.equal((await fetched("Ada", "realm_user_settings_defaults")).realm_user_settings_defaults.web_home_view, "recent_topics"));
    await eventually(async () => assert.equal((await fetched("Bob", "user_settings")).user_settings.web_home_view, "inbox", "others keep their own"));
    const bob = await as("Bob", "#organization/organization-level-user-defaults");
    assert.deepEqual(await onField(bob, "Home view", (control) => [control.disabled, control.value]), [true, "recent_topics"]);
  });

  it("has profile fields with choices, in an order of its own", async () => {
    const ada = await as("Ada", "#organization/profile-field-settings");
    for (const name of ["First", "Second"]) {
      await clickText(ada, "dialog button", "New field");
      await fillIn(ada, "Name", name);
      await clickText(ada, "dialog:last-of-type button", "Add");
      await untilText(ada, "dialog .row strong", name);
      await untilClosed(ada);
    }
    await clickText(ada, "dialog button", "New field");
    await choose(ada, "Kind", 3);
    await fillIn(ada, "Name", "Lunch");
    await fillIn(ada, "Choices", "Soup\nSalad\nBread");
    await clickText(ada, "dialog:last-of-type button", "Add");
    await untilText(ada, "dialog .row strong", "Lunch");
    await untilClosed(ada);
    const names = () => texts(ada, "dialog .row strong");
    await act(ada, "[aria-label='Move up']", 2);
    await eventually(async () => assert.deepEqual(await names(), ["First", "Lunch", "Second"]));
    await eventually(async () => assert.deepEqual((await fetched("Bob", "custom_profile_fields")).custom_profile_fields.map(({ name }) => name), ["First", "Lunch", "Second"]));

    const bob = await as("Bob", "#settings/profile");
    assert.deepEqual(await onField(bob, "Lunch", (control) => [...control.options].map((option) => option.text)), ["—", "Soup", "Salad", "Bread"]);
    await choose(bob, "Lunch", 1);
    await untilToast(bob, "Saved");
    await go(ada, `#user/${bench.server.accounts.Bob.user_id}`);
    await untilText(ada, "dialog .facts", "Salad");

    // A choice keeps what people chose when others come and go.
    await go(ada, "#organization/profile-field-settings");
    await clickButton(ada, "Edit Lunch");
    await fillIn(ada, "Choices", "Cake\nSalad");
    await clickText(ada, "dialog:last-of-type button", "Save");
    await untilText(ada, "dialog h2", "Delete Soup, Bread?");
    await clickText(ada, "dialog.dialog--small .button--danger", "Delete");
    await eventually(async () => {
      const field = (await fetched("Bob", "custom_profile_fields")).custom_profile_fields.find(({ name }) => name === "Lunch");
      assert.deepEqual(Object.entries(JSON.parse(field.field_data)).map(([key, { text }]) => [key, text]).sort(), [["1", "Salad"], ["3", "Cake"]]);
    });
  });

  it("has linkifiers in an order", async () => {
    const ada = await as("Ada", "#organization/linkifier-settings");
    for (const [pattern, address] of [["#(?P<id>[0-9]+)", "https://example.com/{id}"], ["#(?P<id>[0-9]{3})", "https://example.com/long/{id}"]]) {
      await fillIn(ada, "Pattern", pattern);
      await fillIn(ada, "Address", address);
      await clickText(ada, "dialog button", "Add");
      await untilText(ada, "dialog .row", address);
      // The reply empties the form.
      await eventually(async () => assert.equal(await onField(ada, "Pattern", (control) => control.value), ""));
    }
    await act(ada, "[aria-label='Move down']", 0);
    await eventually(async () => assert.match((await texts(ada, "dialog .row"))[0], /long/));
    await eventually(async () => assert.match((await fetched("Bob", "realm_linkifiers")).realm_linkifiers[0].url_template, /long/));
    await bench.server.send("Bob", "general", "links", "See #123");
    await go(ada, await at("general", "links"));
    await until(ada, () => document.querySelector(".message-row a[href='https://example.com/long/123']"));
  });

  it("has emoji of its own, folders, permissions, and a name", async () => {
    const ada = await as("Ada", "#organization/channel-folders");
    for (const name of ["Products", "Garden"]) {
      await clickText(ada, "dialog button", "New folder");
      await typeInto(ada, "dialog.dialog--small input", name);
      await ada.keyboard.press("Enter");
      await untilText(ada, "dialog .row strong", name);
      await untilClosed(ada);
    }
    await act(ada, "[aria-label='Move up']", 1);
    await eventually(async () => assert.deepEqual(await texts(ada, "dialog .row strong"), ["Garden", "Products"]));
    await go(ada, "#organization/organization-permissions");
    const nobody = await onField(ada, "Create public channels", (control) => [...control.options].find((option) => option.text === "Administrators").value);
    await choose(ada, "Create public channels", nobody);
    await untilToast(ada, "Saved");
    const bob = await as("Bob", "#channels/new");
    await eventually(async () => assert.deepEqual(await onField(bob, "Who can read it", (control) => [...control.options].map((option) => option.value)), ["private", "protected"]));
    await go(ada, "#organization/organization-profile");
    await fillIn(ada, "Name", "The bakery");
    await clickText(ada, "dialog button", "Save");
    await until(bob, () => document.title.includes("The bakery"));
    // What others change is shown beside what is being written.
    await fillIn(ada, "Description", "Bread for all");
    await bench.server.call("Ada", "PATCH", "/realm", { name: "The mill" });
    await eventually(async () => assert.deepEqual([await onField(ada, "Name", (input) => input.value), await onField(ada, "Description", (area) => area.value)], ["The mill", "Bread for all"]));
  });
});

describe("mail", () => {
  it("has no settings and addresses where the server neither sends nor receives it", async () => {
    const untilHidden = (page, words) => untilEqual(page, "dialog", (dialog, wanted) => wanted.some((one) => dialog.innerText.includes(one)), false, words);
    const ada = await as("Ada", "#settings/notifications");
    await untilText(ada, "dialog h3", "Push notifications");
    await untilHidden(ada, ["Email notifications", "New logins"]);
    await go(ada, "#organization/organization-settings");
    await untilText(ada, "dialog h3", "Times and rules");
    await untilText(ada, "dialog label", "Show names and texts in push notifications");
    await untilHidden(ada, ["Email notifications", "digest", "disposable", "need an invitation"]);
    await go(ada, "#organization/organization-level-user-defaults");
    await untilText(ada, "dialog h3", "Privacy");
    await untilHidden(ada, ["Email notifications", "New logins"]);
    const { stream_id: id } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "design" });
    await go(ada, `#channels/${id}/design/personal`);
    await untilText(ada, "dialog label", "Push notifications");
    await untilHidden(ada, ["Email notifications"]);
    const answered = ada.waitForResponse((response) => response.url().endsWith(`/streams/${id}/email_address`));
    await go(ada, `#channels/${id}/design/general`);
    assert.equal((await (await answered).json()).email, "");
    await untilText(ada, "dialog p", "Created by");
    await untilHidden(ada, ["Email address"]);
  });
});

describe("channels", () => {
  it("list their topics", async () => {
    for (const topic of ["tomatoes", "✔ slugs", "beans"]) await bench.server.send("Bob", "design", topic, `About ${topic}`);
    const id = (await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "design" })).stream_id;
    const ada = await as("Ada", `#topics/channel/${id}-design`);
    await untilText(ada, ".conversation", "beans");
    const newest = async () => (await texts(ada, ".conversation__name")).slice(0, 3);
    await eventually(async () => assert.deepEqual(await newest(), ["beans", "slugs", "tomatoes"]));
    await bench.server.send("Bob", "design", "tomatoes", "Ripe");
    await eventually(async () => assert.deepEqual(await newest(), ["tomatoes", "beans", "slugs"]));
    await bench.server.send("Bob", "design", "", "About nothing");
    for (const [text, found] of [["general ch", "general chat"], ["bea", "beans"]]) {
      await onElement(ada, "[aria-label='Filter topics']", (field, words) => {
        field.value = words;
        field.dispatchEvent(new Event("input"));
      }, text);
      await eventually(async () => assert.deepEqual(await texts(ada, ".conversation__name"), [found]));
    }
    await clickText(ada, ".conversation", "beans");
    await untilText(ada, ".message-row", "About beans");
    await bench.server.call("Ada", "PATCH", "/settings", { web_channel_default_view: 3 });
    await until(ada, (href) => document.querySelector(".sidebar a[title=design]").getAttribute("href") === href, `#topics/channel/${id}-design`);
  });

  it("are created, changed and left", async () => {
    const ada = await as("Ada", "#channels/new");
    await fillIn(ada, "Name", "bread");
    await fillIn(ada, "Description", "Rye and wheat");
    await clickText(ada, "dialog button[type=submit]", "Create");
    await untilText(ada, ".header h1", "bread");
    const id = (await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "bread" })).stream_id;
    await go(ada, `#channels/${id}/bread/general`);
    await fillIn(ada, "Name", "pastry");
    await clickText(ada, "dialog button[type=submit]", "Save");
    await untilText(ada, ".sidebar", "pastry");
    // Saving the description does not undo a new name from elsewhere.
    await fillIn(ada, "Description", "Rye");
    await bench.server.call("Ada", "PATCH", `/streams/${id}`, { new_name: "pies" });
    await eventually(async () => assert.equal(await onField(ada, "Name", (input) => input.value), "pies"));
    await clickText(ada, "dialog button[type=submit]", "Save");
    await eventually(async () => {
      const { streams } = await bench.server.call("Ada", "GET", "/streams");
      assert.ok(streams.some(({ name, description }) => name === "pies" && description === "Rye"));
    });
    await bench.server.call("Ada", "PATCH", `/streams/${id}`, { new_name: "pastry" });
    await untilText(ada, ".sidebar", "pastry");
    await go(ada, `#channels/${id}/pastry/personal`);
    await clickText(ada, "dialog .checkbox", "Pin to top");
    await untilText(ada, ".sidebar h2", "Pinned");
    await go(ada, `#channels/${id}/pastry/subscribers`);
    await typeInto(ada, "dialog .picker input", "bob");
    await untilText(ada, "dialog .completion", "Bob");
    await ada.keyboard.press("Enter");
    await clickText(ada, "dialog button[type=submit]", "Add");
    await untilText(ada, "dialog .row", "Bob");
    const bob = await as("Bob", "#inbox");
    await untilText(bob, ".sidebar", "pastry");
    await go(bob, `#channels/${id}/pastry/general`);
    await clickText(bob, "dialog .page__tools button", "Unsubscribe");
    await until(bob, () => !document.querySelector(".sidebar").textContent.includes("pastry"));
  });

  it("follow the settings of the user until they have their own, which is on or off", async () => {
    const { stream_id: id } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "design" });
    const ada = await as("Ada", `#channels/${id}/design/personal`);
    const untilOffered = (...texts) => eventually(async () => assert.deepEqual(await onField(ada, "Sounds", (control) => [...control.options].map((option) => option.text)), texts));
    await untilOffered("Same as your settings", "On", "Off");
    const sounds = async () => (await fetched("Ada", "subscription")).subscriptions.find((one) => one.stream_id === id).audible_notifications;
    for (const value of [false, true]) {
      await choose(ada, "Sounds", value);
      await eventually(async () => assert.equal(await sounds(), value));
      await untilOffered("On", "Off");
    }
  });

  it("have settings of one's own only while one is subscribed", async () => {
    const id = await bench.server.channel("attic", ["Ada"]);
    const bob = await as("Bob", `#channels/${id}/attic/personal`);
    const untilOffered = (is) => eventually(async () => assert.deepEqual(await onElements(bob, "dialog .field :is(select, input), dialog .checkbox input", (all) => [...new Set(all.map((one) => one.disabled))]), [!is]));
    await untilText(bob, "dialog p", "You are not subscribed.");
    await untilOffered(false);
    await clickText(bob, "dialog .page__tools button", "Subscribe");
    await untilOffered(true);
    await clickText(bob, "dialog .page__tools button", "Unsubscribe");
    await untilOffered(false);
  });

  it("are not left by mistake if one cannot return alone", async () => {
    await bench.server.call("Bob", "POST", "/users/me/subscriptions", { subscriptions: [{ name: "vault" }], invite_only: true });
    const bob = await as("Bob", "#channels/subscribed");
    await clickButton(bob, "Unsubscribe from #vault");
    await untilText(bob, "dialog.dialog--small h2", "Leave #vault?");
    await clickText(bob, "dialog.dialog--small button", "Cancel");
    await clickButton(bob, "Unsubscribe from #design");
    await clickToast(bob, "Undo", "You left #design");
    // The button may still be that of before.
    const subscribed = async () => (await bench.server.call("Bob", "GET", "/users/me/subscriptions")).subscriptions.map(({ name }) => name);
    await eventually(async () => assert.ok((await subscribed()).includes("design")));
    await bob.waitForSelector("[aria-label='Unsubscribe from #design']");
    assert.ok((await subscribed()).includes("vault"));
  });

  it("belong to groups that mentions reach", async () => {
    const ada = await as("Ada", "#groups/new");
    await fillIn(ada, "Name", "bakers");
    await clickText(ada, "dialog button[type=submit]", "Create");
    await eventually(async () => {
      const { user_groups } = await bench.server.call("Ada", "GET", "/user_groups");
      assert.ok(user_groups.some(({ name }) => name === "bakers"));
    });
  });
});
