/** The search in channels that were exported as pages. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { createContext, runInContext } from "node:vm";

const SEARCH = readFileSync(new URL("../../src/domain/export/search.js", import.meta.url), "utf8");

/** A word such as a digest. The index has 40 characters of it. */
const LONG = "0f1e2d3c4b5a6978".repeat(4);

/** The words of two messages, with the ranks of the messages. */
const WORDS = {
  tide: [0], this: [0, 1], water: [1], [LONG.slice(0, 40)]: [1],
  今日: [0], 日は: [0], は港: [0], 港へ: [0], へ: [0], 港に: [1], に: [1],
};

/** The content of a script of the index. */
function dataOf(name) {
  if (name === "order-0") return [0, 1];
  if (name === "messages-0") return [0, 1].map((id) => [`topic.html#m${id}`, "Ada", "#boats > tides", "2027-01-01", "..."]);
  const isIn = ([word]) => `words-${word.codePointAt(0) % 64}` === name;
  return Object.fromEntries(Object.entries(WORDS).filter(isIn));
}

/** A search on a new page, which returns the line above its results. Scripts of the index whose names are in `broken` fail. */
function open(broken = new Set()) {
  const element = () => ({ append() {}, replaceChildren() {} });
  let words, resolve, submit;
  const elements = {
    search: { addEventListener: (_, listener) => { submit = listener; } },
    found: { set textContent(text) { resolve(text); } },
    results: element(),
  };
  const run = (script) => {
    const name = script.src.match(/^search\/(.*)\.js$/)[1];
    if (broken.has(name)) script.onerror();
    else runInContext(`loaded(${JSON.stringify(name)}, ${JSON.stringify(dataOf(name))})`, page);
  };
  const document = {
    getElementById: (id) => elements[id],
    createElement: element,
    head: { append: (script) => queueMicrotask(() => run(script)) },
  };
  const page = createContext({ document, FormData: class { get = () => words; } });
  runInContext(SEARCH, page);
  return (text) => new Promise((done) => {
    [words, resolve] = [text, done];
    submit({ preventDefault() {} });
  });
}

/** The line above the results of a search, on a new page. */
const search = (words) => open()(words);

it("messages with all words are found", async () => {
  assert.equal(await search("this"), "2 messages found.");
  assert.equal(await search("Water this"), "1 message found.");
  assert.equal(await search("tide water"), "0 messages found.");
  assert.equal(await search("wind"), "0 messages found.");
});

it("words may begin with the same letter", async () => {
  assert.equal(await search("this tide"), "1 message found.");
  assert.equal(await search("tide this ti"), "1 message found.");
});

it("words that are longer than those of the index are found", async () => {
  assert.equal(await search(LONG), "1 message found.");
  assert.equal(await search(LONG.slice(0, 41).toUpperCase()), "1 message found.");
});

it("any part of a text without spaces is found", async () => {
  assert.equal(await search("港"), "2 messages found.");
  assert.equal(await search("は港へ"), "1 message found.");
  assert.equal(await search("今日は港へ water"), "0 messages found.");
  assert.equal(await search("港にwater"), "1 message found.");
  assert.equal(await search("港は"), "0 messages found.");
});

it("a part of the index that could not be loaded is requested again by the next search", async () => {
  const broken = new Set([`words-${"w".codePointAt(0) % 64}`, "order-0"]);
  const searchAgain = open(broken);
  for (const name of [...broken]) {
    assert.equal(await searchAgain("water"), `${name} is missing`);
    broken.delete(name);
  }
  assert.equal(await searchAgain("water"), "1 message found.");
});
