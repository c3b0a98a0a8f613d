/** Getting in and out: logging in and out, forgotten passwords, invitations; in headless Chromium against the real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { axeViolations } from "./axe.js";
import { clickButton, clickText, compose, eventually, intercept, onElement, pagePause, sendLogin, setUp, typeInto, until, untilAllEqual, untilEqual, untilText, untilToast, wake } from "./harness.js";

const bench = setUp();
const { as, at, go } = bench;

/** Fills in the page for logging in that is shown. */
const logInHere = (page, name, password) => sendLogin(page, bench.server.accounts[name].email, password);

describe("logging in", () => {
  it("leads to where one wanted to go", async () => {
    const where = await at("general", "bookmark");
    await bench.server.send("Bob", "general", "bookmark", "You found me");
    for (const path of [`/${where}`, `/login/?next=${encodeURIComponent(`/${where}`)}`, `/login/${where}`]) {
      const page = await bench.open();
      await page.goto(bench.server.url + path);
      await logInHere(page, "Ada");
      await untilText(page, ".message-row", "You found me");
      await eventually(async () => assert.equal(await page.evaluate(() => location.pathname + location.search + location.hash), `/${where}`, path));
    }
    const page = await bench.open();
    await page.goto(`${bench.server.url}/login/?next=//elsewhere.example/`);
    await logInHere(page, "Ada");
    await page.waitForSelector(".app");
    await eventually(async () => assert.equal(await page.evaluate(() => location.href), `${bench.server.url}/`, "never to another server"));
  });

  it("leads back when the session has ended meanwhile", async () => {
    const where = await at("general", "expired session");
    await bench.server.send("Bob", "general", "expired session", "Still here");
    const ada = await as("Ada", where.replace(" ", ".20"));
    ada.expected.push(/401/);
    await untilText(ada, ".message-row", "Still here");
    await typeInto(ada, ".composer .editor__text", "Not lost either");
    await until(ada, () => Object.values(localStorage).some((text) => text.includes("Not lost either")));
    await bench.server.call("Ada", "POST", "/users/me/api_keys/revoke_others");
    await wake(ada);
    await logInHere(ada, "Ada");
    await untilText(ada, ".message-row", "Still here");
    await until(ada, () => document.querySelector(".composer .editor__text").value === "Not lost either");
  });

  it("says what is wrong, and how to get a new password", async () => {
    const page = await bench.open();
    page.expected.push(/401/);
    await page.goto(bench.server.url);
    await logInHere(page, "Ada", "wrong horse");
    await untilText(page, "[role=alert]", "incorrect");
    await clickText(page, "summary", "Forgot your password?");
    await until(page, () => [...document.querySelectorAll("details[open] p")].some((text) => text.textContent.includes("administrator") && text.checkVisibility()));
    await clickText(page, "details[open] a", "Request a new password by email");
    await untilText(page, "h1", "Forgot your password?");
  });
});

describe("logging out", () => {
  it("leaves the page as it is if it fails", async () => {
    const where = await at("design", "leaving");
    await bench.server.send("Bob", "design", "leaving", "Goodbye");
    const ada = await as("Ada", where);
    ada.expected.push(/503/);
    await untilText(ada, ".message-row", "Goodbye");
    await intercept(ada, (request) => request.url().endsWith("/accounts/logout/") && [503, { result: "error", msg: "Busy" }]);
    await clickButton(ada, "Your menu");
    await clickText(ada, "[role=menuitem]", "Log out");
    await untilToast(ada, "Busy");
    await bench.server.send("Bob", "design", "leaving", "Still there?");
    await untilText(ada, ".message-row", "Still there?");
  });

  /** Logs out. The browser does not come to delete what it keeps of the session, so the page is there for some seconds. */
  async function logOutSlowly(page) {
    await page.evaluate(() => {
      const { deleteDatabase } = IDBFactory.prototype;
      IDBFactory.prototype.deleteDatabase = function erase(name) {
        if (document.cookie.includes("teamchat_csrf")) return deleteDatabase.call(this, name);
        window.isErasing = true;
        return {};
      };
    });
    await clickButton(page, "Your menu");
    await clickText(page, "[role=menuitem]", "Log out");
    await until(page, () => window.isErasing);
  }

  it("ends the requests of the page", async () => {
    const ada = await as("Ada");
    await logOutSlowly(ada);
    await ada.evaluate(() => {
      window.asked = [];
      window.fetch = (url) => {
        window.asked.push(String(url));
        return Promise.reject(new TypeError("nothing is to be asked"));
      };
    });
    // As do timers and a visible page, this reports the presence of the user, and polls.
    await wake(ada);
    await pagePause(ada, 0);
    assert.deepEqual(await ada.evaluate(() => window.asked), []);
    await ada.waitForSelector("#id_username");
  });

  it("stops uploads, and no others begin", async () => {
    const ada = await as("Ada", await at("general", "uploads"));
    await ada.evaluate(() => {
      // The page stays as long as the test wants.
      const real = window.setTimeout;
      window.setTimeout = (run, time, ...rest) => (time === 5000 ? (window.leave = run) : real(run, time, ...rest));
      window.calls = [];
      for (const name of ["send", "abort"]) XMLHttpRequest.prototype[name] = () => window.calls.push(name);
    });
    const input = await ada.waitForSelector(".composer input[type=file]");
    const start = async (count) => {
      await input.uploadFile(fileURLToPath(import.meta.url));
      await until(ada, (wanted) => document.querySelectorAll(".editor__uploads progress").length === wanted, count);
    };
    await start(1);
    await until(ada, () => window.calls.length === 1);
    await logOutSlowly(ada);
    await start(2);
    await pagePause(ada, 0);
    assert.deepEqual(await ada.evaluate(() => window.calls), ["send", "abort"]);
    await ada.evaluate(() => window.leave());
    await ada.waitForSelector("#id_username");
  });
});

describe("a forgotten password", () => {
  it("is set again by a link that an administrator makes on the person's card", async () => {
    await bench.server.person("Dan");
    const ada = await as("Ada", "#organization/users/active");
    await clickButton(ada, "New password for Dan");
    await clickText(ada, "dialog.dialog--small button", "Create a link");
    const first = await onElement(ada, "[aria-label='Link for a new password']", (input) => input.value);

    await go(ada, "#inbox");
    await until(ada, () => !document.querySelector("dialog"));
    await clickButton(ada, "Card of Dan");
    await clickText(ada, ".card button", "Link for a new password");
    await clickText(ada, "dialog.dialog--small button", "Create a link");
    const link = await onElement(ada, "[aria-label='Link for a new password']", (input) => input.value);
    assert.notEqual(link, first);

    const dan = await bench.open();
    dan.expected.push(/404/);
    await dan.goto(first);
    await untilText(dan, "h1", "This link does not work");
    await dan.goto(link);
    assert.deepEqual(await axeViolations(dan), []);
    await typeInto(dan, "#password", "battery staple");
    await Promise.all([dan.waitForNavigation(), dan.keyboard.press("Enter")]);
    await untilText(dan, "h1", "Your password is set");
    assert.deepEqual(await axeViolations(dan), []);
    await clickText(dan, "a", "Start chatting");
    await dan.waitForSelector(".app");

    const other = await bench.open();
    await other.goto(bench.server.url);
    await logInHere(other, "Dan", "battery staple");
    await other.waitForSelector(".app");
  });

  it("is nothing that others can set", async () => {
    const cleo = await as("Cleo", "#organization/users/active");
    await untilText(cleo, "dialog .row", "Bob");
    await untilAllEqual(cleo, "[aria-label^='New password for']", (buttons) => buttons.length, 0);
  });
});

describe("an invitation", () => {
  it("is made in the client, and leads into it", async () => {
    const ada = await as("Ada", "#invite");
    await clickText(ada, "dialog button", "Create link");
    const link = await onElement(ada, "[aria-label='Invitation link']", (input) => input.value);
    const dora = await bench.open({ width: 390, height: 780, touch: true });
    await dora.goto(link);
    assert.deepEqual(await axeViolations(dora), []);
    for (const [name, value] of [["full_name", "Dora"], ["email", "dora@example.com"], ["password", "correct horse"]]) await typeInto(dora, `#${name}`, value);
    await Promise.all([dora.waitForNavigation(), dora.keyboard.press("Enter")]);
    await untilText(dora, "h1", "Welcome, Dora");
    // A command with flags is not broken, however wide the page is.
    const lines = await onElement(dora, "main", (main) => {
      const command = document.createRange();
      command.selectNodeContents(main.querySelector("p code"));
      return [310, 320, 330, 340, 350, 360, 370, 380, 390].map((width) => {
        main.style.width = `${width}px`;
        return command.getClientRects().length;
      });
    });
    assert.deepEqual(lines, lines.map(() => 1));
    await clickText(dora, "a", "Start chatting");
    await dora.waitForSelector(".app");
    // Where nothing is unread, the page leads to the channels, and the only one is chosen for a message.
    await clickText(dora, ".page__tools button", "Mark all as read");
    await untilText(dora, ".empty a", "general");
    await clickText(dora, ".composer__closed button", "New message");
    await untilEqual(dora, ".composer__to [aria-label=Channel]", (channel) => channel.value, "general");
    await clickButton(dora, "Close");
    await go(dora, await at("general", "hello"));
    await compose(dora, "Here I am");
    await go(ada, await at("general", "hello"));
    await untilText(ada, ".message-row", "Here I am");
  });
});
