// Searches all pages of the book. Their texts are loaded with the first search.

const box = /** @type {HTMLInputElement} */ (document.querySelector("nav input"));
const found = /** @type {HTMLElement} */ (document.getElementById("found"));
const contents = /** @type {HTMLElement} */ (document.getElementById("contents"));

/** @typedef {{ title: string, path: string, text: string }} Page */

/** @type {Promise<Page[]> | undefined} */
let loaded;

/**
 * The text of the main part of a page.
 * @param {string} page
 */
function textOf(page) {
  const main = page.slice(page.indexOf("<main>"));
  return main
    .replace(/<[^>]*>/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .replace(/\s+/g, " ");
}

function load() {
  const links = [...contents.querySelectorAll("a")];
  return Promise.all(
    links.map(async (link) => {
      const page = await fetch(link.href);
      return { title: link.textContent ?? "", path: link.href, text: textOf(await page.text()) };
    }),
  );
}

/**
 * A link to a page, with the text around the first word.
 * @param {Page} page
 * @param {string} word
 */
function entry(page, word) {
  const at = Math.max(page.text.toLowerCase().indexOf(word) - 30, 0);
  const link = document.createElement("a");
  link.href = page.path;
  link.textContent = page.title;
  const around = document.createElement("small");
  around.textContent = `... ${page.text.slice(at, at + 90)} ...`;
  return [link, around];
}

async function search() {
  const words = box.value.toLowerCase().split(" ").filter(Boolean);
  contents.hidden = words.length > 0;
  if (!words.length) return found.replaceChildren();
  loaded ??= load();
  const pages = await loaded;
  const has = pages.filter((page) => words.every((word) => page.text.toLowerCase().includes(word)));
  found.replaceChildren(...(has.length ? has.flatMap((page) => entry(page, words[0] ?? "")) : ["Nothing was found."]));
}

box.hidden = false;
box.addEventListener("input", () => void search());

// Tables that scroll can be reached by keyboard.
for (const table of document.querySelectorAll("table")) if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
