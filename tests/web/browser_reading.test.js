/** Reading: what counts as seen, what is hidden, and what is said; in a headless browser against the real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { click, eventually, intercept, IS_FIREFOX, pressOn, setUp, typeInto, until, untilAllEqual, untilEqual, untilFocus, untilText } from "./harness.js";

const bench = setUp();
const { as, at, go } = bench;

describe("a message that arrives below a dialog", () => {
  it("is read once the dialog is closed, and not before", async () => {
    const ada = await as("Ada", await at("general", "dialogs"));
    await bench.server.send("Bob", "general", "dialogs", "Before the dialog");
    await untilText(ada, ".message-row:not([data-unread])", "Before the dialog");
    await go(ada, "#settings/profile");
    await ada.waitForSelector("dialog[open]");
    await bench.server.send("Bob", "general", "dialogs", "Below the dialog");
    await untilText(ada, ".message-row[data-unread]", "Below the dialog");
    await ada.keyboard.press("Escape");
    await until(ada, () => !document.querySelector("dialog") && !document.querySelector("[data-unread]"));
  });
});

describe("what someone writes whom the user has muted", () => {
  it("is neither shown nor said, and who wrote it is not named, until the user asks", async () => {
    const id = await bench.server.person("Zed");
    await bench.server.channel("general", ["Zed"]);
    const ada = await as("Ada", await at("general", "muted"));
    // Only messages of the conversation that is open are said.
    await untilText(ada, ".header__topic", "muted");
    await ada.waitForSelector(".timeline");
    await bench.server.call("Ada", "POST", `/users/me/muted_users/${id}`);
    await bench.server.send("Zed", "general", "muted", "A rude word");
    await bench.server.send("Bob", "general", "muted", "A kind word");
    const untilNamed = (...names) => untilAllEqual(ada, ".message-row", (rows) => rows.map((row) => row.getAttribute("aria-label").split(",")[0]), names);
    await untilNamed("A message from someone you muted.", "Bob");
    await untilAllEqual(ada, "[role=status] > p", (lines) => lines.map(({ textContent }) => textContent), ["Bob: A kind word"]);
    await click(ada, "[data-action=reveal]");
    await untilNamed("Zed", "Bob");
  });
});

describe("a draft", () => {
  // Firefox does not say what a request contains.
  it("is not typed again when its conversation is opened", { skip: IS_FIREFOX }, async () => {
    const ada = await as("Ada", await at("general", "first"));
    const notices = [];
    await intercept(ada, (request) => {
      if (request.url().endsWith("/typing")) notices.push(new URLSearchParams(request.postData()));
    });
    const said = () => notices.map((notice) => [notice.get("op"), notice.get("topic")].join(" ").replaceAll('"', ""));
    const box = ".composer .editor__text";
    await typeInto(ada, box, "Half a thought");
    await go(ada, await at("general", "second"));
    await untilEqual(ada, box, (area) => area.value, "");
    await go(ada, await at("general", "first"));
    await untilEqual(ada, box, (area) => area.value, "Half a thought");
    await go(ada, await at("general", "second"));
    await untilEqual(ada, box, (area) => area.value, "");
    await typeInto(ada, box, "Another");
    await eventually(async () => assert.ok(said().includes("start second"), said().join()));
    assert.deepEqual(said(), ["start first", "stop first", "start second"]);
  });
});

describe("the row of a message", () => {
  it("says what a poll asks, and gets the focus from the button that shows all of a long message", async () => {
    const { id: poll } = await bench.server.send("Bob", "general", "rows", "/poll Lunch?\nSoup\nSalad");
    const { id: long } = await bench.server.send("Bob", "general", "rows", "long\n\n".repeat(400));
    const ada = await as("Ada", await at("general", "rows"));
    await untilEqual(ada, `[data-id="${poll}"]`, (row) => /^Lunch\?.*Soup.*Salad/s.test(document.getElementById(row.getAttribute("aria-describedby")).textContent), true);
    await pressOn(ada, `[data-id="${long}"] .content__more`, "Enter");
    await untilFocus(ada, `[data-id="${long}"].is-expanded`);
  });
});
