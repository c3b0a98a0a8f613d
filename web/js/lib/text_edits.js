/**
 * Edits of a text with a selection: marks around it, marks before lines, blocks, lists. Pure: an edit names a part of the text, the text
 * that replaces it, and the selection afterwards.
 * @module
 */

import { t } from "./words.js";

/** @typedef {{ value: string, start: number, end: number }} Selected A text, and what is selected in it. */
/** @typedef {{ start: number, end: number, text: string, select?: [number, number] }} Edit Without `select`, the cursor is behind the text. */

/** A text that is an address and nothing else. */
export const URL_ALONE = /^https?:\/\/\S+$/;

/** Counts the stars at the beginning of a text, up to those of text that is bold and italic. @param {string} text */
const starsAtStart = (text) => /^\*{0,3}/.exec(text)?.[0].length ?? 0;

/** Counts the stars at the end of a text, up to the same number. @param {string} text */
const starsAtEnd = (text) => /\*{0,3}$/.exec(text)?.[0].length ?? 0;

/** Whether marks are between a text and what is before and behind it. Two stars are those of bold text, and a third one makes it italic.
 * @param {string} left @param {string} right @param {string} before @param {string} after */
function areMarks(left, right, before, after) {
  if (!before.startsWith("*")) return left.endsWith(before) && right.startsWith(after);
  const count = Math.min(starsAtEnd(left), starsAtStart(right));
  return before === "*" ? count % 2 === 1 : count >= 2;
}

/** Whether a text begins and ends with marks, and has none elsewhere. @param {string} text @param {string} before @param {string} after */
function isMarked(text, before, after) {
  const [left, right] = before.startsWith("*") ? [starsAtStart(text), starsAtEnd(text)] : [before.length, after.length];
  const inner = text.slice(left, text.length - right);
  const isOne = left + right < text.length && ![before, after].some((mark) => inner.includes(mark));
  return isOne && areMarks(text.slice(0, left), text.slice(text.length - right), before, after);
}

/** Puts marks around the selection, or removes them. Spaces at its ends stay outside, since marks beside them are text.
 * @param {Selected} selected @param {string} before @param {string} [after] @param {string} [placeholder] @returns {Edit} */
export const wrapped = (selected, before, after = before, placeholder = "") =>
  enclosed(withoutEnds(selected, /^\s*/), before, after, placeholder);

/** The selection without white space at its ends. @param {Selected} selected @param {RegExp} beginning What is left out at its beginning. @returns {Selected} */
function withoutEnds({ value, start, end }, beginning) {
  const text = value.slice(start, end).trimEnd();
  const from = text === "" ? end : start + (beginning.exec(text)?.[0].length ?? 0);
  return { value, start: from, end: text === "" ? end : start + text.length };
}

/** @param {Selected} selected @param {string} before @param {string} after @param {string} placeholder @returns {Edit} */
function enclosed({ value, start, end }, before, after, placeholder) {
  const inside = value.slice(start, end);
  if (areMarks(value.slice(0, start), value.slice(end), before, after)) {
    const from = start - before.length;
    return { start: from, end: end + after.length, text: inside, select: [from, from + inside.length] };
  }
  if (isMarked(inside, before, after)) {
    const text = inside.slice(before.length, -after.length);
    return { start, end, text, select: [start, start + text.length] };
  }
  const text = inside || placeholder;
  const from = start + before.length;
  return { start, end, text: `${before}${text}${after}`, select: [from, from + text.length] };
}

/** A fence of backticks that a text does not close. @param {string} text */
export const unusedFence = (text) => "`".repeat(1 + Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length)));

/** The fence of the block of this kind that the selection is, or that is around it; or else an unused one. @param {Selected} selected @param {string} kind */
function fenceFor({ value, start, end }, kind) {
  const inside = value.slice(start, end);
  const line = value.slice(value.lastIndexOf("\n", Math.max(0, start - 2)) + 1, start);
  const [around, own] = [line, inside].map((text) => /^`{3,}/.exec(text)?.[0] ?? "");
  if (around !== "" && line === `${around}${kind}\n` && value.startsWith(`\n${around}`, end)) return around;
  return own !== "" && isMarked(inside, `${own}${kind}\n`, `\n${own}`) ? own : unusedFence(inside);
}

/** Puts the selection into a block with a fence, which has lines of its own, or takes it out. Its first line keeps its indentation.
 * @param {Selected} selected @param {string} kind Of the block; empty for code. @param {string} [placeholder] @returns {Edit} */
export function inBlock(selected, kind, placeholder = "") {
  const { value } = selected;
  const part = withoutEnds(selected, /^(?:\s*\n)?/);
  const fence = fenceFor(part, kind);
  const opening = `${fence}${kind}\n`;
  const edit = enclosed(part, opening, `\n${fence}`, placeholder);
  if (!edit.text.startsWith(opening) || !edit.select) return edit;
  const before = edit.start === 0 || value[edit.start - 1] === "\n" ? "" : "\n";
  const behind = edit.end === value.length || value[edit.end] === "\n" ? "" : "\n";
  const [from, to] = edit.select;
  return { ...edit, text: `${before}${edit.text}${behind}`, select: [from + before.length, to + before.length] };
}

/** Whether several lines are selected. @param {Selected} selected */
const hasLines = ({ value, start, end }) => value.slice(start, end).trim().includes("\n");

/** Code in a line, or a block where several lines are selected. @param {Selected} selected @returns {Edit} */
export const asCode = (selected) => (hasLines(selected) ? inBlock(selected, "") : wrapped(selected, "`", "`", "code"));

/** A formula in a line, or a block where several lines are selected. @param {Selected} selected @returns {Edit} */
export const asFormula = (selected) => (hasLines(selected) ? inBlock(selected, "math") : wrapped(selected, "$$", "$$", "x^2"));

/** Makes a link of the selection. What is still to be written is selected then: the address, or the words for an address.
 * @param {Selected} selected @returns {Edit} */
export function linked(selected) {
  const inside = selected.value.slice(selected.start, selected.end).trim();
  const isAddress = URL_ALONE.test(inside);
  const edit = isAddress ? wrapped(selected, "[text](", ")") : wrapped(selected, "[", "](url)", "text");
  if (inside === "" || !edit.text.startsWith("[")) return edit;
  const at = isAddress ? edit.start + 1 : edit.start + edit.text.length - 4;
  return { ...edit, select: [at, at + (isAddress ? 4 : 3)] };
}

/** The mark of an item of a list, behind its indentation. */
const ITEM = /^(\s*)(?:[*+-]|\d+\.) /;

/** Makes a list of the selected lines, or no list if they are one already. Items of the other kind of list change their marks.
 * @param {Selected} selected @param {(index: number) => string} mark @returns {Edit} */
export function asList({ value, start, end }, mark) {
  const from = value.lastIndexOf("\n", start - 1) + 1;
  const next = value.indexOf("\n", end);
  const to = next < 0 ? value.length : next;
  const lines = value.slice(from, to).split("\n");
  const isNumbered = (/** @type {string} */ line) => /^\s*\d/.test(line);
  const isList = lines.every((line) => ITEM.test(line) && isNumbered(line) === isNumbered(mark(0)));
  const changed = lines.map((line, index) => {
    const plain = line.replace(ITEM, "$1");
    return isList ? plain : plain.replace(/^\s*/, (indent) => indent + mark(index));
  });
  return { start: from, end: to, text: changed.join("\n") };
}

/** A link to a room for a video call. @param {string} server @param {string} room Not to be guessed: who knows it can join. */
export const callLink = (server, room) => `[${t("Join the video call")}](${server.replace(/\/+$/, "")}/${room})`;

/** Inserts text as a block of its own. @param {Selected} selected @param {string} text @returns {Edit} */
export function asBlock({ value, start, end }, text) {
  const before = start === 0 || value.slice(0, start).endsWith("\n") ? "" : "\n";
  return { start, end, text: `${before}${text}` };
}

/** Begins the next item of a list, or ends the list after an empty one; null where there is none, and in code.
 * @param {Selected} selected @returns {Edit | null} */
export function nextItem({ value, start, end }) {
  const before = value.slice(0, start);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const match = /^(\s*)([*-]|(\d+)\.) (.*)$/.exec(line);
  if (!match || start !== end || isInCode({ value, start, end })) return null;
  const [, indent, bullet, number, words] = match;
  if (words === "") return { start: start - line.length, end: start, text: "" };
  return { start, end: start, text: `\n${indent}${number ? `${Number(number) + 1}.` : bullet} ` };
}

/** A link on what is selected, when a URL is pasted over it; null for other texts, in code, and over an address, which the URL replaces.
 * @param {Selected} selected @param {string} text @returns {Edit | null} */
export function pastedLink({ value, start, end }, text) {
  const inside = value.slice(start, end);
  if (start === end || !URL_ALONE.test(text) || isInCode({ value, start, end })) return null;
  if (URL_ALONE.test(inside.trim()) || value.slice(0, start).endsWith("](")) return null;
  return { start, end, text: `[${inside}](${text})` };
}

/** A line that begins a block: its fence, and what it contains. */
const OPENING = /^(`{3,}|~{3,}) *(\{?\.?[\w+,./#-][^`~]*)?$/;

/** The kinds of blocks that are not code, and may contain other blocks. */
const NO_CODE = /^\{?\.?(quoted?|spoiler)(?![\w+,./#-])/i;

/** The fences that are open at the end of a text, the innermost last. As on the server, a line with exactly the same characters
 * closes a fence, and mentions in spoilers notify.
 * @param {string} text */
export function openFences(text) {
  /** @type {{ fence: string, isCode: boolean, isSpoiler: boolean }[]} */
  const open = [];
  for (const line of text.split("\n")) {
    const inner = open.at(-1);
    if (line.trimEnd() === inner?.fence) open.pop();
    else if (!inner?.isCode) {
      const [, fence, kind = ""] = OPENING.exec(line) ?? [];
      const block = NO_CODE.exec(kind)?.[1].toLowerCase();
      if (fence) open.push({ fence, isCode: block === undefined, isSpoiler: block === "spoiler" });
    }
  }
  return open;
}

/** Whether the cursor is in a block of code. @param {Selected} selected */
export const isInCode = ({ value, start }) => openFences(value.slice(0, start)).at(-1)?.isCode === true;

/** The action of Enter with these modifiers. @param {{ shiftKey: boolean, ctrlKey: boolean, metaKey: boolean, altKey: boolean }} event @param {boolean} enterSends The user's setting, where there is a keyboard.
 * @returns {"send" | "item" | "line"} `item`: the next of a list, if the cursor is in one. */
export function actionOfEnter({ shiftKey, ctrlKey, metaKey, altKey }, enterSends) {
  if (ctrlKey || metaKey || (enterSends && !shiftKey)) return "send";
  return shiftKey || altKey ? "line" : "item";
}

/** A text that names the key that sends. @param {boolean} enterSends @param {boolean} isTouch Where there is no keyboard. */
export const sendHint = (enterSends, isTouch) =>
  isTouch ? "" : enterSends ? t("Enter sends, Shift+Enter begins a line") : t("Ctrl+Enter sends");
