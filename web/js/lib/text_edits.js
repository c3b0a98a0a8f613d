/**
 * Edits of a text with a selection: marks around it, marks before lines, blocks, lists. Pure: an edit names a part of the text, the text
 * that replaces it, and the selection afterwards.
 * @module
 */

import { t } from "./words.js";

/** @typedef {{ value: string, start: number, end: number }} Selected A text, and what is selected in it. */
/** @typedef {{ start: number, end: number, text: string, select?: [number, number] }} Edit Without `select`, the cursor is behind the text. */

/** Puts marks around the selection, or removes them. @param {Selected} selected @param {string} before @param {string} [after] @param {string} [placeholder] @returns {Edit} */
export function wrapped({ value, start, end }, before, after = before, placeholder = "") {
  const inside = value.slice(start, end);
  if (before !== "" && value.slice(start - before.length, start) === before && value.slice(end, end + after.length) === after) {
    const from = start - before.length;
    return { start: from, end: end + after.length, text: inside, select: [from, from + inside.length] };
  }
  const text = inside || placeholder;
  const from = start + before.length;
  return { start, end, text: `${before}${text}${after}`, select: [from, from + text.length] };
}

/** Code in a line, or a block where several lines are selected. @param {Selected} selected @returns {Edit} */
export const asCode = (selected) =>
  selected.value.slice(selected.start, selected.end).includes("\n")
    ? wrapped(selected, "```\n", "\n```")
    : wrapped(selected, "`", "`", "code");

/** Puts a mark before each selected line. @param {Selected} selected @param {(index: number) => string} mark @returns {Edit} */
export function prefixed({ value, start, end }, mark) {
  const from = value.lastIndexOf("\n", start - 1) + 1;
  const next = value.indexOf("\n", end);
  const to = next < 0 ? value.length : next;
  const lines = value.slice(from, to).split("\n");
  return { start: from, end: to, text: lines.map((line, index) => mark(index) + line).join("\n") };
}

/** A link to a room for a video call. @param {string} server @param {string} room Not to be guessed: who knows it can join. */
export const callLink = (server, room) => `[${t("Join the video call")}](${server.replace(/\/+$/, "")}/${room})`;

/** Inserts text as a block of its own. @param {Selected} selected @param {string} text @returns {Edit} */
export function asBlock({ value, start, end }, text) {
  const before = start === 0 || value.slice(0, start).endsWith("\n") ? "" : "\n";
  return { start, end, text: `${before}${text}` };
}

/** Begins the next item of a list, or ends the list after an empty one; null where there is none. @param {Selected} selected @returns {Edit | null} */
export function nextItem({ value, start, end }) {
  const before = value.slice(0, start);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const match = /^(\s*)([*-]|(\d+)\.) (.*)$/.exec(line);
  if (!match || start !== end) return null;
  const [, indent, bullet, number, words] = match;
  if (words === "") return { start: start - line.length, end: start, text: "" };
  return { start, end: start, text: `\n${indent}${number ? `${Number(number) + 1}.` : bullet} ` };
}

/** A link on what is selected, when a URL is pasted over it; null for other texts. @param {Selected} selected @param {string} text @returns {Edit | null} */
export function pastedLink({ value, start, end }, text) {
  if (start === end || !/^https?:\/\/\S+$/.test(text)) return null;
  return { start, end, text: `[${value.slice(start, end)}](${text})` };
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
