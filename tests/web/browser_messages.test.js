/** Pictures, sending later, reminders and links; in headless Chromium against the real server. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { act, chooseFrom, click, clickButton, clickText, compose, countOf, enter, eventually, fillIn, hold, intercept, IS_FIREFOX, onElement, onElements, press, pressOn, setUp, typeInto, until, untilAllEqual, untilEqual, untilStable, untilText, untilToast, write } from "./harness.js";

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

describe("an upload that takes long", () => {
  it("holds back only the text that it is for", async () => {
    const path = join(tmpdir(), `teamchat-web-long-${process.pid}.txt`);
    writeFileSync(path, "text");
    const ada = await as("Ada", await at("general", "held back"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await ada.evaluate(() => { XMLHttpRequest.prototype.send = () => {}; });
    const input = await ada.waitForSelector(".composer input[type=file]");
    await input.uploadFile(path);
    await untilEqual(ada, ".composer .editor__text", (area) => area.value.includes("Uploading"), true);
    await compose(ada, "");
    await untilToast(ada, "Please wait until the files are uploaded.");
    await go(ada, await at("general", "free"));
    await until(ada, () => document.querySelector(".composer .editor__text").placeholder.includes("free"));
    await compose(ada, "Not held back");
    await untilText(ada, ".message-row .content", "Not held back");
  });

  it("holds back an edit, which then has the link", async () => {
    const { id } = await bench.server.send("Ada", "general", "held", "The notes");
    const path = join(tmpdir(), `teamchat-web-notes-${process.pid}.txt`);
    writeFileSync(path, "text");
    const ada = await as("Ada", await at("general", "held"));
    await ada.waitForSelector(`[data-id="${id}"]`);
    await ada.evaluate(() => {
      const { send } = XMLHttpRequest.prototype;
      const released = new Promise((resolve) => { window.release = resolve; });
      XMLHttpRequest.prototype.send = function sendLate(...args) {
        void released.then(() => send.apply(this, args));
      };
    });
    await pressOn(ada, `[data-id="${id}"]`, "e");
    const input = await ada.waitForSelector(".editor-form input[type=file]");
    await input.uploadFile(path);
    await untilEqual(ada, ".editor-form .editor__text", (area) => area.value.includes("Uploading"), true);
    await clickText(ada, ".editor-form .button--primary", "Save");
    await untilToast(ada, "Please wait until the files are uploaded.");
    await ada.evaluate(() => window.release());
    await untilEqual(ada, ".editor-form .editor__text", (area) => area.value.includes("](/user_uploads/") && !area.value.includes("Uploading"), true);
    await clickText(ada, ".editor-form .button--primary", "Save");
    await ada.waitForSelector(`[data-id="${id}"] .content a[href*="/user_uploads/"]`);
  });
});

describe("an upload whose connection breaks", () => {
  it("is sent again on request", async () => {
    const path = join(tmpdir(), `teamchat-web-unsteady-${process.pid}.txt`);
    writeFileSync(path, "text");
    const ada = await as("Ada", await at("general", "unsteady"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await ada.evaluate(() => {
      const { send } = XMLHttpRequest.prototype;
      XMLHttpRequest.prototype.send = function fail() {
        XMLHttpRequest.prototype.send = send;
        this.dispatchEvent(new ProgressEvent("error"));
      };
    });
    const input = await ada.waitForSelector(".composer input[type=file]");
    await input.uploadFile(path);
    await untilToast(ada, "The server cannot be reached.");
    await untilEqual(ada, ".composer .editor__text", (area) => area.value.includes("Uploading"), true);
    await clickText(ada, ".editor__uploads button", "Try again");
    await until(ada, () => document.querySelector(".composer .editor__text").value.includes("/user_uploads/") && !document.querySelector(".editor__uploads > *"));
  });

  it("is not cancelled by the key that sends it again", async () => {
    const path = join(tmpdir(), `teamchat-web-again-${process.pid}.txt`);
    writeFileSync(path, "text");
    const ada = await as("Ada", await at("general", "again"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    // The first one fails, and the second one does not end.
    await ada.evaluate(() => {
      window.sent = 0;
      XMLHttpRequest.prototype.send = function fail() {
        window.sent += 1;
        if (window.sent === 1) this.dispatchEvent(new ProgressEvent("error"));
      };
    });
    const input = await ada.waitForSelector(".composer input[type=file]");
    await input.uploadFile(path);
    await untilToast(ada, "The server cannot be reached.");
    await pressOn(ada, ".composer .editor__uploads .button", "Enter");
    await until(ada, () => window.sent === 2);
    await ada.keyboard.press("Enter");
    assert.equal(await onElement(ada, ".composer .editor__uploads .button", (button) => document.activeElement === button), true);
    assert.equal(await ada.evaluate(() => window.sent), 2);
    await click(ada, ".composer .editor__uploads .icon-button");
    await until(ada, () => document.querySelector(".composer .editor__text").value.trim() === "" && !document.querySelector(".editor__uploads > *"));
  });
});

describe("an upload that has failed", () => {
  it("does not keep the text from being sent without the file", async () => {
    const path = join(tmpdir(), `teamchat-web-without-${process.pid}.txt`);
    writeFileSync(path, "text");
    const ada = await as("Ada", await at("general", "without"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await ada.evaluate(() => {
      XMLHttpRequest.prototype.send = function fail() {
        this.dispatchEvent(new ProgressEvent("error"));
      };
    });
    await typeInto(ada, ".composer .editor__text", "Only words");
    const input = await ada.waitForSelector(".composer input[type=file]");
    await input.uploadFile(path);
    await untilText(ada, ".composer .editor__uploads .error-text", "The server cannot be reached.");
    for (const answer of ["Cancel", "Send"]) {
      await compose(ada, "");
      await untilText(ada, "dialog p", `teamchat-web-without-${process.pid}.txt`);
      await untilEqual(ada, ".composer .editor__text", (area) => area.value.includes("Only words"), true);
      await clickText(ada, "dialog button", answer);
    }
    await untilEqual(ada, ".message-row .content:not(.content--source)", (content) => content.textContent.trim(), "Only words");
    await until(ada, () => document.querySelector(".composer .editor__text").value === "" && !document.querySelector(".editor__uploads > *"));
  });
});

describe("later", () => {
  it("a message is sent at a time, and can be taken back before", async () => {
    const ada = await as("Ada", await at("general", "later"));
    await write(ada, "Good morning");
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
    await write(ada, "In a moment");
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
    const held = await hold(ada, (request) => request.method() === "POST" && request.url().endsWith("/scheduled_messages"));
    await enter(ada, bench.server, "Ada");
    await go(ada, await at("general", "working.20title"));
    await write(ada, "I shall think about it");
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
  it("that are refused have a notice where they are not on the screen", async () => {
    const ada = await bench.open();
    ada.expected.push(/400/);
    const held = await hold(ada, (request) => request.method() === "POST" && request.url().endsWith("/json/messages"));
    await enter(ada, bench.server, "Ada");
    await go(ada, await at("general", "refused"));
    await compose(ada, "What is refused");
    await eventually(() => assert.equal(held.length, 1));
    await go(ada, "#inbox");
    await ada.waitForSelector(".inbox__list");
    await held[0].respond({ status: 400, contentType: "application/json", body: JSON.stringify({ result: "error", code: "BAD_REQUEST", msg: "Not today" }) });
    await untilToast(ada, "Your message was not sent: Not today", "Show the message");
    await untilText(ada, ".message-row[data-state=failed]", "What is refused");
  });

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

  it("about what someone does have their time, their marks, and those of a search", async () => {
    const { id } = await bench.server.send("Bob", "general", "gestures", "/me waves");
    await bench.server.call("Bob", "PATCH", `/messages/${id}`, { content: "/me waves a tangerine" });
    await bench.server.call("Ada", "POST", "/messages/flags", { messages: [id], op: "add", flag: "starred" });
    const ada = await as("Ada", await at("general", "gestures"));
    await untilText(ada, `[data-id="${id}"] .mark`, "edited");
    await ada.waitForSelector(`[data-id="${id}"] .mark--star`);
    const timesOfRow = (row) => [...row.querySelectorAll(".message-row__time")].map((time) => `${getComputedStyle(time).opacity} ${time.textContent}`);
    const label = await onElement(ada, `[data-id="${id}"]`, (row) => row.getAttribute("aria-label"));
    await untilEqual(ada, `[data-id="${id}"]`, timesOfRow, [label.replace("Bob, ", "1 ")]);
    await go(ada, "#narrow/search/me.20tangerine");
    await untilText(ada, `[data-id="${id}"] .highlight`, "tangerine");
    await untilEqual(ada, `[data-id="${id}"] .content p`, (text) => text.textContent, "Bob waves a tangerine");
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

  it("have a topic whose new name stays in its field until it is saved", async () => {
    await bench.server.send("Bob", "general", "misnamed", "About bees");
    const ada = await as("Ada", await at("general", "misnamed"));
    ada.expected.push(/503/);
    await untilText(ada, ".message-row", "About bees");
    let isBusy = true;
    await intercept(ada, (request) => isBusy && request.method() === "PATCH" && request.url().includes("/json/messages/") && [503, { result: "error", msg: "Busy" }]);
    await clickButton(ada, "Actions on the topic");
    await clickText(ada, "[role=menu] [role=menuitem]", "Rename");
    await onElement(ada, "dialog [aria-label='Rename topic']", (input) => { input.value = "bees"; });
    await clickText(ada, "dialog button[type=submit]", "Rename");
    await untilToast(ada, "Busy");
    await untilEqual(ada, "dialog[open] [aria-label='Rename topic']", (input) => input.value, "bees");
    isBusy = false;
    await clickText(ada, "dialog button[type=submit]", "Rename");
    await until(ada, () => document.querySelector(".header__topic").textContent === "bees" && !document.querySelector("dialog"));
  });

  it("are gone from a topic that is renamed, which is said", async () => {
    const { id } = await bench.server.send("Bob", "general", "brief", "Never mind");
    const ada = await as("Ada", await at("general", "brief"));
    await untilText(ada, ".message-row", "Never mind");
    await clickButton(ada, "Actions on the topic");
    await clickText(ada, "[role=menu] [role=menuitem]", "Rename");
    await onElement(ada, "dialog [aria-label='Rename topic']", (input) => { input.value = "lasting"; });
    await bench.server.call("Ada", "DELETE", `/messages/${id}`);
    await clickText(ada, "dialog button[type=submit]", "Rename");
    await untilToast(ada, "There are no messages in this topic.");
    await untilEqual(ada, "dialog[open] [aria-label='Rename topic']", (input) => input.value, "lasting");
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

  it("stay where no other place is chosen", async () => {
    await bench.server.send("Bob", "general", "staying", "Here");
    const ada = await as("Ada", await at("general", "staying"));
    const changes = [];
    await intercept(ada, (request) => void (request.method() === "PATCH" && changes.push(request.url())));
    await clickButton(ada, "Actions on the topic");
    await clickText(ada, "[role=menu] [role=menuitem]", "Move messages");
    await clickText(ada, "dialog button[type=submit]", "Move");
    await until(ada, () => !document.querySelector("dialog"));
    assert.deepEqual(changes, []);
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
    await write(ada, "strong");
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
    const held = await hold(ada, (request, before) => before.length === 0 && request.url().endsWith("/json/messages/render"));
    await enter(ada, bench.server, "Ada");
    await go(ada, await at("general", "previews"));
    await write(ada, "first");
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
