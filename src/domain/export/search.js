// Search in a static archive. Pages that are opened from a folder cannot fetch data, so the index is in scripts, each of which
// calls loaded().
"use strict";

const PER_SHARD = 500;
const WORD_SHARDS = 64;
const MAX_RESULTS = 100;
// The index has the first characters of words that are longer.
const MAX_WORD = 40;

const WORD = /[\p{Alphabetic}\p{N}]+/gu;

// Characters of scripts without spaces between words, and the parts of a word that have only them, or none.
const UNSPACED =
  "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3005-\\u3007\\u3040-\\u30ff\\u31f0-\\u31ff\\u3400-\\u4dbf" +
  "\\u4e00-\\u9fff\\uf900-\\ufaff\\uff66-\\uff9f\\u{20000}-\\u{3134f}";
const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");
const PART = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, "gu");

// Promises of the scripts of the index by name, and the functions that fulfil them.
const shards = new Map();
const waiting = new Map();

// eslint-disable-next-line no-unused-vars -- the scripts of the index call it
function loaded(name, data) {
  waiting.get(name)?.(data);
}

function load(name) {
  if (!shards.has(name)) {
    shards.set(name, new Promise((resolve, reject) => {
      waiting.set(name, resolve);
      const script = document.createElement("script");
      script.src = `search/${name}.js`;
      script.onerror = () => {
        // The next search requests it again.
        shards.delete(name);
        reject(new Error(`${name} is missing`));
      };
      document.head.append(script);
    }));
  }
  return shards.get(name);
}

// The ranks of messages with a word that begins so.
async function find(word) {
  const index = await load(`words-${word.codePointAt(0) % WORD_SHARDS}`);
  const ranks = new Set();
  for (const known of Object.keys(index)) {
    if (known.startsWith(word)) for (const rank of index[known]) ranks.add(rank);
  }
  return ranks;
}

// The words of a text, as the index has them: of scripts without spaces, it has pairs of characters.
function wordsOf(text) {
  return (text.match(WORD) ?? []).flatMap((word) => word.match(PART)).flatMap((part) => {
    const characters = [...part.toLowerCase()];
    if (!IS_UNSPACED.test(part) || characters.length === 1) return [characters.slice(0, MAX_WORD).join("")];
    return characters.slice(1).map((character, index) => characters[index] + character);
  });
}

async function search(text) {
  const words = wordsOf(text);
  if (words.length === 0) return [];
  const sets = await Promise.all(words.map(find));
  // The newest first.
  return [...sets[0]].filter((rank) => sets.every((set) => set.has(rank))).sort((a, b) => b - a);
}

async function show(ranks) {
  const order = await load("order-0");
  const results = document.getElementById("results");
  results.replaceChildren();
  const one = ranks.length === 1;
  const first = ranks.length > MAX_RESULTS ? `, the first ${MAX_RESULTS} are shown` : "";
  document.getElementById("found").textContent = `${ranks.length} message${one ? "" : "s"} found${first}.`;
  for (const rank of ranks.slice(0, MAX_RESULTS)) {
    const number = order[rank];
    const shard = await load(`messages-${Math.floor(number / PER_SHARD)}`);
    const [address, sender, place, time, excerpt] = shard[number % PER_SHARD];
    const article = document.createElement("article");
    const header = document.createElement("header");
    const link = document.createElement("a");
    link.href = address;
    link.textContent = place;
    link.dir = "auto";
    const author = document.createElement("bdi");
    author.textContent = sender;
    header.append(author, ` · ${time} · `, link);
    const body = document.createElement("div");
    body.dir = "auto";
    body.textContent = excerpt;
    article.append(header, body);
    results.append(article);
  }
}

document.getElementById("search").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = new FormData(event.target).get("words");
  search(text).then(show).catch((error) => {
    document.getElementById("found").textContent = error.message;
  });
});
