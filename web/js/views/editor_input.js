/**
 * Keys, paste and drop in a box for Markdown.
 * @module
 */

import { actionOfEnter, asBlock, isInCode, nextItem, pastedLink } from "../lib/text_edits.js";
import { isComposing, keyName } from "../platform/keyboard.js";
import { isTouch } from "../platform/viewport.js";
import { editorCommands } from "./editor_toolbar.js";

/** @typedef {import("../lib/text_edits.js").Selected} Selected */
/** @typedef {import("../lib/text_edits.js").Edit} Edit */
/** @typedef {{ selected: () => Selected, apply: (edit: Edit) => void, send: () => void, upload: (files: File[]) => void, togglePreview: () => void,
 *   isCompleting: () => boolean }} Does */

/** @param {import("../store/store.js").Store} store @param {HTMLTextAreaElement} textarea @param {Does} does */
export function attachKeys(store, textarea, { selected, apply, send, togglePreview, isCompleting }) {
  textarea.addEventListener("keydown", (event) => {
    if (isComposing(event) || event.defaultPrevented) return;
    const name = keyName(event);
    const command = editorCommands().find(({ key }) => key === name);
    if (command) {
      event.preventDefault();
      apply(command.edit(selected()));
    } else if (name === "Alt+p") {
      event.preventDefault();
      togglePreview();
    } else if (event.key === "Enter" && !isCompleting()) {
      const action = actionOfEnter(event, Boolean(store.setting("enter_sends")) && !isTouch());
      const edit = action === "item" ? nextItem(selected()) : null;
      if (action === "send" || edit) event.preventDefault();
      if (action === "send") send();
      else if (edit) apply(edit);
    }
  });
}

/** Whether a text only has the names of some files: macOS copies them together with the files. @param {string} text @param {File[]} files */
const namesOnly = (text, files) =>
  text.split(/[\r\n]+/).every((line) => files.some(({ name }) => name.normalize() === line.trim().normalize()));

/** @param {import("../store/store.js").Store} store @param {HTMLTextAreaElement} textarea @param {Does} does */
export function attachPaste(store, textarea, { selected, apply, upload }) {
  let isPlain = false;

  /** Inserts the text, and then Markdown in its place, so that undoing gives the plain text first. @param {string} text @param {string} html */
  async function insert(text, html) {
    const { value, start, end } = selected();
    if (text) apply({ start, end, text });
    // HTML without a text leaves what is selected until there is Markdown.
    const before = text || value.slice(start, end);
    const paste = await import("./paste.js").catch(() => null);
    const markdown = paste?.pastedMarkdown(store, text, html);
    const now = selected();
    const pasted = { ...now, start, end: start + before.length };
    // Something else may be written, or be in the box, since the module was asked for.
    const isThere = document.activeElement === textarea && now.value.slice(start, pasted.end) === before;
    if (!markdown || markdown === text || !isThere) return;
    const edit = /^(```|\|)/.test(markdown) ? asBlock(pasted, markdown) : { start, end: pasted.end, text: markdown };
    const cursor = now.start < start ? now.start : start + edit.text.length + Math.max(0, now.start - pasted.end);
    apply({ ...edit, select: [cursor, cursor] });
  }

  textarea.addEventListener(
    "keydown",
    (event) => {
      isPlain = keyName(event) === "Ctrl+Shift+v";
    },
    true,
  );
  textarea.addEventListener("paste", (event) => {
    const data = event.clipboardData;
    if (!data) return;
    const files = [...data.files];
    const hasText = data.types.includes("text/plain") && (isPlain || !namesOnly(data.getData("text/plain"), files));
    if (files.length > 0 && !hasText) {
      event.preventDefault();
      upload(files);
      return;
    }
    if (isPlain) return;
    const text = data.getData("text/plain").replace(/\r\n?/g, "\n");
    const link = pastedLink(selected(), text);
    if (link) {
      event.preventDefault();
      apply(link);
      return;
    }
    const html = isInCode(selected()) ? "" : data.getData("text/html");
    if (!html && !text.includes("#narrow/")) return;
    event.preventDefault();
    void insert(text, html);
  });
}

/** @param {HTMLElement} element @param {(files: File[]) => void} upload */
export function attachDrop(element, upload) {
  element.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  element.addEventListener("drop", (event) => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    upload(files);
  });
}
