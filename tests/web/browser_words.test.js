/** The client in other languages than English. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { catalogueOf } from "./words.js";
import { choose, compose, enter, eventually, keptWords, onElements, onField, setUp, until, untilText, write } from "./harness.js";

const bench = setUp();
const { as, at, go, open } = bench;

/** Lets the page believe that the browser prefers these languages. */
const prefer = (page, ...languages) =>
  page.evaluateOnNewDocument((wanted) => Object.defineProperty(navigator, "languages", { get: () => wanted }), languages);

const setLanguage = (name, language) => bench.server.call(name, "PATCH", "/settings", { default_language: language });

/** English texts of the catalogue that stand alone in an element of the page, though the language has others for them. */
async function englishTexts(page, language) {
  const catalogue = catalogueOf(language);
  const english = Object.keys(catalogue).filter((key) => typeof catalogue[key] === "string" && catalogue[key] !== key);
  return page.evaluate((texts) => {
    const known = new Set(texts);
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) if (known.has(node.data.trim()) && !node.parentElement.closest(".message-row, bdi, h1, code, option")) found.push(node.data.trim());
    for (const element of document.querySelectorAll("[aria-label], [title], [placeholder]")) {
      for (const name of ["aria-label", "title", "placeholder"]) if (known.has(element.getAttribute(name) ?? "")) found.push(element.getAttribute(name));
    }
    return found;
  }, english);
}

describe("before the login", () => {
  it("the page has the language of the browser", async () => {
    const page = await open();
    await prefer(page, "de-AT", "en");
    await page.goto(`${bench.server.url}/login/`);
    await untilText(page, "button", "Anmelden");
    await eventually(async () => assert.equal(await page.evaluate(() => document.documentElement.lang), "de"));
    await eventually(async () => assert.match(await page.title(), /^Anmelden - /));
    // Afterwards it is the language of the settings, whatever the browser prefers.
    await enter(page, bench.server, "Bob");
    await untilText(page, ".sidebar", "Recent conversations");
  });

  it("a language without a catalogue has the words of the next one that the browser prefers", async () => {
    const page = await open();
    await prefer(page, "sv", "zh-TW", "ja-JP");
    await page.goto(`${bench.server.url}/login/`);
    await untilText(page, "button", "ログイン");
  });
});

describe("a language of the settings", () => {
  it("changes the page at once, here and in other tabs, and keeps what is written", async () => {
    const topic = await at("general", "words");
    const other = await as("Cleo", topic);
    await write(other, "not yet sent");
    const page = await as("Cleo", "#settings/profile");
    await choose(page, "Language", "de");
    await untilText(page, "dialog h2", "Einstellungen");
    await eventually(async () => assert.equal(await page.evaluate(() => location.hash), "#settings/profile"));
    await untilText(other, ".sidebar", "Posteingang");
    await until(other, () => document.querySelector(".composer .editor__text")?.value === "not yet sent");
    await eventually(async () => assert.deepEqual(await englishTexts(other, "de"), []));
    await choose(page, "Sprache", "en");
    await untilText(page, "dialog h2", "Settings");
  });

  it("keeps its words for notifications while the page cannot load them", async () => {
    await setLanguage("Bob", "de");
    const page = await as("Bob");
    await eventually(async () => assert.deepEqual(await keptWords(page), ["de.json"]));
    await page.evaluateOnNewDocument(() => {
      const { fetch } = window;
      window.fetch = (url, options) => (String(url).includes("/words/") ? Promise.reject(new TypeError("no connection")) : fetch(url, options));
      Cache.prototype.add = async () => {
        window.hasAsked = true;
        throw new TypeError("no connection");
      };
    });
    await page.reload();
    await untilText(page, ".sidebar", "Inbox");
    await until(page, () => window.hasAsked === true);
    assert.deepEqual(await keptWords(page), ["de.json"]);
    await setLanguage("Bob", "fr");
    await until(page, () => document.documentElement.lang === "fr" && window.hasAsked === true);
    assert.deepEqual(await keptWords(page), ["de.json"]);
    await setLanguage("Bob", "en");
  });

  it("is offered exactly where there is a catalogue", async () => {
    const page = await as("Bob", "#settings/profile");
    const offered = await onField(page, "Language", (control) => [...control.options].map(({ value, text }) => `${value} ${text}`));
    assert.deepEqual(offered, ["en English", "de Deutsch", "fr Français", "es Español", "pt-br Português (Brasil)", "it Italiano", "nl Nederlands", "pl Polski", "ja 日本語", "zh-hans 简体中文"]);
  });

  it("has its plurals, dates and numbers", async () => {
    await bench.server.channel("alone", ["Ada"]);
    await setLanguage("Ada", "pl");
    const channels = await as("Ada", "#channels/all");
    await untilText(channels, "dialog .row", "3 członkowie");
    await untilText(channels, "dialog .row", "1 członek");
    await setLanguage("Ada", "ja");
    await untilText(channels, "dialog .row", "3人");
    await bench.server.send("Bob", "general", "words", "hello");
    await go(channels, await at("general", "words"));
    await untilText(channels, ".timeline", "今日");
    await eventually(async () => assert.match((await onElements(channels, ".message-row__time", (all) => all.at(-1)?.title)) ?? "", /曜日 (午前|午後)\d/));
    await compose(channels, "konnichiwa");
    await untilText(channels, ".message-row", "konnichiwa");
    await eventually(async () => assert.deepEqual(await englishTexts(channels, "ja"), []));
    await setLanguage("Ada", "en");
  });
});

describe("the longest words", () => {
  const VIEWS = ["#inbox", "#recent", "#channels/all", "#channels/new", "#settings/preferences", "#settings/account-and-privacy", "#organization/organization-permissions", "#organization/organization-settings", "#invite", "#keyboard-shortcuts", "#drafts"];
  for (const language of ["de", "pl", "ja"]) {
    it(`fit a phone: ${language}`, async () => {
      await setLanguage("Bob", language);
      const page = await as("Bob", "", { width: 390, height: 844, touch: true });
      for (const fragment of [...VIEWS, await at("general", "words")]) {
        await go(page, fragment);
        await until(page, (wanted) => location.hash === wanted && !document.querySelector(".loading"), fragment);
        const wide = () => [...document.querySelectorAll("dialog[open] *, .middle *")].filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > innerWidth + 1 && element.closest("nav, pre, table") === null).map((element) => `${element.className}: ${element.textContent.slice(0, 60)}`);
        await eventually(async () => assert.deepEqual(await page.evaluate(wide), [], fragment));
        await eventually(async () => assert.equal(await page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth), true, fragment));
      }
      await eventually(async () => assert.deepEqual(await englishTexts(page, language), []));
      await setLanguage("Bob", "en");
    });
  }
});
