/** Reading without an account; in headless browsers against the real server. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { click, clickText, countOf, eventually, onElement, press, pressOn, sendLogin, setUp, until, untilAllEqual, untilText } from "./harness.js";

const bench = setUp();
const { as } = bench;

/** A page without an account. */
async function visit(fragment = "", size = {}) {
  const page = await bench.open(size);
  await page.goto(`${bench.server.url}/${fragment}`);
  return page;
}

/** Opens the organization to visitors, with a web-public channel. */
async function open() {
  const { server } = bench;
  const id = await server.channel("square", ["Ada", "Bob"], { description: "For everybody" });
  await server.call("Ada", "PATCH", "/realm", { enable_spectator_access: true });
  await server.call("Ada", "PATCH", `/streams/${id}`, { is_web_public: true });
  return id;
}

describe("a visitor", () => {
  it("reads web-public channels, and comes back to the same place after the login", async () => {
    const { server } = bench;
    const id = await open();
    const sent = await server.send("Bob", "square", "fountain", "The water runs again");
    await server.send("Bob", "general", "inside", "Not for the street");
    const page = await visit();
    await untilText(page, ".conversation", "fountain");
    await untilAllEqual(page, ".conversation__channel", (all) => [...new Set(all.map((one) => one.textContent))], ["square"]);
    const text = await onElement(page, ".app", (app) => app.textContent);
    assert.ok(!text.includes("general") && !text.includes("Direct messages") && !text.includes("Inbox"), text);
    await clickText(page, ".sidebar [data-channel] a", "square");
    await untilText(page, ".message-row", "The water runs again");
    assert.equal(await countOf(page, ".composer textarea"), 0);
    assert.equal(await countOf(page, ".people"), 0);
    await clickText(page, ".composer a", "Log in to reply");
    await page.waitForSelector("#id_username");
    await untilText(page, ".login a", "View without an account");
    await sendLogin(page, server.accounts.Bob.email);
    await page.waitForSelector(".composer textarea, .composer__closed button");
    await untilText(page, ".message-row", "The water runs again");
    await until(page, (stream) => location.hash.startsWith(`#narrow/channel/${stream}-square`), id);
    // A link to a message leads to it, also after its topic was renamed.
    await server.call("Ada", "PATCH", `/messages/${sent.id}`, { topic: "well", propagate_mode: "change_all", send_notification_to_new_thread: false });
    for (const operator of ["near", "with"]) {
      const linked = await visit(`#narrow/channel/${id}-square/topic/fountain/${operator}/${sent.id}`);
      await untilText(linked, ".message-row", "The water runs again");
      await until(linked, () => document.querySelector(".header__topic")?.textContent === "well");
    }
  });

  it("shows where an account is required, and sends no request that requires one", async () => {
    const { server } = bench;
    const id = await open();
    await server.send("Bob", "square", "bench", "Sit down");
    const { stream_id: general } = await server.call("Ada", "GET", "/get_stream_id", { stream: "general" });
    const page = await visit(`#narrow/channel/${id}-square/topic/bench`);
    const refused = [];
    page.on("response", (response) => response.status() >= 400 && refused.push(`${response.status()} ${response.url()}`));
    await untilText(page, ".message-row", "Sit down");
    const untilAsked = async () => {
      await untilText(page, "dialog h2", "Log in");
      await page.keyboard.press("Escape");
      await until(page, () => !document.querySelector("dialog"));
    };
    for (const key of ["r", "c", "+", ":", "m", "M"]) {
      await pressOn(page, ".message-row", key);
      await untilAsked();
    }
    await press(page, "Control+s");
    await untilAsked();
    await bench.go(page, "#settings/profile");
    await untilText(page, "dialog h2", "Log in");
    await page.keyboard.press("Escape");
    await until(page, () => !document.querySelector("dialog") && location.hash.includes("bench"));
    for (const hidden of [`#narrow/channel/${general}-general`, "#narrow/channel/9999-x", "#narrow/is/starred", "#narrow/dm/8-bob"]) {
      await bench.go(page, hidden);
      await untilText(page, ".empty, .timeline", "cannot be read without an account");
    }
    await bench.go(page, "#inbox");
    await untilText(page, ".header h1", "Recent conversations");
    assert.deepEqual(refused, []);
  });

  it("loads menus and help once the page has come to rest", async () => {
    await open();
    const page = await bench.open();
    const asked = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(`${bench.server.url}/#recent`);
    await untilText(page, ".header h1", "Recent conversations");
    await eventually(() => assert.ok(asked.some((path) => /\/(message_menu|later)\.js$/.test(path)), asked.join("\n")));
  });

  it("finds the login page where nothing is public", async () => {
    const { server } = bench;
    await open();
    await server.call("Ada", "PATCH", "/realm", { enable_spectator_access: false });
    const page = await visit("#recent");
    await page.waitForSelector("#id_username");
    assert.equal(await countOf(page, ".login__visit"), 0);
    // Members see the setting change as it happens.
    const ada = await as("Ada", "#organization/organization-permissions");
    await ada.waitForSelector("dialog");
    await ada.waitForSelector("dialog");
  });
});

describe("a public page", () => {
  it("runs nothing, loads its pictures, and leads into the chat", async () => {
    const { server } = bench;
    const id = await open();
    const { id: first } = await server.send("Bob", "square", "market", "Come **early** <script>document.title = 'ran'</script>\n\n[here](#narrow/is/resolved)");
    const page = await visit(`public/${id}-square/${first}-market`);
    await untilText(page, "article strong", "early");
    await eventually(async () => assert.ok((await page.title()).startsWith("market")));
    assert.equal(await countOf(page, "script"), 0);
    await until(page, () => [...document.images].every((image) => image.complete && image.naturalWidth > 0));
    await eventually(async () => assert.ok((await onElement(page, "article a[href*=narrow]", (link) => link.href)).startsWith(`${server.url}/#narrow`)));
    await Promise.all([page.waitForNavigation(), click(page, "header p a")]);
    await untilText(page, ".message-row", "early");
  });
});
