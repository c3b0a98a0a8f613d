/** What the page says of itself: where one is, what one can do, what has happened, at every width; in a headless browser against the
 * real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { axeViolations } from "./axe.js";
import { click, clickButton, clickText, clickWithMouse, compose, eventually, fillIn, IS_FIREFOX, onElement, onElements, pressOn, press, setUp, typeInto, until, untilAllEqual, untilEqual, untilFocus, untilText, untilToast, wake } from "./harness.js";

const bench = setUp();
const { as, at, go } = bench;

/** Answers one request of the page for events with these, and then goes on as before. */
const deliver = (page, events) => page.evaluate((news) => {
  const real = window.fetch;
  window.fetch = async (url, options) => {
    if (!String(url).startsWith("/json/events?")) return real(url, options);
    window.fetch = real;
    const id = Number(new URLSearchParams(String(url).split("?")[1]).get("last_event_id"));
    return Response.json({ result: "success", msg: "", events: news.map((event) => ({ ...event, id })) });
  };
  dispatchEvent(new Event("online"));
}, events);

describe("the page", () => {
  it("has the organization's name, what is open, and a box to write into, at every width", async () => {
    await bench.server.call("Ada", "PATCH", "/realm", { name: "Harbour school" });
    await bench.server.channel("new ferry", ["Ada"]);
    const { id } = await bench.server.send("Ada", "new ferry", "new frames", "Ten past");
    const { stream_id: channel } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "new ferry" });
    const fragment = `#narrow/channel/${channel}/topic/new.20frames`;
    const ada = await as("Ada", fragment);
    await untilText(ada, ".sidebar__organization", "Harbour school");
    await until(ada, () => document.querySelector(".sidebar__organization img")?.naturalWidth > 0);
    for (const width of [360, 390, 480, 560, 600, 640, 720, 800, 1024, 1280]) {
      await ada.setViewport({ width, height: 800 });
      await ada.waitForSelector(`[data-id="${id}"]`);
      await eventually(async () => {
        const seen = await onElement(ada, ".header", (element) => {
          const box = (one) => one.getBoundingClientRect().toJSON();
          const [header, name, topic, search] = [box(element), ...[".header__channel", ".header__topic", ".search"].map((selector) => box(document.querySelector(selector)))];
          return { gap: topic.top >= name.bottom - 1 ? 0 : topic.left - name.right, isInside: topic.right <= search.left + 1 && search.right <= header.right + 1, topic: topic.width, page: document.documentElement.scrollWidth - innerWidth };
        });
        assert.ok(seen.gap >= 0 && seen.gap < 60 && seen.isInside && seen.topic > 30 && seen.page <= 0, `${width} px: ${JSON.stringify(seen)}`);
      });
    }
    // Both names are short, and whole.
    await ada.setViewport({ width: 360, height: 740 });
    await untilAllEqual(ada, ".header__channel > span, .header__topic", (names) => names.map((name) => name.scrollWidth - name.clientWidth), [0, 0]);
    await go(ada, "#inbox");
    await ada.waitForSelector(".composer__closed button", { visible: true });
    await eventually(async () => assert.ok(await onElements(ada, ".composer__closed button", (buttons) => buttons.every((button) => button.getBoundingClientRect().right <= innerWidth))));
    await go(ada, "#organization/emoji-settings");
    await ada.waitForSelector("dialog input[type=file]");
    await untilAllEqual(ada, "dialog form *", (parts) => parts.filter((part) => part.getBoundingClientRect().right > innerWidth || (part.matches("input") && part.clientWidth < 100)).map((part) => part.outerHTML), []);
    await ada.keyboard.press("Escape");
    await until(ada, () => !document.querySelector("dialog"));
    await go(ada, fragment);
    // A short conversation is beside the box.
    await ada.setViewport({ width: 1280, height: 900 });
    await until(ada, (row) => document.querySelector(".composer").getBoundingClientRect().top - document.querySelector(`[data-id="${row}"]`).getBoundingClientRect().bottom < 80, id);
    await untilText(ada, ".composer__hint", "Ctrl+Enter sends");
    await bench.server.call("Ada", "PATCH", "/settings", { enter_sends: true });
    await untilText(ada, ".composer__hint", "Enter sends, Shift+Enter begins a line");
    await bench.server.call("Ada", "PATCH", "/settings", { enter_sends: false });
    // All messages of the channel: the box says where it writes to.
    await go(ada, `#narrow/channel/${channel}`);
    await untilText(ada, ".composer__closed button", "Message #new ferry");
    await pressOn(ada, "body", "c");
    await until(ada, () => document.querySelector(".composer [aria-label=Channel]")?.value === "new ferry");
  });

  it("has named landmarks, and controls whose names are what they show", async () => {
    const { id } = await bench.server.send("Bob", "general", "marks", "See [this](https://example.com/) and that");
    await bench.server.call("Bob", "POST", `/messages/${id}/reactions`, { emoji_name: "tada" });
    const ada = await as("Ada", await at("general", "marks"));
    await ada.waitForSelector(".reaction");
    await clickWithMouse(ada, "[aria-label='Your menu']");
    await ada.waitForSelector("[role=menu]");
    for (const rule of ["region", "landmark-unique", "label-content-name-mismatch", "link-in-text-block"]) assert.deepEqual(await axeViolations(ada, rule), [], rule);
    // A menu is above the page, and beside what opened it.
    const place = (selector) => onElement(ada, selector, (element) => element.getBoundingClientRect().toJSON());
    const [menu, opener] = [await place("[role=menu]"), await place("[aria-label='Your menu']")];
    assert.ok(menu.top >= opener.bottom && menu.top < opener.bottom + 10 && menu.right <= 1440, JSON.stringify([menu, opener]));
    await ada.keyboard.press("Escape");
    await eventually(async () => assert.equal(await ada.evaluate(() => document.activeElement.ariaLabel), "Your menu"));
  });

  it("underlines links in text, wherever it is", async () => {
    const link = "Read [this](https://example.com/) first";
    const { id } = await bench.server.send("Bob", "general", "links", `# ${link}\n\n* ${link}\n\n| ${link} | a |\n|---|---|\n| ${link} | b |\n\n\`\`\`spoiler ${link}\nc\n\`\`\``);
    const field = await bench.server.call("Ada", "POST", "/realm/profile_fields", { name: "Page", field_type: 1, hint: "" });
    await bench.server.call("Ada", "PATCH", "/users/me/profile_data", { data: [{ id: field.id, value: link }] });
    const ada = await as("Ada", await at("general", "links"));
    await ada.waitForSelector(`[data-id="${id}"] summary a`);
    const lines = (selector) => onElements(ada, selector, (links) => links.map((one) => getComputedStyle(one).textDecorationLine));
    assert.deepEqual(await lines(`[data-id="${id}"] .content a`), Array(5).fill("underline"));
    assert.deepEqual(await axeViolations(ada, "link-in-text-block"), []);
    await go(ada, `#user/${bench.server.accounts.Ada.user_id}`);
    const own = "dialog dd a[href='https://example.com/']";
    await ada.waitForSelector(own);
    assert.deepEqual(await lines(own), ["underline"]);
    assert.deepEqual(await axeViolations(ada, "link-in-text-block"), []);
  });

  it("keeps the focus through a search", async () => {
    await bench.server.send("Bob", "general", "fruit", "A quince");
    const ada = await as("Ada", "#inbox");
    await ada.keyboard.press("/");
    await untilFocus(ada, ".search input");
    await ada.keyboard.type("quince");
    await ada.keyboard.press("Enter");
    await untilText(ada, ".message-row .highlight", "quince");
    await eventually(async () => assert.ok(await ada.evaluate(() => document.activeElement !== document.body)));
    await ada.keyboard.press("/");
    await until(ada, () => document.activeElement.matches(".search input"));
    await ada.keyboard.press("Tab");
    await eventually(async () => assert.ok(await ada.evaluate(() => document.activeElement !== document.body && document.activeElement.closest(".search .completions") === null)));
  });
});

describe("a side column on a phone", () => {
  it("closes for what it leads to, also if that is shown already, or is to be written", async () => {
    await bench.server.send("Bob", "general", "slim", "Narrow");
    const ada = await as("Ada", await at("general", "slim"), { width: 390, height: 780, touch: true });
    await untilText(ada, ".message-row", "Narrow");
    const isOpen = (button) => [document.body.dataset.column === "left", button.getAttribute("aria-expanded")];
    for (const [selector, name, focused] of [[".side-list--topics a", "slim", ".header__left"], [".side-list--topics button", "New topic", ".composer__to [data-next]"], [".sidebar a", "Inbox", ".header__left"]]) {
      await click(ada, ".header__left");
      await untilEqual(ada, ".header__left", isOpen, [true, "true"]);
      await clickText(ada, selector, name);
      await untilEqual(ada, ".header__left", isOpen, [false, "false"]);
      await untilFocus(ada, focused);
    }
    await ada.waitForSelector(".inbox__list");
  });
});

describe("what has happened", () => {
  it("is said to those who hear the page, each message of several", async () => {
    const ada = await as("Ada", await at("general", "chorus"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    for (const text of ["One", "Two", "Three"]) await bench.server.send("Bob", "general", "chorus", text);
    await until(ada, () => [...document.querySelectorAll("[role=status] > p")].map((line) => line.textContent).join() === "Bob: One,Bob: Two,Bob: Three");
  });

  it("is said of a new version, and of a message behind a slow one", async () => {
    const ada = await as("Ada", await at("general", "versions"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await deliver(ada, [{ type: "restart", zulip_version: "next", server_generation: 2 }]);
    await untilToast(ada, "The server has a new version.Load the page again");
    await ada.evaluate(() => {
      const real = window.fetch;
      const held = [];
      window.fetch = (url, options) => (options?.method === "POST" && url === "/json/messages" ? new Promise((resolve) => { held.push(() => resolve(real(url, options))); }) : real(url, options));
      window.letGo = () => {
        window.fetch = real;
        for (const run of held) run();
      };
    });
    await compose(ada, "Slow");
    await compose(ada, "Behind it");
    await until(ada, () => document.querySelectorAll(".message-row[data-state]").length === 2);
    await untilAllEqual(ada, ".message-row[data-state]", (rows) => rows.map((row) => row.ariaLabel), ["Ada, Sending…", "Ada, Sending…"]);
    await ada.evaluate(() => window.letGo());
    await until(ada, () => document.querySelectorAll(".message-row").length === 2 && !document.querySelector("[data-state]"));
  });

  it("is said at the login: the session ended, or the browser keeps no cookies", async () => {
    const page = await bench.open();
    page.expected.push(/401/);
    await page.evaluateOnNewDocument(() => Object.defineProperty(Document.prototype, "cookie", { get: () => "", set() {} }));
    await page.goto(bench.server.url);
    await page.waitForSelector("#id_username");
    await untilEqual(page, "[role=alert]", (line) => line.hidden, true);
    await typeInto(page, "#id_username", bench.server.accounts.Bob.email);
    await typeInto(page, "#id_password", "correct horse");
    await page.keyboard.press("Enter");
    await untilText(page, "[role=alert]", "does not accept cookies");
    const cleo = await as("Cleo", "#inbox");
    cleo.expected.push(/401/);
    await bench.server.call("Cleo", "POST", "/users/me/api_keys/revoke_others");
    await wake(cleo);
    await untilText(cleo, "[role=alert]", "Your session has ended");
  });
});

describe("texts in lists", () => {
  it("are read, not spelled: descriptions, reminders, devices, general chat", async () => {
    await bench.server.channel("marked", ["Ada", "Bob"], { description: "**Plans** of the [roof](https://example.com/)" });
    const { id } = await bench.server.send("Bob", "marked", "", "**Bring** the `keys`");
    const soon = Math.floor(Date.now() / 1000) + 90_000;
    await bench.server.call("Ada", "POST", "/reminders", { message_id: id, scheduled_delivery_timestamp: soon, note: "" });
    const { stream_id } = await bench.server.call("Ada", "GET", "/get_stream_id", { stream: "marked" });
    for (const topic of ["", "Roof Plan"]) await bench.server.call("Ada", "POST", "/user_topics", { stream_id, topic, visibility_policy: 3 });
    const ada = await as("Ada", "#channels/all");
    await untilText(ada, "dialog .row", "Plans of the roof");
    await go(ada, "#scheduled");
    await untilText(ada, "dialog .row__text", "Bring");
    assert.doesNotMatch(await onElement(ada, "dialog .row__text", (text) => text.textContent), /\*\*|```/);
    await go(ada, "#settings/topics");
    await untilText(ada, "dialog .row", "#marked › general chat");
    await untilText(ada, "dialog .row", "#marked › Roof Plan");
    await go(ada, "#settings/devices");
    await untilText(ada, "dialog .row", "(this browser)");
    const own = await onElements(ada, "dialog .row", (rows) => rows.find((row) => row.textContent.includes("(this browser)")).textContent);
    for (const part of [IS_FIREFOX ? "Firefox" : "Chrome", "last used", "from 127.0.0.1"]) assert.ok(own.includes(part), own);
  });
});

describe("the box", () => {
  const text = (page) => onElement(page, ".composer .editor__text", (area) => area.value);

  it("takes a time for each reader, which cannot be none", async () => {
    const ada = await as("Ada", await at("general", "times"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await clickButton(ada, "Time");
    await onElement(ada, "dialog input[type=datetime-local]", (input) => { input.value = ""; });
    await clickText(ada, "dialog button[type=submit]", "Insert");
    assert.equal(await onElement(ada, "dialog input[type=datetime-local]", (input) => input.validity.valueMissing), true);
    await onElement(ada, "dialog input[type=datetime-local]", (input) => { input.value = "2030-05-06T07:08"; });
    await clickText(ada, "dialog button[type=submit]", "Insert");
    await eventually(async () => assert.match(await text(ada), /^<time:2030-05-0\dT\d\d:\d8:00Z> $/));
  });

  it("has forms for polls and tasks, lists, formulas and tables, and can be large", async () => {
    const ada = await as("Ada", await at("general", "forms"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await clickButton(ada, "More ways to send");
    await clickText(ada, "[role=menuitem]", "Poll");
    await fillIn(ada, "Question", "Lunch?");
    await fillIn(ada, "Options", "Soup\n\n Salad ");
    await clickText(ada, "dialog button[type=submit]", "Insert");
    await until(ada, () => document.querySelector(".composer .editor__text").value === "/poll Lunch?\nSoup\nSalad" && !document.querySelector("dialog"));
    await clickButton(ada, "Send");
    await until(ada, () => document.querySelectorAll(".widget__vote").length === 2);
    await clickButton(ada, "More ways to send");
    await clickText(ada, "[role=menuitem]", "List of tasks");
    await fillIn(ada, "Title", "Party");
    await fillIn(ada, "Tasks", "bread: fresh");
    await clickText(ada, "dialog button[type=submit]", "Insert");
    await clickButton(ada, "Send");
    await untilText(ada, ".widget", "fresh");
    await typeInto(ada, ".composer .editor__text", "first");
    await clickButton(ada, "Numbered list");
    await press(ada, "Control+a");
    await eventually(async () => assert.equal(await text(ada), "1. first"));
    await ada.keyboard.press("Delete");
    await clickButton(ada, "Formula");
    await eventually(async () => assert.equal(await text(ada), "$$x^2$$"));
    await press(ada, "Control+a");
    await ada.keyboard.press("Delete");
    await clickButton(ada, "Table");
    await eventually(async () => assert.equal(await text(ada), "|  |  |\n|---|---|\n|  |  |\n"));
    const height = () => onElement(ada, ".composer .editor__text", (area) => area.clientHeight);
    const before = await height();
    await clickButton(ada, "Larger box");
    await eventually(async () => assert.ok((await height()) > before * 3, `${before} to ${await height()} px`));
    await clickButton(ada, "Larger box");
    await eventually(async () => assert.equal(await height(), before));
  });

  // Firefox lets no script say what the clipboard has.
  it("takes what is pasted from spreadsheets and documents", { skip: IS_FIREFOX }, async () => {
    const ada = await as("Ada", await at("general", "pasted"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    const paste = (html, plain, cursor = null) => onElement(ada, ".composer .editor__text", (area, [rich, bare, at]) => {
      const data = new DataTransfer();
      data.setData("text/html", rich);
      data.setData("text/plain", bare);
      if (at === null) area.select();
      else area.setSelectionRange(at, at);
      area.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
      // The Markdown comes later, and leaves the cursor where it is.
      if (at !== null) area.setSelectionRange(1, 1);
    }, [html, plain, cursor]);
    await paste("<table><tr><th>Name</th><th>Age</th></tr><tr><td>Bo</td><td>12</td></tr></table>", "Name\tAge\nBo\t12");
    await eventually(async () => assert.match(await text(ada), /\|\s*Name\s*\|\s*Age\s*\|\n\|[-| ]+\|\n\|\s*Bo\s*\|\s*12\s*\|/));
    await paste("<table><tr><td>One <b>cell</b></td></tr></table>", "One cell");
    await eventually(async () => assert.equal(await text(ada), "One **cell**"));
    // As Visual Studio Code writes it.
    const code = (lines) => `<meta charset='utf-8'><div style="color: #d4d4d4;font-size: 14px;white-space: pre;">${lines.map((line) => `<div><span>${line}</span></div>`).join("")}</div>`;
    await paste(code(["if (a)", "  run();"]), "if (a)\n  run();");
    await eventually(async () => assert.equal(await text(ada), "```\nif (a)\n  run();\n```\n"));
    await paste(code(["run();"]), "run();");
    await eventually(async () => assert.equal(await text(ada), "`run();`"));
    // As Google Docs writes it.
    await paste('<b style="font-weight:normal" id="docs-internal-guid-1"><p>One</p><p>Two</p></b>', "One\nTwo");
    await eventually(async () => assert.equal(await text(ada), "One\n\nTwo"));
    // As pages are written by hand.
    await paste("<h2>Plan</h2>\n<p>One</p>\n  <p>Two <b>and</b>\n<i>more</i></p>\n<ul><li>Three</li></ul>\n", "Plan");
    await eventually(async () => assert.equal(await text(ada), "## Plan\n\nOne\n\nTwo **and** *more*\n\n* Three"));
    await paste("<p>One</p><p>Two</p>", "One\nTwo");
    await eventually(async () => assert.equal(await text(ada), "One\n\nTwo"));
    await paste("<b>Three</b>", "Three", 5);
    await untilEqual(ada, ".composer .editor__text", (area) => [area.value, area.selectionStart], ["One\n\n**Three**Two", 1]);
    // Some programs give HTML without a text.
    await paste("<!-- nothing -->", "");
    assert.equal(await text(ada), "One\n\n**Three**Two");
    await paste("<b>Four</b>", "");
    await eventually(async () => assert.equal(await text(ada), "**Four**"));
    // Marks and links around white space, lines and headings, such as the results of a search.
    await paste("See<b> big<br>news </b>at<a href='https://example.com/1'><br><h3>Tide</h3><div>tables </div></a>now", "See");
    await eventually(async () => assert.equal(await text(ada), "See **big**\n**news** at [Tide tables](https://example.com/1) now"));
    // As Gmail and documentation write it.
    await paste("One<div>Two</div><dl><dt>Three</dt><dd>Four</dd></dl><blockquote><p>Five</p> <p>Six</p></blockquote>", "One");
    await eventually(async () => assert.equal(await text(ada), "One\nTwo\n\nThree\n\nFour\n\n> Five\n>\n> Six"));
    // Marks within each other are one.
    await paste("<p><b>Four <span><strong>five</strong></span></b> <i>six</i></p>", "Four");
    await eventually(async () => assert.equal(await text(ada), "**Four five** *six*"));
    // Code keeps its lines.
    await paste("<p>One</p><pre>two\n\n\nthree</pre><p>four</p>", "One");
    await eventually(async () => assert.equal(await text(ada), "One\n\n```\ntwo\n\n\nthree\n```\n\nfour"));
    // Links to conversations, as the menus of topics and messages copy them.
    const general = `${bench.server.url}/${await at("general", "")}`.replace(/\/topic\/$/, "");
    const link = (topic, message) => `[#general &#62; ${topic}](${general.slice(general.indexOf("#"))}/topic/a.26b/near/${message})`;
    const links = { "": "#**general**", "/topic/soup": "#**general>soup**", "/topic/soup/with/7": "#**general>soup**", "/topic/soup/near/7": "#**general>soup@7**", "/topic/a.26b/near/7": link("a&#38;b", 7), "/sender/me": `${general}/sender/me` };
    for (const [place, words] of Object.entries(links)) {
      await onElement(ada, ".composer .editor__text", (area) => { area.value = ""; });
      await paste("", `${general}${place}`, 0);
      await eventually(async () => assert.equal(await text(ada), words));
    }
  });
});

describe("files that are pasted", () => {
  // Firefox gives no files to events that a script makes for pasting.
  it("are uploaded, also where their names are pasted with them", { skip: IS_FIREFOX }, async () => {
    const ada = await as("Ada", await at("general", "files"));
    const isText = await onElement(ada, ".composer .editor__text", (area) => {
      const paste = (text) => {
        const data = new DataTransfer();
        for (const name of ["plan.txt", "Übersicht.txt"]) data.items.add(new File(["Lunch"], name, { type: "text/plain" }));
        data.setData("text/plain", text);
        return area.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
      };
      // Office programs write a picture of what they copy.
      const isPasted = paste("plan.txt and Übersicht.txt");
      paste("plan.txt\r\u{55}\u{308}bersicht.txt");
      return isPasted;
    });
    assert.equal(isText, true);
    for (const name of ["plan.txt", "Übersicht.txt"]) await until(ada, (title) => document.querySelector(".composer .editor__text").value.includes(`[${title}](/user_uploads/`), name);
  });
});

describe("new people", () => {
  it("sees no key before they ask for it", async () => {
    const { invite_link: link } = await bench.server.call("Ada", "POST", "/invites/multiuse", { invite_as: 600, stream_ids: [] });
    const page = await bench.open({ width: 390, height: 844, touch: true });
    await page.goto(link);
    for (const [name, value] of [["full_name", "Gus"], ["email", "gus@example.com"], ["password", "a long password"]]) await typeInto(page, `#${name}`, value);
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
    await untilText(page, "h1", "Welcome, Gus");
    await untilEqual(page, "pre", (command) => command.checkVisibility(), false);
    await eventually(async () => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)));
  });
});
