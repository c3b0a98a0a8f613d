/** What others write, and what cannot be shown, does not hide the rest; in headless Chromium against the real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { axeViolations } from "./axe.js";
import { click, clickText, compose, countOf, enter, eventually, hold, intercept, IS_FIREFOX, onElement, onElements, pagePause, pressOn, setUp, typeInto, until, untilAllEqual, untilEqual, untilStable, untilText, untilToast, wake } from "./harness.js";

const bench = setUp();
const { as, at, go } = bench;

const LINKS = ["http://a:99999", "http://[", "http://%zz", "http://a:b", "https://", "http://a b", "//[", "/%zz", "#narrow/channel/%zz", "#.zz", "mailto:%", "https://example.com/\u202e100%"];
const WIDGETS = [
  null,
  [],
  5,
  { widget_type: ["poll"] },
  ...["poll", "todo", "zform"].flatMap((widget_type) => [{ widget_type }, ...[null, 5, "x", [1]].map((extra_data) => ({ widget_type, extra_data }))]),
  ...[5, true, "options", {}, { length: 5 }, [null, 5, [], {}, { toString: 5 }, "one"]].map((options) => ({ widget_type: "poll", extra_data: { question: { toString: 5 }, options } })),
  ...[5, true, "tasks", {}, [null, 5, [], {}, { task: { toString: 5 }, desc: [] }, { task: "one" }]].map((tasks) => ({ widget_type: "todo", extra_data: { task_list_title: [], tasks } })),
  ...[5, true, "choices", {}, [null, 5, [], {}, { short_name: { toString: 5 }, long_name: [], reply: {} }, { reply: "one" }]].map((choices) => ({ widget_type: "zform", extra_data: { heading: {}, choices } })),
  { widget_type: "poll", extra_data: { question: "w".repeat(900), options: ["o".repeat(900), "\u202eleft"] } },
  { widget_type: "poll", extra_data: { options: Array.from({ length: 350 }, (_, index) => `${index}`.padStart(3, "0")).slice(0, 300) } },
];
const NAMES = ["100%", "%zz %E0%A4%A", "\u05e9\u05dc\u05d5\u05dd 100%", "e\u0301".repeat(20), "w".repeat(50), "\u{1f468}\u200d\u{1f469}", "<b>&amp;</b>", "__proto__", "constructor"];

const server = (...args) => bench.server.call(...args);

/** Sends a message, and makes a widget of it: the first submessage is its definition. */
async function sendWidget(name, topic, definition, ...added) {
  const { id } = await bench.server.send(name, "general", topic, "a widget");
  for (const content of [definition, ...added]) await server(name, "POST", "/submessage", { message_id: id, msg_type: "widget", content: JSON.stringify(content) });
  return id;
}

/** Waits until messages have rows in this order, the last of them included. */
const untilRows = (page, ids) =>
  until(page, (wanted) => {
    const there = [...document.querySelectorAll(".message-row")].map((row) => Number(row.dataset.id));
    // Widgets are drawn once their module is there.
    const isLoading = [...document.querySelectorAll(".message-row .widget")].some((widget) => widget.textContent === "Loading…");
    return !isLoading && wanted.every((id) => there.includes(id)) && there.every((id, index) => index === 0 || there[index - 1] < id);
  }, ids);

/** The columns that are wider than they may be, and what makes them so. */
const tooWide = (page) =>
  page.evaluate(() => [...document.querySelectorAll(".timeline__scroller, .page, .sidebar, .people")].filter((element) => element.scrollWidth > element.clientWidth + 1).map((element) => `${element.className}: ${[...element.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > element.getBoundingClientRect().right + 1).map((one) => `${one.tagName}.${one.className} ${one.textContent.slice(0, 20)}`).slice(0, 5)}`));

describe("one message does not hide the others", () => {
  it("whatever its links, widgets and topic", async () => {
    const ids = [(await bench.server.send("Ada", "general", "odd", "before")).id];
    for (const link of LINKS) ids.push((await bench.server.send("Bob", "general", "odd", `[link](${link}) ![picture](${link}) ${link} <time:${link}>`)).id);
    for (const definition of WIDGETS) ids.push(await sendWidget("Bob", "odd", definition));
    // What is added to a widget that the server does not know is not checked.
    ids.push(await sendWidget("Bob", "odd", { widget_type: "zform", extra_data: {} }, 5, [], { type: {} }, { type: "vote", key: { toString: 5 } }));
    ids.push((await bench.server.send("Ada", "general", "odd", "after")).id);
    const ada = await as("Ada", await at("general", "odd"));
    await untilRows(ada, ids);
    const text = await onElement(ada, ".timeline__list", (list) => list.textContent);
    assert.match(text, /before.*after/s);
    assert.doesNotMatch(text, /cannot be shown|\[object|undefined/);
    await eventually(async () => assert.deepEqual(await tooWide(ada), []));
    await eventually(async () => assert.deepEqual(await onElements(ada, ".message-row .content a", (links) => links.filter((link) => link.hasAttribute("href") && !URL.canParse(link.getAttribute("href"), location.href)).length), 0, "a link that leads nowhere is none"));
    await go(ada, "#feed");
    await untilRows(ada, ids.slice(-20));
    // While the page is open.
    const next = [(await bench.server.send("Bob", "general", "odd", "[x](http://a:99999)")).id, await sendWidget("Bob", "odd", { widget_type: "poll", extra_data: { options: 5 } }), (await bench.server.send("Bob", "general", "odd", "still here")).id];
    await untilRows(ada, next);
    await untilText(ada, ".message-row", "still here");
    await until(ada, (id) => document.querySelector(`[data-id="${id}"] .widget`), next[1]);
  });

  it("wherever its formulas draw", async () => {
    const { id } = await bench.server.send("Ada", "general", "drawn", "This stays, and can be read");
    const ids = [id];
    // A black square above, and text above and at the side. Longer formulas scroll by themselves.
    for (const formula of ["\\smash{\\rule{50em}{50em}}", "\\raisebox{4em}{\\Huge ab}", "\\kern-3em\\smash{\\rule{9em}{9em}}"]) ids.push((await bench.server.send("Bob", "general", "drawn", `$$${formula}$$`)).id);
    const ada = await as("Ada", await at("general", "drawn"));
    await untilRows(ada, ids);
    await until(ada, () => document.querySelectorAll(".message-row math").length === 3);
    /** The points of a text at which something else is. */
    const covered = (text) => {
      const { left, top, height } = text.getBoundingClientRect();
      return [4, 40, 120, 200].filter((x) => !text.contains(document.elementFromPoint(left + x, top + height / 2)));
    };
    await untilEqual(ada, `[data-id="${id}"] .content p`, covered, []);
    for (const other of ids.slice(1)) await untilEqual(ada, `[data-id="${other}"] .content`, (content) => getComputedStyle(content).overflowY, "clip");
  });

  it("and nothing is cut off of the numbers of its lists", async () => {
    const { id } = await bench.server.send("Bob", "general", "numbered", "2024. One year\n2025. The next");
    const ada = await as("Ada", await at("general", "numbered"));
    const hasRoom = (list) => {
      const { font, paddingInlineStart } = getComputedStyle(list);
      const context = document.createElement("canvas").getContext("2d");
      context.font = font;
      return context.measureText("2025. ").width <= Number.parseFloat(paddingInlineStart);
    };
    await untilEqual(ada, `[data-id="${id}"] ol`, hasRoom, true);
  });

  it("in any conversation with a description, names, statuses and zones that are odd", async () => {
    for (const name of NAMES) {
      await bench.server.channel(`${name} c`, ["Ada", "Bob"], { description: "[x](http://a:99999) ![y](http://[)" });
      await bench.server.send("Bob", "general", name, name);
      await bench.server.send("Bob", `${name} c`, name, name);
    }
    await bench.server.direct("Bob", ["Ada"], "[x](http://a:99999)");
    // A zone of the published list that browsers do not know.
    await server("Bob", "PATCH", "/settings", { timezone: "Factory", full_name: "\u05d1\u05d5\u05d1 Bob 100%" });
    await server("Bob", "POST", "/users/me/status", { status_text: `100% ${"w".repeat(50)}` });
    const ada = await as("Ada", "#inbox");
    const { stream_id: id } = await server("Ada", "GET", "/get_stream_id", { stream: "100% c" });
    await until(ada, (count) => document.querySelectorAll(".inbox .conversation, .inbox__list .conversation").length >= count, 2 * NAMES.length);
    for (const fragment of ["#recent", `#topics/channel/${id}`, `#narrow/channel/${id}`, "#feed", `#narrow/channel/${id}/topic/100.25`, "#inbox"]) {
      await go(ada, fragment);
      await until(ada, () => [...document.querySelectorAll(".conversation, .message-row")].some((element) => element.textContent.includes("100%")));
      await eventually(async () => assert.deepEqual(await tooWide(ada), [], fragment));
    }
    await until(ada, (names) => names.every((name) => [...document.querySelectorAll(".sidebar .side-item__name")].some((element) => element.textContent === `${name} c`)), NAMES);
    await until(ada, () => [...document.querySelectorAll(".people .side-item__name")].some((element) => element.textContent.includes("Bob 100%")));
    await onElements(ada, ".people [data-card]", (buttons) => buttons.find((button) => button.ariaLabel.includes("Bob")).click());
    await clickText(ada, ".card button", "Profile");
    await untilText(ada, "dialog", "Bob 100%");
  });
});

describe("what is wide", () => {
  it("scrolls by itself or wraps, and the conversation does not scroll sideways", async () => {
    const name = `Wolf ${"Featherstone-".repeat(6)}haugh`;
    await server("Cleo", "PATCH", "/settings", { full_name: name });
    const sum = Array.from({ length: 40 }, (_, index) => `x_{${index}}`).join("+");
    const texts = [`as $$${sum}$$ shows`, `* so $$${sum}$$`, `> and $$${sum}$$`, `\`\`\`math\n${sum}\n\`\`\``, `@**${name}** comes <time:2027-09-22T12:00:00Z> to ${"w".repeat(200)}`, "with $$\\rule{30em}{1em}$$, which is short"];
    const ids = [];
    for (const text of texts) ids.push((await bench.server.send("Bob", "general", "wide", text)).id);
    const ada = await as("Ada", await at("general", "wide"), { width: 320, height: 640, touch: true });
    await untilRows(ada, ids);
    await until(ada, () => document.querySelectorAll(".message-row math").length === 5);
    await eventually(async () => assert.deepEqual(await tooWide(ada), []));
    // Nothing is cut off that cannot be scrolled to.
    const places = (formulas) => formulas.map((formula) => {
      const isInside = formula.getBoundingClientRect().right <= formula.closest(".content").getBoundingClientRect().right + 1;
      return isInside && formula.scrollWidth > formula.clientWidth && getComputedStyle(formula).overflowX;
    });
    await untilAllEqual(ada, ".message-row .katex:not(.katex-display *)", places, Array.from({ length: 4 }, () => "auto"));
    assert.deepEqual(await axeViolations(ada, "scrollable-region-focusable"), []);
    // The bar that stays in sight is one line.
    const topic = "w".repeat(60);
    for (let count = 0; count < 20; count++) await bench.server.send("Bob", "general", topic, `Point ${count}`);
    await go(ada, "#narrow/channel/1-general");
    await untilText(ada, ".message-row", "Point 19");
    await eventually(async () => assert.ok((await onElement(ada, ".timeline__sticky", (bar) => bar.clientHeight)) < 50));
    await go(ada, "#message-formatting");
    await untilText(ada, "dialog td", "strikethrough");
    await eventually(async () => assert.equal(await onElement(ada, ".dialog__body", (body) => body.scrollWidth - body.clientWidth), 0));
    const help = await bench.open({ width: 320, height: 640, touch: true });
    for (const path of ["chatting", "configuration", "permissions"]) {
      await help.goto(`${bench.server.url}/help/${path}`);
      await help.waitForSelector("main table");
      assert.deepEqual(await axeViolations(help, "scrollable-region-focusable"), [], path);
      assert.ok(await help.evaluate(() => document.documentElement.scrollWidth <= innerWidth), path);
    }
  });
});

describe("the book", () => {
  it("is searched for pages with all words", async () => {
    const help = await bench.open();
    await help.goto(`${bench.server.url}/help/start`);
    await typeInto(help, "nav input", "Dishwasher kitchen");
    const linksOf = (links) => links.map((link) => [link.textContent, new URL(link.href).pathname]);
    await untilAllEqual(help, "#found a", linksOf, [["Chatting", "/help/chatting"]]);
    await untilText(help, "#found small", "dishwasher");
    await untilEqual(help, "#contents", (contents) => contents.checkVisibility(), false);
    await help.keyboard.type(" nowhereelse");
    await untilEqual(help, "#found", (found) => found.textContent, "Nothing was found.");
    await onElement(help, "nav input", (input) => {
      input.value = "dishwasher";
      input.dispatchEvent(new Event("input"));
    });
    await clickText(help, "#found a", "Chatting");
    await untilEqual(help, "h1", (heading) => heading.textContent, "Chatting");
    await untilEqual(help, "#contents [aria-current]", (link) => link.textContent, "Chatting");
  });
});

describe("a formula", () => {
  it("is measured once, not again with each message", async () => {
    const { id } = await bench.server.send("Bob", "general", "sums", "so $$x+y$$");
    const ada = await as("Ada", await at("general", "sums"));
    await onElement(ada, `[data-id="${id}"] .katex`, (formula) => {
      window.measured = 0;
      Object.defineProperty(formula, "offsetWidth", { get: () => { window.measured += 1; return 20; } });
    });
    const next = await bench.server.send("Bob", "general", "sums", "and $$y+z$$");
    await ada.waitForSelector(`[data-id="${next.id}"] .katex`);
    assert.equal(await ada.evaluate(() => window.measured), 0);
  });
});

describe("a row that cannot be shown", () => {
  it("is replaced and logged, and the others stay", async () => {
    const ids = [];
    for (const text of ["before", "of which nothing can be drawn", "whose content cannot be drawn", "after"]) ids.push((await bench.server.send("Bob", "general", "rows", text)).id);
    await server("Bob", "POST", "/users/me/status", { emoji_name: "tada" });
    const ada = await bench.open();
    // As a server would answer that has more kinds of messages and emoji than the client knows.
    await ada.evaluateOnNewDocument(() => {
      const { json } = Response.prototype;
      Response.prototype.json = async function read() {
        const reply = await json.call(this);
        for (const message of reply.messages ?? []) {
          if (message.content?.includes("of which nothing")) message.reactions = null;
          if (message.content?.includes("whose content")) message.submessages = { length: 1 };
        }
        for (const status of Object.values(reply.user_status ?? {})) status.emoji_name = 5;
        return reply;
      };
    });
    const isLogged = /console: a row cannot be shown/;
    const logged = () => ada.problems.filter((text) => isLogged.test(text)).length;
    await enter(ada, bench.server, "Ada");
    await go(ada, await at("general", "rows"));
    await untilRows(ada, ids);
    const texts = await onElements(ada, ".message-row", (rows) => rows.map((row) => (row.querySelector(".content") ?? row).textContent));
    assert.deepEqual(texts, ["before", "This message cannot be shown.", "This message cannot be shown.", "after"]);
    await untilEqual(ada, `[data-id="${ids[0]}"]`, (row) => row.textContent.includes("Bob"), true);
    await until(ada, () => !document.querySelector(".message-row[data-unread]"));
    // Its place in the list of people is kept as well, and so are the others.
    await eventually(async () => assert.deepEqual(await onElements(ada, ".people li", (rows) => rows.map((row) => row.textContent.includes("This row cannot be shown."))).then((rows) => rows.toSorted()), [false, false, true]));
    // It has the menu of any other.
    await pressOn(ada, `[data-id="${ids[1]}"]`, "i");
    await clickText(ada, "[role=menuitem]", "Delete");
    await until(ada, (id) => !document.querySelector(`[data-id="${id}"]`), ids[1]);
    await eventually(() => assert.ok(logged() >= 3));
    ada.problems.splice(0, ada.problems.length, ...ada.problems.filter((text) => !isLogged.test(text)));
  });
});

describe("a list of tasks", () => {
  it("keeps the text of what could not be added, and shows what is done", async () => {
    const { id } = await bench.server.send("Bob", "general", "chores", "/todo Chores\nDishes");
    const ada = await as("Ada", await at("general", "chores"));
    ada.expected.push(/503/);
    const field = `[data-id="${id}"] .widget__add input`;
    await ada.waitForSelector(field);
    await intercept(ada, (request) => request.url().endsWith("/json/submessage") && [503, { result: "error", msg: "Busy" }]);
    await typeInto(ada, field, "Laundry");
    await ada.keyboard.press("Enter");
    await untilToast(ada, "Busy");
    await untilEqual(ada, field, (input) => input.value, "Laundry");
    await click(ada, `[data-id="${id}"] input[type=checkbox]`);
    await untilToast(ada, "Busy");
    await untilEqual(ada, `[data-id="${id}"] input[type=checkbox]`, (box) => box.checked, false);
  });
});

/** A function that lets the server forget the event queue of a page, runs what events then lack, and waits until there is a new queue. */
function losing(page) {
  const queues = [];
  page.on("response", (response) => {
    if (new URL(response.url()).pathname === "/json/register") response.json().then(({ queue_id: id }) => queues.push(id), () => {});
  });
  return async (meanwhile) => {
    await eventually(() => assert.ok(queues.length > 0));
    const [queue] = queues.splice(0).toReversed();
    const deleted = await page.evaluate(async (id) => {
      const token = document.cookie.split("teamchat_csrf=")[1].split(";")[0];
      return (await fetch("/json/events", { method: "DELETE", body: new URLSearchParams({ queue_id: id }), headers: { "X-CSRFToken": token } })).status;
    }, queue);
    assert.equal(deleted, 200);
    await meanwhile();
    await wake(page);
    await eventually(() => assert.ok(queues.length > 0));
  };
}

describe("a report of presence that fails", () => {
  it("does not lose that the user was active", { skip: IS_FIREFOX }, async () => {
    const ada = await as("Ada", "#inbox");
    ada.expected.push(/503/);
    const reports = [];
    let isBroken = true;
    await intercept(ada, (request) => {
      if (new URL(request.url()).pathname !== "/json/users/me/presence") return undefined;
      reports.push(new URLSearchParams(request.postData()).get("new_user_input"));
      return isBroken ? [503, { result: "error", msg: "Later", code: "SERVICE_UNAVAILABLE" }] : undefined;
    });
    await ada.evaluate(() => dispatchEvent(new Event("pointermove")));
    await wake(ada);
    await eventually(() => assert.ok(reports.includes("true"), reports.join()));
    isBroken = false;
    const failed = reports.length;
    await eventually(async () => {
      await wake(ada);
      assert.ok(reports.slice(failed).includes("true"), reports.join());
    });
    // Once it has arrived, it is not reported again.
    await eventually(async () => {
      await wake(ada);
      assert.equal(reports.at(-1), "false");
    });
  });
});

describe("a message that something before the server refuses", () => {
  it("is sent again after a pause, although the connection works", async () => {
    const ada = await as("Ada", await at("general", "filtered"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    await ada.evaluate(() => {
      const { fetch } = window;
      Object.assign(window, { sends: [], refuses: true });
      window.fetch = async (path, options) => {
        if (!window.refuses || options?.method !== "POST" || !path.endsWith("/json/messages")) return fetch(path, options);
        window.sends.push(performance.now());
        return new Response("<p>Forbidden</p>", { status: 403 });
      };
    });
    await compose(ada, "A text that a filter dislikes");
    // The first time at once, since the connection may have been dead.
    await until(ada, () => window.sends.length > 2);
    const [first, , third] = await ada.evaluate(() => window.sends);
    assert.ok(third - first > 2900, `${third - first} ms`);
    await ada.evaluate(() => { window.refuses = false; });
    await ada.waitForSelector(".message-row[data-own]:not([data-state])");
  });
});

describe("a view that is left open", () => {
  const focus = (page, value) => page.evaluate((is) => {
    document.hasFocus = () => is;
    dispatchEvent(new Event(is ? "focus" : "blur"));
  }, value);
  const readOnServer = async (...ids) => {
    const { messages } = await server("Ada", "GET", "/messages", { message_ids: ids });
    return messages.map(({ flags }) => flags.includes("read"));
  };
  const sendLines = async (topic, first, last) => {
    const ids = [];
    for (let number = first; number < last; number++) ids.push((await bench.server.send("Bob", "general", topic, `Line ${number}`)).id);
    return ids;
  };
  /** Scrolls until everything is read: many messages that come at once do not scroll by themselves. */
  const readAll = (page) => until(page, () => {
    const scroller = document.querySelector(".timeline__scroller");
    scroller.scrollTop = scroller.scrollHeight;
    return !document.querySelector(".message-row[data-unread]");
  });
  /** A function that sends lines that one poll brings. */
  const sendingAtOnce = async (page) => {
    let holds = false;
    const held = await hold(page, (request) => holds && request.url().includes("/json/events?"));
    return async (...lines) => {
      holds = true;
      await wake(page);
      await eventually(() => assert.ok(held.length > 0));
      const ids = await sendLines(...lines);
      holds = false;
      // One before may have been aborted.
      await held.splice(0).at(-1).continue();
      return ids;
    };
  };
  const isOnScreen = (row) => row.getBoundingClientRect().top >= document.querySelector(".timeline__scroller").getBoundingClientRect().top - 1 && row.getBoundingClientRect().bottom <= innerHeight;

  it("has few rows, also where many messages arrive below what is read", async () => {
    await bench.server.person("Nora");
    await bench.server.channel("watch", ["Bob", "Nora"]);
    const send = async (first, last) => {
      for (let number = first; number < last; number++) await bench.server.send("Bob", "watch", "night", `Line ${number}`);
    };
    const { id } = await bench.server.send("Bob", "watch", "night", "Line 0");
    await send(1, 100);
    const nora = await as("Nora", await at("watch", "night"));
    await untilText(nora, ".message-row", "Line 99");
    await onElement(nora, ".timeline__scroller", (scroller) => { scroller.scrollTop = 0; });
    await send(100, 550);
    await until(nora, (count) => Number(/^\((\d+)\)/.exec(document.title)?.[1]) >= count, 450);
    assert.ok((await countOf(nora, ".message-row")) <= 400);
    await untilEqual(nora, `[data-id="${id}"]`, (row) => row.getBoundingClientRect().bottom > 0 && row.getBoundingClientRect().top < innerHeight, true);
    await click(nora, ".timeline__jump");
    await untilText(nora, ".message-row", "Line 549");
  });

  it("stays where one reads when the queue has expired", async () => {
    const ids = [];
    for (let number = 0; number < 150; number++) ids.push((await bench.server.send("Bob", "general", "expiry", `Line ${number}`)).id);
    const ada = await bench.open();
    ada.expected.push(/400 \(Bad Request\)/);
    const loseQueue = losing(ada);
    await enter(ada, bench.server, "Ada");
    await go(ada, await at("general", "expiry"));
    await untilText(ada, ".message-row", "Line 149");
    await readAll(ada);
    await onElement(ada, `[data-id="${ids[40]}"]`, (row) => row.scrollIntoView());
    const place = () => untilStable(ada, ".timeline__scroller", (scroller) => {
      const edge = scroller.getBoundingClientRect().top;
      return [...document.querySelectorAll(".message-row")].find((row) => row.getBoundingClientRect().bottom > edge + 4).dataset.id;
    });
    const before = await place();
    await loseQueue(() => bench.server.send("Bob", "general", "expiry", "Meanwhile"));
    await untilText(ada, ".message-row", "Meanwhile");
    assert.equal(await place(), before);
  });

  it("opens at the first unread message when the queue has expired at its end, and leaves the others unread", async () => {
    const ada = await bench.open();
    ada.expected.push(/400 \(Bad Request\)/);
    const loseQueue = losing(ada);
    await enter(ada, bench.server, "Ada");
    await go(ada, await at("general", "slept"));
    const [seen] = await sendLines("slept", 0, 1);
    await ada.waitForSelector(`[data-id="${seen}"]:not([data-unread])`);
    let holds = true;
    const held = await hold(ada, (request) => holds && request.url().endsWith("/json/register"));
    let missed = [];
    await loseQueue(async () => {
      missed = await sendLines("slept", 1, 60);
      await wake(ada);
      await eventually(() => assert.ok(held.length > 0));
      holds = false;
      // One before may have been aborted.
      await held.at(-1).continue();
    });
    await untilEqual(ada, `[data-id="${missed[0]}"]`, isOnScreen, true);
    await eventually(async () => assert.deepEqual(await readOnServer(missed[0], missed.at(-1)), [true, false]));
  });

  it("keeps messages unread that were marked as unread when the queue has expired", async () => {
    const ada = await bench.open();
    ada.expected.push(/400 \(Bad Request\)/);
    const loseQueue = losing(ada);
    await enter(ada, bench.server, "Ada");
    const [id] = await sendLines("undone", 0, 1);
    await go(ada, await at("general", "undone"));
    await ada.waitForSelector(`[data-id="${id}"]:not([data-unread])`);
    await pressOn(ada, `[data-id="${id}"]`, "U");
    await ada.waitForSelector(`[data-id="${id}"][data-unread]`);
    let missed = 0;
    await loseQueue(async () => {
      [missed] = await sendLines("undone", 1, 2);
    });
    await ada.waitForSelector(`[data-id="${missed}"]`);
    // Marks of read messages are sent a moment later.
    await pagePause(ada, 400);
    await untilAllEqual(ada, ".message-row", (rows) => rows.map((row) => row.dataset.unread !== undefined), [true, true]);
    assert.deepEqual(await readOnServer(id, missed), [false, false]);
  });

  it("asks for the state again if the connection dies meanwhile", async () => {
    const ada = await bench.open();
    ada.expected.push(/400 \(Bad Request\)/);
    const loseQueue = losing(ada);
    await enter(ada, bench.server, "Ada");
    await go(ada, await at("general", "unanswered"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    const held = await hold(ada, (request, before) => before.length === 0 && request.url().endsWith("/json/register"));
    await loseQueue(async () => {
      await bench.server.send("Bob", "general", "unanswered", "Meanwhile");
      await wake(ada);
      // This one is never answered.
      await eventually(() => assert.equal(held.length, 1));
    });
    await untilText(ada, ".message-row", "Meanwhile");
  });

  it("keeps the text of its filter when the queue has expired, and lists what came meanwhile", async () => {
    const ada = await bench.open();
    ada.expected.push(/400 \(Bad Request\)/);
    const loseQueue = losing(ada);
    await enter(ada, bench.server, "Ada");
    for (const [view, filter] of [["inbox", "Filter the inbox"], ["recent", "Filter recent conversations"]]) {
      await go(ada, `#${view}`);
      await typeInto(ada, `[aria-label="${filter}"]`, `lost ${view}`);
      await loseQueue(() => bench.server.send("Bob", "general", `lost ${view}`, "Meanwhile"));
      await untilAllEqual(ada, ".conversation__name", (names) => names.map((name) => name.textContent), [`lost ${view}`]);
      await untilEqual(ada, `[aria-label="${filter}"]`, (input) => [input.value, document.activeElement === input], [`lost ${view}`, true]);
    }
  });

  it("stays at what comes while the window has no focus, and marks only what was on the screen as read", async () => {
    const ada = await as("Ada", await at("general", "away"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    const seen = await sendLines("away", 0, 30);
    await ada.waitForSelector(`[data-id="${seen.at(-1)}"]`);
    await readAll(ada);
    await focus(ada, false);
    const missed = await sendLines("away", 30, 90);
    await ada.waitForSelector(`[data-id="${missed.at(-1)}"]`);
    await untilEqual(ada, `[data-id="${missed[0]}"]`, isOnScreen, true);
    await focus(ada, true);
    await ada.waitForSelector(`[data-id="${missed[0]}"]:not([data-unread])`);
    await eventually(async () => assert.deepEqual(await readOnServer(missed[0], missed.at(-1)), [true, false]));
    await readAll(ada);
    // Who turns the wheel reads, also without the focus.
    await focus(ada, false);
    const more = await sendLines("away", 90, 150);
    await ada.waitForSelector(`[data-id="${more.at(-1)}"]`);
    // The page learns with the next frame that it has scrolled.
    await onElement(ada, ".timeline__scroller", (scroller) => new Promise((resolve) => {
      scroller.addEventListener("scroll", () => resolve(), { once: true });
      scroller.dispatchEvent(new WheelEvent("wheel"));
      scroller.scrollTop = scroller.scrollHeight;
    }));
    const [latest] = await sendLines("away", 150, 151);
    await untilEqual(ada, `[data-id="${latest}"]`, isOnScreen, true);
  });

  it("goes on without the focus while another window reads", async () => {
    const ada = await as("Ada", await at("general", "beside"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    const seen = await sendLines("beside", 0, 30);
    await ada.waitForSelector(`[data-id="${seen.at(-1)}"]`);
    await readAll(ada);
    await focus(ada, false);
    let last = 0;
    for (let number = 30; number < 90; number += 5) {
      const messages = await sendLines("beside", number, number + 5);
      last = messages.at(-1);
      await server("Ada", "POST", "/messages/flags", { messages, op: "add", flag: "read" });
      await ada.waitForSelector(`[data-id="${last}"]:not([data-unread])`);
    }
    await untilEqual(ada, `[data-id="${last}"]`, isOnScreen, true);
  });

  it("stays at what comes while the window has no focus, also where more comes at once than the page has rows for", async () => {
    const ada = await as("Ada", await at("general", "flood"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    const seen = await sendLines("flood", 0, 30);
    await ada.waitForSelector(`[data-id="${seen.at(-1)}"]`);
    await readAll(ada);
    const sendAtOnce = await sendingAtOnce(ada);
    await focus(ada, false);
    const [first] = await sendLines("flood", 30, 31);
    await ada.waitForSelector(`[data-id="${first}"]`);
    const missed = await sendAtOnce("flood", 31, 460);
    await ada.waitForSelector(`[data-id="${missed[60]}"]`);
    await untilEqual(ada, `[data-id="${first}"]`, isOnScreen, true);
    await focus(ada, true);
    await ada.waitForSelector(`[data-id="${first}"]:not([data-unread])`);
    assert.ok(await onElement(ada, `[data-id="${missed[60]}"]`, (row) => row.hasAttribute("data-unread")));
  });

  it("stays at the first of many messages that come at once with the focus, as after a sleep", async () => {
    const ada = await as("Ada", await at("general", "burst"));
    await ada.waitForSelector(".composer .editor__text", { visible: true });
    const [seen] = await sendLines("burst", 0, 1);
    await ada.waitForSelector(`[data-id="${seen}"]:not([data-unread])`);
    const sendAtOnce = await sendingAtOnce(ada);
    // The second time, they are more than the page has rows for.
    for (const [from, to] of [[1, 60], [60, 490]]) {
      const burst = await sendAtOnce("burst", from, to);
      await ada.waitForSelector(`[data-id="${burst[50]}"]`);
      await untilEqual(ada, `[data-id="${burst[0]}"]`, isOnScreen, true);
      await eventually(async () => assert.deepEqual(await readOnServer(burst[0], burst[50], burst.at(-1)), [true, false, false]));
      await readAll(ada);
    }
  });
});
