/**
 * Conversion of pasted text: HTML to Markdown, and links of this organization to their short form.
 * @module
 */

import { isPreformatted, parseUrl, withoutTrailingSpaces } from "../lib/parse.js";
import { URL_ALONE } from "../lib/text_edits.js";
import { fenced } from "../lib/text_edits_on_demand.js";
import { channelLink } from "../selectors/links.js";
import { operandOf, parseNarrow } from "../selectors/narrow.js";
import { parseHtml } from "./message_content.js";

/** A link to a conversation of this organization in the syntax of messages; null for other texts.
 * @param {import("../store/store.js").Store} store @param {string} text @returns {string | null} */
function linkForUrl(store, text) {
  const url = URL_ALONE.test(text) ? parseUrl(text) : null;
  if (url?.origin !== location.origin || !url.hash.startsWith("#narrow/")) return null;
  const terms = parseNarrow(store, url.hash.slice("#narrow/".length));
  const channel = store.channels.get(operandOf(terms ?? [], "channel"));
  if (!terms || !channel) return null;
  const topic = operandOf(terms, "topic");
  const near = operandOf(terms, "near");
  const isOther = terms.some(({ operator }) => !["channel", "topic", "near", "with"].includes(operator));
  if (isOther || (topic === undefined && terms.length > 1)) return null;
  const link = channelLink(store, channel, topic);
  if (near === undefined) return link;
  return link.startsWith("#**") ? link.replace(/\*\*$/, `@${near}**`) : link.replace(/\)$/, `/near/${near})`);
}

/** Text from a code editor as code; null for other HTML. @param {string} html @param {string} text @returns {string | null} */
function pastedCode(html, text) {
  const line = text.trim();
  if (line === "" || !isPreformatted(html)) return null;
  return /[\n`]/.test(line) ? fenced(text.replace(/\n$/, "")) : `\`${line}\``;
}

/** Pasted text as Markdown; null if it is plain text. @param {import("../store/store.js").Store} store @param {string} text
 * @param {string} html Empty if only the text counts. */
export const pastedMarkdown = (store, text, html) =>
  linkForUrl(store, text) ?? (html ? (pastedCode(html, text) ?? markdownOf(parseHtml(html))) : null);

/** Text with one empty line between paragraphs. Blocks with a fence keep their lines. @param {string} text */
function tidy(text) {
  /** @type {string[]} */
  const lines = [];
  let fence = "";
  for (const line of withoutTrailingSpaces(text).split("\n")) {
    if (fence === "" && line === "" && lines.at(-1) === "") continue;
    if (fence === "") fence = /^(`{3,})[^`]*$/.exec(line)?.[1] ?? "";
    else if (line === fence) fence = "";
    lines.push(line);
  }
  return lines.join("\n").trim();
}

/** @param {DocumentFragment} fragment */
export function markdownOf(fragment) {
  const text = [...fragment.childNodes].map((node) => convert(node, "")).join("");
  return tidy(text.replace(/\u00a0/g, " "));
}

/** Elements that no mark can enclose. */
const BLOCKS = "p, div, h1, h2, h3, h4, h5, h6, ul, ol, table, pre, blockquote, details";

/** Whether a text is only the line break in the source behind a block: it would indent the next one. @param {Text} text */
const isBetweenBlocks = ({ data, previousSibling }) =>
  /^\s*\n\s*$/.test(data) && previousSibling instanceof Element && previousSibling.matches(BLOCKS);

/** Elements whose text has lines of its own. */
const LINES = "p, div, section, article, main, header, footer, aside, address, dl, dt, dd, figure, figcaption, details, summary";

/** @type {Record<string, string>} */
const MARKS = { B: "**", STRONG: "**", I: "*", EM: "*", DEL: "~~", S: "~~", STRIKE: "~~" };

/** True for an element within another one with the same mark, which encloses it too. @param {Element} element */
function isMarked({ tagName, parentElement }) {
  const same = Object.keys(MARKS).filter((name) => MARKS[name] === MARKS[tagName]);
  const outer = parentElement?.closest(same.join());
  return outer ? !outer.querySelector(BLOCKS) : false;
}

/** Changes the words of a text, and leaves the white space around them. @param {string} text @param {(words: string) => string} change */
const changedWords = (text, change) => text.replace(/\S(?:.*\S)?/, (words) => change(words));

/** @param {Node} node @param {string} indent @returns {string} */
function convert(node, indent) {
  if (node instanceof Text) return isBetweenBlocks(node) ? "" : node.data.replace(/\s+/g, " ");
  if (!(node instanceof Element) || node.matches("style, script, head, meta, title, .code-buttons")) return "";
  const inner = () => [...node.childNodes].map((child) => convert(child, indent)).join("");
  const tag = node.tagName;
  if (node.matches(".katex-display, .katex")) {
    const tex = node.querySelector("annotation")?.textContent ?? "";
    return node.classList.contains("katex-display") ? `\n\`\`\`math\n${tex}\n\`\`\`\n` : `$$${tex}$$`;
  }
  // A spoiler stays hidden in a quotation.
  if (node.matches(".spoiler-block")) {
    const title = node.querySelector("summary, .spoiler-header")?.textContent?.trim() ?? "";
    const hidden = [...(node.querySelector(".spoiler-content")?.childNodes ?? [])].map((child) => convert(child, "")).join("");
    return `\n${fenced(tidy(hidden), `spoiler ${title}`)}\n`;
  }
  // Google Docs encloses all of a text in a bold element that is not bold.
  if (MARKS[tag] && !node.querySelector(BLOCKS)) {
    if (isMarked(node)) return inner();
    // Marks end with the line.
    const lines = inner().split("\n");
    return lines.map((line) => changedWords(line, (words) => `${MARKS[tag]}${words}${MARKS[tag]}`)).join("\n");
  }
  if (/^H[1-6]$/.test(tag)) return `\n${"#".repeat(Number(tag[1]))} ${inner().trim()}\n\n`;
  switch (tag) {
    case "BR":
      return "\n";
    case "A": {
      const [href, text] = [node.getAttribute("href") ?? "", inner()];
      if (!/^https?:|^mailto:/.test(href) || node.querySelector("img")) return text;
      if (text.trim() === "") return href;
      // The text of a link is one line, even if it was a heading.
      const line = text.replace(/(?<!\s)\s*\n\s*(#{1,6} )?/g, " ");
      return changedWords(line, (words) => (words === href ? href : `[${words}](${href})`));
    }
    case "CODE":
      return `\`${node.textContent}\``;
    case "PRE": {
      const language =
        /language-(\w+)/.exec(node.querySelector("code")?.className ?? "")?.[1] ??
        node.parentElement?.getAttribute("data-code-language") ??
        "";
      return `\n${fenced((node.textContent ?? "").replace(/\n$/, ""), language.toLowerCase())}`;
    }
    case "BLOCKQUOTE":
      return `\n${tidy(inner())
        .split("\n")
        .map((line) => `> ${line}`)
        .join("\n")}\n\n`;
    case "UL":
    case "OL": {
      const start = Number(node.getAttribute("start") ?? 1);
      const lines = [...node.children].map((item, index) => {
        const text = [...item.childNodes]
          .map((child) => convert(child, `${indent}  `))
          .join("")
          .trim();
        return `${indent}${tag === "OL" ? `${start + index}.` : "*"} ${text}`;
      });
      return `\n${lines.join("\n")}\n`;
    }
    case "TABLE":
      return tableMarkdown(/** @type {HTMLTableElement} */ (node), indent);
    case "HR":
      return "\n---\n";
    // Of a message, which shows it in the zone of each reader.
    case "TIME":
      return node.textContent?.startsWith("🕓") ? `<time:${node.getAttribute("datetime")}>` : inner();
    // Of the organization: other emoji are characters.
    case "IMG":
      return node.matches(".emoji") ? (node.getAttribute("alt") ?? "") : "";
    default:
      return node.matches(LINES) ? `\n${inner().trim()}\n\n` : inner();
  }
}

/** Rows of cells; the first is the head. @param {HTMLTableElement} table @param {string} indent */
function tableMarkdown(table, indent) {
  const lines = [...table.rows].map((row) => {
    const cells = [...row.cells].map((cell) => [...cell.childNodes].map((child) => convert(child, indent)).join(""));
    return `| ${cells
      .map((text) =>
        text
          .trim()
          .replace(/(?<!\s)\s*\n\s*/g, " ")
          .replaceAll("|", "\\|"),
      )
      .join(" | ")} |`;
  });
  const columns = table.rows[0]?.cells.length ?? 0;
  // A single cell of a spreadsheet is its text.
  if (columns === 1 && lines.length === 1) return lines[0].slice(2, -2);
  return columns === 0 ? "" : `\n${[lines[0], `|${" --- |".repeat(columns)}`, ...lines.slice(1)].join("\n")}\n\n`;
}
