/** Pictures, sending later, reminders and links; in headless Chromium against the real server. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { act, chooseFrom, click, clickButton, clickText, compose, countOf, enter, eventually, fillIn, focusOn, intercept, IS_FIREFOX, onElement, onElements, press, pressOn, setUp, typeInto, until, untilAllEqual, untilEqual, untilFocus, untilStable, untilText, untilToast, wake } from "./harness.js";

const bench = setUp();
const { as, at, go } = bench;

/** Uploads a picture of one colour as a user, and posts it. */
async function postPicture(page, where, colour, name) {
  await onElement(page, ".composer .editor__text", async (area, style, title, drops) => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [600, 400];
    const context = canvas.getContext("2d");
    context.fillStyle = style;
    context.fillRect(0, 0, 600, 400);
    const blob = await new Promise((resolve) => canvas.toBlob(resolve));
    const data = new DataTransfer();
    data.items.add(new File([blob], title, { type: "image/png" }));
    // Firefox gives no files to events that a script makes for pasting.
    const how = { bubbles: true, cancelable: true };
    const event = drops ? new DragEvent("drop", { ...how, dataTransfer: data }) : new ClipboardEvent("paste", { ...how, clipboardData: data });
    area.dispatchEvent(event);
  }, colour, name, IS_FIREFOX);
  await until(page, (title) => document.querySelector(".composer .editor__text").value.includes(`[${title}](/user_uploads/`), name);
  await compose(page, "");
  await until(page, () => document.querySelector(".composer .editor__text").value === "");
}

describe("pictures", () => {
  it("open in a box, one after the other, and can be downloaded", async () => {
    const ada = await as("Ada", await at("general", "pictures"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await postPicture(ada, "", "teal", "one.png");
    await postPicture(ada, "", "coral", "100%.png");
    await until(ada, () => document.querySelectorAll(".message_inline_image img").length === 2 && [...document.querySelectorAll(".message_inline_image img")].every((image) => image.naturalWidth > 0));
    await act(ada, ".message_inline_image a", 0);
    await untilText(ada, ".lightbox__caption", "one.png, Ada (1 of 2)");
    await until(ada, () => document.querySelector(".lightbox__stage img")?.naturalWidth === 600);
    await ada.keyboard.press("ArrowRight");
    await untilText(ada, ".lightbox__caption", "100%.png, Ada (2 of 2)");
    // Enlarged with keys, the wheel and two clicks, and moved with the mouse; arrows then move the picture.
    const scale = () => onElement(ada, ".lightbox__stage img", (image) => new DOMMatrix(getComputedStyle(image).transform).a);
    const shift = () => onElement(ada, ".lightbox__stage img", (image) => new DOMMatrix(getComputedStyle(image).transform).e);
    await until(ada, () => document.querySelector(".lightbox__stage img")?.naturalWidth === 600);
    for (let count = 0; count < 3; count++) await ada.keyboard.press("+");
    await eventually(async () => assert.equal(await scale(), 3.375));
    await ada.keyboard.press("ArrowRight");
    await eventually(async () => assert.equal(await shift(), -80));
    await ada.keyboard.press("0");
    await eventually(async () => assert.equal(await scale(), 1));
    await ada.mouse.move(720, 420);
    await ada.mouse.wheel({ deltaY: -900 });
    await until(ada, () => new DOMMatrix(getComputedStyle(document.querySelector(".lightbox__stage img")).transform).a > 5);
    await ada.mouse.down();
    await ada.mouse.move(820, 420);
    await ada.mouse.up();
    await eventually(async () => assert.ok((await shift()) > 90));
    await clickButton(ada, "Show the whole picture (0)");
    await eventually(async () => assert.equal(await scale(), 1));
    await untilEqual(ada, ".lightbox__caption", (caption) => caption.textContent, "100%.png, Ada (2 of 2)");
    await clickButton(ada, "Next");
    await untilText(ada, ".lightbox__caption", "one.png");
    const download = await onElement(ada, "dialog a[download]", (link) => link.href);
    const response = await ada.evaluate(async (url) => { const reply = await fetch(url); return [reply.status, reply.headers.get("content-type"), (await reply.blob()).size > 100]; }, download);
    assert.deepEqual(response, [200, "image/png", true]);
    await ada.keyboard.press("Escape");
    await until(ada, () => !document.querySelector("dialog"));
    // With the keyboard: the last row has the focus, and v shows its picture.
    await pressOn(ada, ".message-row:last-of-type", "v");
    await untilText(ada, ".lightbox__caption", "100%.png");
    await ada.keyboard.press("v");
    await until(ada, () => !document.querySelector("dialog"));
  });

  it("have their place before they are loaded", async () => {
    const bob = await as("Bob", await at("general", "places"));
    await bob.waitForSelector(".composer .editor__text", { visible: true });
    await postPicture(bob, "", "teal", "place.png");
    await until(bob, () => document.querySelector(".message_inline_image img")?.naturalWidth > 0);
    const size = (page) => onElement(page, ".message_inline_image img", (image) => [image.getBoundingClientRect().width, image.getBoundingClientRect().height]);
    const ada = await bench.open();
    await intercept(ada, (request) => request.url().includes("/user_uploads/"));
    await enter(ada, bench.server, "Ada");
    await go(ada, await at("general", "places"));
    await ada.waitForSelector(".message_inline_image img");
    await eventually(async () => assert.deepEqual(await size(ada), await size(bob)));
  });

  it("of other sites are shown as links", async () => {
    const lines = ["https://a.example/1.png", "[two](https://a.example/2.png)", "https://a.example/3.mp4", "![four](https://a.example/4.mp3)"];
    await bench.server.send("Bob", "general", "sites", lines.join("\n\n"));
    const ada = await as("Ada", await at("general", "sites"));
    const links = (all) => all.map((link) => `${link.textContent} ${link.getAttribute("href")}`);
    const expected = ["https://a.example/1.png https://a.example/1.png", "two https://a.example/2.png", "https://a.example/3.mp4 https://a.example/3.mp4", "four https://a.example/4.mp3"];
    await untilAllEqual(ada, ".message-row .content a", links, expected);
    assert.equal(await countOf(ada, ".message_inline_image"), 0);
  });

  it("arrive in the text that they belong to, also while another conversation is open", async () => {
    const { id } = await bench.server.send("Ada", "general", "slides", "The talk");
    const path = join(tmpdir(), `teamchat-web-slides-${process.pid}.txt`);
    writeFileSync(path, "text");
    const ada = await as("Ada", await at("general", "slides"));
    await untilText(ada, ".message-row", "The talk");
    await ada.evaluate(() => {
      const { send } = XMLHttpRequest.prototype;
      const released = new Promise((resolve) => { window.release = resolve; });
      XMLHttpRequest.prototype.send = function sendLate(...args) {
        void released.then(() => send.apply(this, args));
      };
    });
    await pressOn(ada, `[data-id="${id}"]`, "e");
    for (const place of [".composer", ".message-row"]) {
      const input = await ada.waitForSelector(`${place} input[type=file]`);
      await input.uploadFile(path);
      await untilEqual(ada, `${place} .editor__text`, (area) => area.value.includes("Uploading"), true);
    }
    await go(ada, await at("general", "elsewhere"));
    await until(ada, () => document.querySelector(".composer .editor__text").placeholder.includes("elsewhere"));
    await ada.evaluate(() => window.release());
    await until(ada, () => !document.querySelector(".editor__uploads > *"));
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "");
    await go(ada, await at("general", "slides"));
    for (const place of [".composer", ".message-row"]) {
      await untilEqual(ada, `${place} .editor__text`, (area) => area.value.includes("](/user_uploads/") && !area.value.includes("Uploading"), true);
    }
  });

  it("leave nothing in the text if the page is loaded again before they have arrived", async () => {
    const path = join(tmpdir(), `teamchat-web-cut-${process.pid}.txt`);
    writeFileSync(path, "text");
    const where = await at("general", "cut short");
    const ada = await as("Ada", where);
    await typeInto(ada, ".composer .editor__text", "Look at this");
    await ada.evaluate(() => { XMLHttpRequest.prototype.send = () => {}; });
    const input = await ada.waitForSelector(".composer input[type=file]");
    await input.uploadFile(path);
    await until(ada, () => Object.entries(localStorage).some(([name, text]) => name.includes("/drafts/") && text.includes("Uploading")));
    await ada.reload();
    await untilEqual(ada, ".composer .editor__text", (area) => area.value.trim(), "Look at this");
    await until(ada, () => !Object.entries(localStorage).some(([name, text]) => (name + text).includes("Uploading")));
  });

  // Only Chromium can be made slow.
  it("are chosen with the button, and an upload can be cancelled", { skip: IS_FIREFOX }, async () => {
    const ada = await as("Ada", await at("general", "files"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    const path = join(tmpdir(), `teamchat-web-${process.pid}.txt`);
    writeFileSync(path, "text");
    const input = await ada.waitForSelector(".composer input[type=file]");
    await input.uploadFile(path);
    await until(ada, () => document.querySelector(".composer .editor__text").value.includes("/user_uploads/"));
    await onElement(ada, ".composer .editor__text", (area) => { area.value = ""; area.dispatchEvent(new Event("input")); });
    // A network that is too slow for the second.
    const network = await ada.createCDPSession();
    await network.send("Network.enable");
    await network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 2000 });
    writeFileSync(path, "text".repeat(50_000));
    await input.uploadFile(path);
    await ada.waitForSelector(".editor__uploads button");
    await until(ada, () => document.querySelector(".composer .editor__text").value.includes("Uploading"));
    await click(ada, ".editor__uploads button");
    await until(ada, () => document.querySelector(".composer .editor__text").value.trim() === "" && !document.querySelector(".editor__uploads button"));
  });
});

describe("later", () => {
  it("a message is sent at a time, and can be taken back before", async () => {
    const ada = await as("Ada", await at("general", "later"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await typeInto(ada, ".composer .editor__text", "Good morning");
    await clickButton(ada, "More ways to send");
    await clickText(ada, "[role=menuitem]", "Send later");
    await clickText(ada, "dialog .choices button", "Tomorrow at 9");
    await untilToast(ada, "will be sent");
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "");
    const { scheduled_messages: [scheduled] } = await bench.server.call("Ada", "GET", "/scheduled_messages");
    const time = new Date(scheduled.scheduled_delivery_timestamp * 1000);
    assert.deepEqual([scheduled.content, scheduled.topic, time.getHours(), time.getMinutes()], ["Good morning", "later", 9, 0]);
    assert.ok(time.getTime() - Date.now() < 48 * 3_600_000 && time > new Date());
    await go(ada, "#scheduled");
    await untilText(ada, "dialog .row", "Good morning");
    await clickButton(ada, "Delete");
    await eventually(async () => assert.deepEqual((await bench.server.call("Ada", "GET", "/scheduled_messages")).scheduled_messages, []));
  });

  it("a message that is scheduled arrives", async () => {
    const [ada, bob] = [await as("Ada", await at("general", "soon")), await as("Bob", await at("general", "soon"))];
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await typeInto(ada, ".composer .editor__text", "In a moment");
    await clickButton(ada, "More ways to send");
    await clickText(ada, "[role=menuitem]", "Send later");
    await onElement(ada, "dialog input[type=datetime-local]", (input) => {
      const later = new Date(Date.now() + 3_600_000);
      input.value = new Date(later.getTime() - later.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    });
    await clickText(ada, "dialog button", "Choose this time");
    const [scheduled] = await eventually(async () => {
      const { scheduled_messages: all } = await bench.server.call("Ada", "GET", "/scheduled_messages");
      assert.equal(all.length, 1);
      return all;
    });
    // The server refuses a time that has passed before the request arrives.
    await eventually(() => bench.server.call("Ada", "PATCH", `/scheduled_messages/${scheduled.scheduled_message_id}`, { scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 2 }));
    await untilText(bob, ".message-row", "In a moment");
  });

  it("one is reminded of a message", async () => {
    const { id } = await bench.server.send("Bob", "general", "promise", "Please answer this");
    const ada = await as("Ada", await at("general", "promise"));
    await pressOn(ada, `[data-id="${id}"]`, "i");
    await clickText(ada, "[role=menuitem]", "Remind me");
    await fillIn(ada, "Note", "Before lunch");
    await clickText(ada, "dialog .choices button", "In an hour");
    await untilToast(ada, "You will be reminded");
    const { reminders: [reminder] } = await bench.server.call("Ada", "GET", "/reminders");
    assert.equal(reminder.reminder_target_message_id, id);
    await go(ada, "#inbox");
    await go(ada, "#scheduled");
    await untilText(ada, "dialog .row", "promise");
    // It leads to the message in its conversation.
    await clickText(ada, "dialog .row__main", "promise");
    await untilText(ada, ".header__topic", "promise");
    await until(ada, (wanted) => location.hash.endsWith(`/near/${wanted}`), id);
  });

  it("a double click does it once, as in forms", async () => {
    const { id } = await bench.server.send("Bob", "general", "twice", "Do not remind me twice");
    const ada = await as("Ada", await at("general", "twice"));
    const asked = [];
    ada.on("request", (request) => request.method() === "POST" && /\/(reminders|multiuse)$/.test(request.url()) && asked.push(request.url().split("/").at(-1)));
    await pressOn(ada, `[data-id="${id}"]`, "i");
    await clickText(ada, "[role=menuitem]", "Remind me");
    await onElements(ada, "dialog .choices button", ([first]) => {
      first.click();
      first.click();
    });
    await untilToast(ada, "You will be reminded");
    await go(ada, "#invite");
    await onElement(ada, "dialog form", (form) => {
      form.requestSubmit();
      form.requestSubmit();
    });
    await ada.waitForSelector("dialog [aria-label='Invitation link']");
    assert.deepEqual(asked, ["reminders", "multiuse"]);
  });

  it("a message leaves the box also if its topic is renamed during the request", async () => {
    const { id } = await bench.server.send("Bob", "general", "working title", "What shall it be?");
    const ada = await bench.open();
    const held = [];
    await intercept(ada, (request) => {
      const isHeld = request.method() === "POST" && request.url().endsWith("/scheduled_messages");
      if (isHeld) held.push(request);
      return isHeld;
    });
    await enter(ada, bench.server, "Ada");
    await go(ada, await at("general", "working.20title"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await typeInto(ada, ".composer .editor__text", "I shall think about it");
    await clickButton(ada, "More ways to send");
    await clickText(ada, "[role=menuitem]", "Send later");
    await clickText(ada, "dialog .choices button", "Tomorrow at 9");
    await eventually(() => assert.equal(held.length, 1));
    await bench.server.call("Ada", "PATCH", `/messages/${id}`, { topic: "final title", propagate_mode: "change_all" });
    await untilEqual(ada, ".composer .editor__text", (area) => area.placeholder, "Message #general > final title");
    await held[0].continue();
    await untilToast(ada, "will be sent");
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "");
    const { scheduled_messages: [scheduled] } = await bench.server.call("Ada", "GET", "/scheduled_messages");
    await bench.server.call("Ada", "DELETE", `/scheduled_messages/${scheduled.scheduled_message_id}`);
  });
});

describe("messages", () => {
  it("show text that looks like an attribute, and have no inline styles", async () => {
    const owed = 'I owe you 100" style="0 euros, to be paid " today';
    const content = `${owed}\n\n\`<div style="color:red">\`\n\n| a | b |\n|--:|:-:|\n| c | d |\n\n$$x^2$$`;
    const { id } = await bench.server.send("Bob", "general", "styles", content);
    const ada = await as("Ada", await at("general", "styles"));
    await until(ada, (row, text) => document.querySelector(`[data-id="${row}"] .content p`).textContent === text, id, owed);
    const found = await onElement(ada, `[data-id="${id}"] .content`, (element) => ({
      code: element.querySelector("code").textContent,
      aligned: [...element.querySelectorAll("td")].map((cell) => getComputedStyle(cell).textAlign),
      styles: element.querySelectorAll("[style]").length,
      formulas: element.querySelectorAll(".katex").length,
    }));
    // What the page's policy refuses would be an error of its console, which fails the test.
    assert.deepEqual(found, { code: '<div style="color:red">', aligned: ["end", "center"], styles: 0, formulas: 1 });
  });

  it("are answered in their topic from a view of several", async () => {
    await bench.server.send("Bob", "design", "question", "Serif or sans?");
    const ada = await as("Ada", "#feed");
    await untilText(ada, ".message-row", "Serif or sans?");
    await act(ada, ".recipient-bar__reply", "last");
    await until(ada, () => document.activeElement.classList.contains("editor__text"));
    await ada.keyboard.type("Sans");
    await press(ada, "Control+Enter");
    await eventually(async () => {
      const { messages: [message] } = await bench.server.call("Bob", "GET", "/messages", { anchor: "newest", num_before: 1, num_after: 0 });
      assert.deepEqual([message.subject, message.content], ["question", "<p>Sans</p>"]);
    });
  });

  it("with choices say what each of them sends", async () => {
    const choice = { type: "multiple_choice", short_name: "A", long_name: "Yes", reply: "I agree to pay" };
    const widget_content = { widget_type: "zform", extra_data: { type: "choices", heading: "Well?", choices: [choice] } };
    const { id } = await bench.server.call("Bob", "POST", "/messages", { type: "channel", to: "general", topic: "choices", content: "Well?", widget_content });
    const ada = await as("Ada", await at("general", "choices"));
    await untilEqual(ada, `[data-id="${id}"] .widget button`, (button) => [button.textContent, button.title], ["A", "I agree to pay"]);
    await act(ada, `[data-id="${id}"] .widget button`, 0);
    await untilText(ada, ".message-row", "I agree to pay");
  });

  it("move to another topic, are marked as unread, and show who has read them", async () => {
    const first = await bench.server.send("Bob", "general", "here", "One");
    const second = await bench.server.send("Bob", "general", "here", "Two");
    const ada = await as("Ada", await at("general", "here"));
    await ada.waitForSelector(`[data-id="${second.id}"]`);
    await until(ada, () => !document.querySelector(".message-row[data-unread]"));
    await pressOn(ada, `[data-id="${second.id}"]`, "U");
    await ada.waitForSelector(`[data-id="${second.id}"][data-unread]`);
    await ada.keyboard.press("V");
    await untilText(ada, "dialog", "No one");
    await ada.keyboard.press("Escape");
    await pressOn(ada, `[data-id="${first.id}"]`, "m");
    await fillIn(ada, "Topic", "there");
    await onElements(ada, "dialog select", (selects) => { selects.at(-1).value = "change_one"; });
    await clickText(ada, "dialog button[type=submit]", "Move");
    await until(ada, (id) => !document.querySelector(`[data-id="${id}"]`), first.id);
    await eventually(async () => assert.equal((await bench.server.call("Bob", "GET", `/messages/${first.id}`)).message.subject, "there"));
    await eventually(async () => assert.equal((await bench.server.call("Bob", "GET", `/messages/${second.id}`)).message.subject, "here"));
  });

  it("move to another channel with their topic", async () => {
    const { id } = await bench.server.send("Bob", "general", "whole", "One");
    await bench.server.send("Bob", "general", "whole", "Two");
    const ada = await as("Ada", await at("general", "whole"));
    await untilText(ada, ".message-row", "Two");
    await clickButton(ada, "Actions on the topic");
    await clickText(ada, "[role=menu] [role=menuitem]", "Move messages");
    await chooseFrom(ada, "Channel", "design", "design");
    await clickText(ada, "dialog button[type=submit]", "Move");
    await untilText(ada, ".header h1", "design");
    await untilText(ada, ".message-row", "One");
    const { message } = await bench.server.call("Bob", "GET", `/messages/${id}`);
    assert.deepEqual([message.display_recipient, message.subject], ["design", "whole"]);
  });

  it("are linked to, and links lead to them", async () => {
    const { id } = await bench.server.send("Bob", "design", "target", "Here it is");
    await bench.server.send("Bob", "general", "links", `See #**design>target@${id}** and #**design** and #**design>target**`);
    const ada = await as("Ada", await at("general", "links"));
    await click(ada, ".message-row a.message-link");
    await ada.waitForSelector(`[data-id="${id}"].is-target`);
    await ada.goBack();
    await click(ada, ".message-row a.stream");
    await untilText(ada, ".header h1", "design");
    await ada.goBack();
    await untilText(ada, ".header h1", "links");
    await ada.goForward();
    await untilText(ada, ".header h1", "design");
  });

  it("are previewed before they are sent, and formatted with keys", async () => {
    const ada = await as("Ada", await at("general", "format"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await typeInto(ada, ".composer .editor__text", "strong");
    await press(ada, "Shift+Home");
    await press(ada, "Control+b");
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "**strong**");
    await press(ada, "Alt+p");
    await ada.waitForSelector(".editor__preview strong");
    await press(ada, "Alt+p");
    await press(ada, "Control+Enter");
    await ada.waitForSelector(".message-row .content strong");
  });
});

describe("a preview", () => {
  it("is that of the latest text, also if an earlier reply comes later", async () => {
    const ada = await bench.open();
    const held = [];
    await intercept(ada, (request) => {
      const isHeld = held.length === 0 && request.url().endsWith("/json/messages/render");
      if (isHeld) held.push(request);
      return isHeld;
    });
    await enter(ada, bench.server, "Ada");
    await go(ada, await at("general", "previews"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await typeInto(ada, ".composer .editor__text", "first");
    await press(ada, "Alt+p");
    await eventually(() => assert.equal(held.length, 1));
    await click(ada, ".composer button[aria-label=Preview]");
    await typeInto(ada, ".composer .editor__text", " and second");
    await press(ada, "Alt+p");
    await untilText(ada, ".editor__preview", "first and second");
    const answered = ada.waitForResponse((response) => response.url().endsWith("/json/messages/render"));
    await held[0].continue();
    await (await answered).text();
    assert.equal(await untilStable(ada, ".editor__preview", (preview) => preview.textContent), "first and second");
  });
});

describe("a dialog that is still loading", () => {
  /** Opens a page for Ada whose module in a file of these names is held. */
  async function openHolding(names) {
    const ada = await bench.open();
    const held = [];
    await intercept(ada, (request) => {
      const isHeld = names.test(request.url());
      if (isHeld) held.push(request);
      return isHeld;
    });
    await enter(ada, bench.server, "Ada");
    return { ada, held };
  }

  // Firefox loads a module also while its request is held.
  it("has the keys already, so that what is typed is no command", { skip: IS_FIREFOX }, async () => {
    await bench.server.send("Ada", "general", "slow", "to be edited");
    const { ada, held } = await openHolding(/\/(message_dialogs|later)\.js$/);
    await go(ada, await at("general", "slow"));
    await untilText(ada, ".message-row", "to be edited");
    // A page that has come to rest loads the dialogs, and draws its list no more: before, a focused row may be replaced.
    await eventually(() => assert.equal(held.length, 1));
    await pressOn(ada, ".message-row:last-of-type", "e");
    await ada.keyboard.press("?");
    await held[0].continue();
    await until(ada, () => document.querySelector(".message-row textarea")?.value === "to be edited?");
    assert.equal(await countOf(ada, "dialog[open]"), 0, "the list of keys has not opened");
  });

  it("opens beside its message, also if another one has the focus by then", { skip: IS_FIREFOX }, async () => {
    const { id } = await bench.server.send("Bob", "general", "menus", "the one");
    const { id: other } = await bench.server.send("Bob", "general", "menus", "the other");
    const { ada, held } = await openHolding(/\/(message_menu|later)\.js$/);
    await go(ada, await at("general", "menus"));
    await untilText(ada, `[data-id="${other}"]`, "the other");
    // As above: the rows stay as they are once the page has come to rest.
    await eventually(() => assert.equal(held.length, 1));
    await pressOn(ada, `[data-id="${id}"]`, "i");
    await focusOn(ada, `[data-id="${other}"]`);
    await held[0].continue();
    await ada.waitForSelector("[role=menu]");
    assert.equal(await countOf(ada, `[data-id="${id}"] [aria-expanded=true]`), 1);
  });

  it("has the arrows and Enter as well, which choose in a menu", { skip: IS_FIREFOX }, async () => {
    const { id } = await bench.server.send("Bob", "general", "choosing", "to be looked at");
    const { ada, held } = await openHolding(/\/(message_menu|later)\.js$/);
    await go(ada, await at("general", "choosing"));
    await untilText(ada, `[data-id="${id}"]`, "to be looked at");
    // As above: the rows stay as they are once the page has come to rest.
    await eventually(() => assert.equal(held.length, 1));
    await pressOn(ada, `[data-id="${id}"]`, "i");
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await ada.keyboard.press(key);
    await held[0].continue();
    await untilText(ada, "dialog h2", "Source of the message");
  });

  it("opens once, however often it is asked for meanwhile", { skip: IS_FIREFOX }, async () => {
    const { ada, held } = await openHolding(/\/(time_dialog|later)\.js$/);
    await go(ada, await at("general", "clocks"));
    for (let count = 0; count < 2; count++) await click(ada, '.composer [aria-label="Time"]');
    await eventually(() => assert.equal(held.length, 1));
    await held[0].continue();
    await ada.waitForSelector("dialog[open]");
    assert.equal(await countOf(ada, "dialog[open]"), 1, "the button was clicked twice");
  });

  it("is a menu that stays open, with nothing chosen, if its button is pressed again", { skip: IS_FIREFOX }, async () => {
    const { id } = await bench.server.send("Bob", "general", "doubled", "with a menu");
    const { ada, held } = await openHolding(/\/(message_menu|later)\.js$/);
    await go(ada, await at("general", "doubled"));
    await untilText(ada, `[data-id="${id}"]`, "with a menu");
    // As above: the rows stay as they are once the page has come to rest.
    await eventually(() => assert.equal(held.length, 1));
    await focusOn(ada, `[data-id="${id}"]`);
    for (let count = 0; count < 2; count++) await pressOn(ada, `[data-id="${id}"] [data-action=menu]`, "Enter");
    await click(ada, `[data-id="${id}"] [data-action=menu]`);
    await held[0].continue();
    await untilFocus(ada, "[role=menuitem]");
    await ada.keyboard.press("ArrowDown");
    await until(ada, () => document.activeElement.textContent.startsWith("Forward"));
  });

  it("opens beside its message as it is drawn by then, and gives the focus back there", { skip: IS_FIREFOX }, async () => {
    const { id } = await bench.server.send("Bob", "general", "redrawn", "drawn again");
    const row = `[data-id="${id}"]`;
    const setStar = (op) => bench.server.call("Ada", "POST", "/messages/flags", { messages: [id], op, flag: "starred" });
    const { ada, held } = await openHolding(/\/(user_card|later)\.js$/);
    await go(ada, await at("general", "redrawn"));
    await untilText(ada, row, "drawn again");
    // As above: only the star draws the row again.
    await eventually(() => assert.equal(held.length, 1));
    await pressOn(ada, row, "u");
    await setStar("add");
    await ada.waitForSelector(`${row} .mark--star`);
    await held[0].continue();
    await ada.waitForSelector(".popover .card");
    assert.equal(await countOf(ada, `${row} [aria-expanded=true]`), 1);
    const isBeside = (card, where) => card.getBoundingClientRect().left >= document.querySelector(where).getBoundingClientRect().left;
    assert.ok(await onElement(ada, ".popover", isBeside, row), "not in a corner of the page");
    await ada.keyboard.press("Escape");
    await until(ada, () => !document.querySelector(".popover"));
    // The toolbar goes along with its row.
    await focusOn(ada, row);
    await pressOn(ada, `${row} [data-action=menu]`, "Enter");
    await untilFocus(ada, "[role=menuitem]");
    await setStar("remove");
    await until(ada, (selector) => !document.querySelector(`${selector} .mark--star`), row);
    await ada.keyboard.press("Escape");
    await untilFocus(ada, `${row} [data-action=menu]`);
  });

  it("does not open if its message is gone", { skip: IS_FIREFOX }, async () => {
    const { id } = await bench.server.send("Bob", "general", "gone", "deleted soon");
    await bench.server.send("Bob", "general", "gone", "still there");
    const { ada, held } = await openHolding(/\/(message_menu|later)\.js$/);
    await go(ada, await at("general", "gone"));
    await untilText(ada, `[data-id="${id}"]`, "deleted soon");
    await eventually(() => assert.equal(held.length, 1));
    await pressOn(ada, `[data-id="${id}"]`, "i");
    await bench.server.call("Ada", "DELETE", `/messages/${id}`);
    await until(ada, (selector) => !document.querySelector(selector), `[data-id="${id}"]`);
    await held[0].continue();
    // Keys are held until it opens.
    await until(ada, () => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Backspace", repeat: true, bubbles: true, cancelable: true })));
    assert.equal(await countOf(ada, "[role=menu]"), 0);
  });

  it("has them also where the fragment opens it", { skip: IS_FIREFOX }, async () => {
    const { ada, held } = await openHolding(/\/(invite|later)\.js$/);
    await ada.waitForSelector(".inbox__list");
    await go(ada, "#invite");
    // The module may be on its way already, since the page has come to rest: keys are held once the overlay waits for it.
    await until(ada, () => !document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Backspace", repeat: true, bubbles: true, cancelable: true })));
    await eventually(() => assert.equal(held.length, 1));
    await ada.keyboard.type("?d");
    await held[0].continue();
    await until(ada, () => document.activeElement.closest("dialog") && document.activeElement.value === "?d");
    assert.equal(await countOf(ada, "dialog[open]"), 1, "no other overlay has opened");
  });

  it("leaves no trace in the URL if it cannot be loaded, so that its link asks again", { skip: IS_FIREFOX }, async () => {
    const { ada, held } = await openHolding(/\/(invite|later)\.js$/);
    ada.expected.push(/ERR_FAILED/);
    await ada.waitForSelector(".inbox__list");
    await go(ada, "#recent");
    await go(ada, "#invite");
    await eventually(() => assert.equal(held.length, 1));
    await held[0].abort();
    await untilToast(ada, "This could not be loaded.");
    await until(ada, () => location.hash === "#recent");
  });

  it("has them also where the command was given in a field, which gets the focus back", { skip: IS_FIREFOX }, async () => {
    const { ada, held } = await openHolding(/\/(search|later)\.js$/);
    await go(ada, await at("general", "palette"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await typeInto(ada, ".composer .editor__text", "Half");
    await press(ada, "Control+k");
    await press(ada, "Control+k");
    await eventually(() => assert.equal(held.length, 1));
    await ada.keyboard.type("des");
    await held[0].continue();
    await until(ada, () => document.activeElement.closest("dialog") && document.activeElement.value === "des");
    assert.equal(await countOf(ada, "dialog[open]"), 1, "the key was pressed twice");
    await ada.keyboard.press("Escape");
    await untilFocus(ada, ".composer .editor__text");
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "Half");
  });

  it("gives the focus back if it cannot be loaded, without the keys that were meant for it", { skip: IS_FIREFOX }, async () => {
    const { ada, held } = await openHolding(/\/(search|later)\.js$/);
    ada.expected.push(/ERR_FAILED/);
    await go(ada, await at("general", "no.20palette"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await typeInto(ada, ".composer .editor__text", "Half");
    await press(ada, "Control+k");
    await eventually(() => assert.equal(held.length, 1));
    await ada.keyboard.type("des");
    await held[0].abort();
    await untilToast(ada, "This could not be loaded.");
    await untilFocus(ada, ".composer .editor__text");
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "Half");
  });

  // Firefox lets no script say what the clipboard has.
  it("is not waited for by what is pasted: it is plain text before, to which one can write on", { skip: IS_FIREFOX }, async () => {
    const { ada, held } = await openHolding(/\/(paste|later)\.js$/);
    await go(ada, await at("general", "clippings"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await typeInto(ada, ".composer .editor__text", "So: ");
    await onElement(ada, ".composer .editor__text", (area) => {
      const data = new DataTransfer();
      data.setData("text/html", "<b>Bold</b> words");
      data.setData("text/plain", "Bold words");
      area.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await eventually(() => assert.equal(held.length, 1));
    await ada.keyboard.type(" follow");
    await untilEqual(ada, ".composer .editor__text", (area) => area.value, "So: Bold words follow");
    await held[0].continue();
    await untilEqual(ada, ".composer .editor__text", (area) => [area.value, area.selectionStart], ["So: **Bold** words follow", 25]);
  });

  it("is not waited for by the search box: what is typed meanwhile is searched for, with the terms of the view", { skip: IS_FIREFOX }, async () => {
    await bench.server.send("Bob", "general", "carpets", "The carpet is vermilion");
    const { ada, held } = await openHolding(/\/(search_input|later)\.js$/);
    await go(ada, (await at("general", "carpets")).split("/topic/")[0]);
    await untilText(ada, ".message-row", "vermilion");
    await ada.keyboard.press("/");
    await untilFocus(ada, ".search input");
    await eventually(() => assert.equal(held.length, 1));
    await ada.keyboard.type("sender:bo vermilion");
    await ada.keyboard.press("Enter");
    await held[0].continue();
    await untilAllEqual(ada, ".header__pills .pill__text", (pills) => pills.map((pill) => pill.textContent), ["channel: general", "sender: Bob", "“vermilion”"]);
    await untilText(ada, ".message-row .highlight", "vermilion");
  });

  it("is not waited for by messages: a list of conversations is shown when its module is there", { skip: IS_FIREFOX }, async () => {
    await bench.server.send("Bob", "general", "breakfast", "Toast is ready");
    const ada = await as("Ada", await at("general", "breakfast"));
    const held = [];
    await intercept(ada, (request) => {
      const isHeld = request.url().endsWith("/overviews.js");
      if (isHeld) held.push(request);
      return isHeld;
    });
    await ada.reload();
    await untilText(ada, ".message-row", "Toast is ready");
    await go(ada, "#recent");
    await untilText(ada, ".middle__view .load-hint", "Loading");
    await eventually(() => assert.equal(held.length, 1));
    await held[0].continue();
    await untilText(ada, ".recent .conversation__name", "breakfast");
  });

  it("is not waited for by messages: a poll is shown when its module is there", { skip: IS_FIREFOX }, async () => {
    const { id } = await bench.server.send("Bob", "general", "teatime", "/poll Tea?\nYes\nNo");
    await bench.server.send("Bob", "general", "teatime", "Please vote");
    const { ada, held } = await openHolding(/\/(widgets|later)\.js$/);
    await go(ada, await at("general", "teatime"));
    await untilText(ada, ".message-row", "Please vote");
    await untilText(ada, `[data-id="${id}"] .widget`, "Loading…");
    await eventually(() => assert.equal(held.length, 1));
    await bench.server.call("Cleo", "POST", "/submessage", { message_id: id, msg_type: "widget", content: JSON.stringify({ type: "vote", key: "canned,0", vote: 1 }) });
    await held[0].continue();
    await untilText(ada, `[data-id="${id}"] .widget__names`, "Cleo");
    await click(ada, `[data-id="${id}"] .widget__vote`);
    await untilText(ada, `[data-id="${id}"] .widget__names`, "Ada");
  });

  // Only the built page asks again under another URL, without which browsers do not.
  it("is loaded again after a failure, and so is a poll when the connection is back", { skip: IS_FIREFOX || Boolean(process.env.TEAMCHAT_WEB_DIR) }, async () => {
    const { id } = await bench.server.send("Bob", "general", "suppertime", "/poll Soup?\nYes\nNo");
    const { ada, held } = await openHolding(/\/later\.js$/);
    ada.expected.push(/ERR_FAILED/);
    await go(ada, await at("general", "suppertime"));
    await untilText(ada, `[data-id="${id}"] .widget`, "Loading…");
    await eventually(() => assert.equal(held.length, 1));
    await held[0].abort();
    await untilEqual(ada, `[data-id="${id}"] .widget`, (widget) => widget.firstChild.data, "This could not be loaded.");
    await press(ada, "Control+k");
    await untilFocus(ada, "dialog input");
    await ada.keyboard.press("Escape");
    await wake(ada);
    await untilText(ada, `[data-id="${id}"] .widget__list`, "Yes");
  });

  it("has them also while the text of the message is fetched", async () => {
    const { id } = await bench.server.send("Ada", "general", "slower", "to be fetched");
    const ada = await as("Ada", await at("general", "slower"));
    for (const [key, opened] of [["e", ".message-row textarea"], [">", ".composer .editor__text"]]) {
      await untilText(ada, ".message-row", "to be fetched");
      await ada.evaluate((path) => {
        const real = window.fetch;
        const released = new Promise((resolve) => { window.release = resolve; });
        window.fetch = async (url, options) => {
          if (String(url).startsWith(path)) {
            window.isAsked = true;
            await released;
          }
          return real(url, options);
        };
      }, `/json/messages/${id}`);
      await pressOn(ada, `[data-id="${id}"]`, key);
      await until(ada, () => window.isAsked);
      await ada.keyboard.type("?xx");
      for (const next of ["Backspace", "Backspace", "Enter", "e"]) await ada.keyboard.press(next);
      await ada.evaluate(() => window.release());
      await until(ada, (selector) => document.querySelector(selector)?.value.includes("to be fetched"), opened);
      await until(ada, () => document.activeElement.value.includes("to be fetched") && document.activeElement.value.endsWith("?\ne"));
      assert.equal(await countOf(ada, "dialog[open]"), 0, `${key}: the list of keys has not opened`);
      // An edit that is resumed takes no keys.
      await ada.reload();
    }
  });

  it("opens also if another view is shown meanwhile, and keeps what is half written", async () => {
    const { ada, held } = await openHolding(/\/(recipients|later)\.js$/);
    await go(ada, "#inbox");
    await ada.waitForSelector(".inbox__list");
    await ada.keyboard.press("c");
    await eventually(() => assert.equal(held.length, 1));
    await ada.keyboard.type("ge");
    await go(ada, "#recent");
    await held[0].continue();
    await until(ada, () => document.activeElement.getAttribute("aria-label") === "Channel" && document.activeElement.value === "ge");
    await ada.keyboard.type("n");
    await go(ada, "#inbox");
    await eventually(async () => assert.deepEqual(await ada.evaluate(() => [document.activeElement.getAttribute("aria-label"), document.activeElement.value]), ["Channel", "gen"]));
  });
});
