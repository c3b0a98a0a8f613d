/** Reading: what counts as seen; in a headless browser against the real server. */

import { describe, it } from "node:test";
import { setUp, until, untilText } from "./harness.js";

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
