/**
 * A box for Markdown: formatting, preview, completion, emoji, uploads. Composing and editing share it.
 * @module
 */

import { renderMessage } from "../api/endpoints.js";
import { fill, h } from "../lib/dom.js";
import { asBlock } from "../lib/text_edits.js";
import { listed, t } from "../lib/words.js";
import { keyName } from "../platform/keyboard.js";
import { attachDrop, attachKeys, attachPaste } from "./editor_input.js";
import { editorToolbar } from "./editor_toolbar.js";
import { onDemand } from "./loading.js";
import { contentElement } from "./message_content.js";
import { confirm, showTimeDialog } from "./on_demand.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/app.js").Editor} Editor */
/** @typedef {import("../lib/text_edits.js").Edit} Edit */

const startUploads = onDemand(async () => (await import("./uploads.js")).startUploads);

/** The number of remaining characters is shown from here on. */
const SHOW_LEFT = 900;

/** @param {App} app
 * @param {{ label: string, value?: string, placeholder?: string, onSend: () => void, onInput?: () => void, channel?: number | null, isChannel?: boolean, isEdit?: boolean }} options @returns {Editor} */
export function createEditor(app, options) {
  const { store } = app;
  let isLarge = false;
  const context = { channel: options.channel ?? null, isChannel: options.isChannel ?? true };
  const textarea = h("textarea", {
    class: "editor__text",
    rows: 1,
    "aria-label": options.label,
    placeholder: options.placeholder ?? "",
    value: options.value ?? "",
    spellcheck: "true",
    dir: "auto",
  });
  const selected = () => ({ value: textarea.value, start: textarea.selectionStart, end: textarea.selectionEnd });

  /** Changes the text, so that it can be undone. @param {Edit} edit */
  function apply({ start, end, text, select }) {
    textarea.focus();
    textarea.setSelectionRange(start, end);
    // The command writes where the focus is: a dialog that is still open keeps it.
    if (document.activeElement !== textarea || !document.execCommand("insertText", false, text))
      textarea.setRangeText(text, start, end, "end");
    if (select) textarea.setSelectionRange(...select);
    changed();
  }

  /** @param {string} text */
  const insert = (text) => apply({ start: textarea.selectionStart, end: textarea.selectionEnd, text });
  /** @param {string} text */
  const insertBlock = (text) => apply(asBlock(selected(), text));
  const chooseTime = () => showTimeDialog(insert);

  function changed() {
    resize();
    const rest = (store.state.max_message_length ?? 10_000) - [...textarea.value].length;
    toolbar.left.textContent = rest <= SHOW_LEFT ? String(rest) : "";
    toolbar.left.classList.toggle("is-over", rest < 0);
    options.onInput?.();
  }

  function resize() {
    textarea.style.setProperty("height", "auto");
    const most = isLarge ? innerHeight * 0.65 : Math.min(textarea.scrollHeight + 2, innerHeight * 0.4);
    textarea.style.setProperty("height", `${most}px`);
  }

  /** @param {boolean} is */
  function toggleSize(is) {
    isLarge = is;
    element.classList.toggle("is-large", is);
    resize();
    textarea.focus();
  }

  const uploads = createUploadBox(app, textarea, { insertBlock, changed });
  const toolbar = editorToolbar(app, {
    ...{ insert, chooseTime, chooseFiles: uploads.choose, togglePreview: () => void preview.toggle(), toggleSize },
    apply: (command) => apply(command.edit(selected())),
  });
  const preview = createPreview(app, textarea, toolbar.preview, options.onSend);
  /** Completion, whose module is loaded when something is typed. */
  let completion = { isOpen: () => false, close: () => {} };
  const complete = async () => {
    textarea.removeEventListener("input", complete);
    try {
      const { attachAutocomplete } = await import("./autocomplete.js");
      /** @param {number} start @param {number} end @param {string} text @param {[number, number]} [select] */
      const replace = (start, end, text, select) => apply({ start, end, text, ...(select ? { select } : {}) });
      completion = attachAutocomplete(app, textarea, context, { replace, chooseTime });
    } catch {
      textarea.addEventListener("input", complete);
    }
  };
  textarea.addEventListener("input", complete);
  const element = h("div", { class: "editor" }, uploads.host, textarea, preview.element, toolbar.element, uploads.input);
  textarea.addEventListener("input", changed);
  const does = {
    ...{ selected, apply, upload: uploads.start, send: options.onSend },
    togglePreview: () => void preview.toggle(),
    isCompleting: () => completion.isOpen(),
  };
  attachKeys(store, textarea, does);
  attachPaste(store, textarea, does);
  attachDrop(element, uploads.start);
  requestAnimationFrame(resize);

  return {
    element,
    textarea,
    toolbar: toolbar.element,
    context,
    upload: uploads.start,
    insert,
    insertBlock,
    togglePreview: preview.toggle,
    value: () => textarea.value,
    /** @param {string} text */
    setValue(text) {
      textarea.value = text;
      completion.close();
      if (preview.isShown()) void preview.toggle();
      changed();
    },
    isEmpty: () => textarea.value.trim() === "",
    isOver: () => toolbar.left.classList.contains("is-over"),
    isUploading: uploads.isRunning,
    focus() {
      textarea.focus({ preventScroll: true });
      textarea.setSelectionRange(textarea.value.length, textarea.value.length);
    },
  };
}

/** The preview of the message, in place of the box. @param {App} app @param {HTMLTextAreaElement} textarea @param {HTMLElement} button @param {() => void} send */
function createPreview(app, textarea, button, send) {
  const element = h("div", { class: "editor__preview", hidden: true, tabindex: "0", role: "region", "aria-label": t("Preview") });
  /** Only the latest request counts. */
  let requests = 0;

  async function toggle() {
    requests += 1;
    const own = requests;
    const isShown = element.hidden;
    button.setAttribute("aria-pressed", String(isShown));
    element.hidden = !isShown;
    textarea.hidden = isShown;
    if (!isShown) return textarea.focus();
    fill(element, h("p", { class: "muted" }, t("Rendering…")));
    const reply = textarea.value.trim() ? await app.session.attempt(renderMessage(textarea.value)) : null;
    if (own !== requests) return;
    // It failed: back to the text.
    if (reply === undefined) return void toggle();
    fill(element, reply ? contentElement(app, reply.rendered, null) : h("p", { class: "muted" }, t("Nothing to preview.")));
    element.focus();
  }

  element.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
    if (keyName(event) === "Alt+p") void toggle();
  });
  return { element, toggle, isShown: () => !element.hidden };
}

/** The uploads of files into a text. @param {App} app @param {HTMLTextAreaElement} textarea @param {{ insertBlock: (text: string) => void, changed: () => void }} does */
function createUploadBox(app, textarea, { insertBlock, changed }) {
  const host = h("div", { class: "editor__uploads" });
  const input = h("input", {
    type: "file",
    multiple: true,
    hidden: true,
    onchange: () => {
      void start([...(input.files ?? [])]);
      input.value = "";
    },
  });

  const box = { host, textarea, insert: insertBlock, changed };
  /** How many uploads wait for their module. */
  let waiting = 0;
  /** @param {File[]} files */
  async function start(files) {
    waiting += 1;
    try {
      await startUploads(app, files, box);
    } finally {
      waiting -= 1;
    }
  }
  const isRunning = () => waiting > 0 || app.session.uploads.isRunning(textarea.value);
  return { host, input, start, isRunning, choose: () => input.click() };
}

/** Asks before a text is sent without files that could not be uploaded. @param {App} app @param {string} text @param {string} action @returns {Promise<boolean>} */
export async function isSureWithout({ session }, text, action) {
  const files = session.uploads.failedIn(text);
  if (files.length === 0) return true;
  const words = t("They could not be uploaded: {names}.", { names: listed(files) });
  return (await confirm(t("Continue without these files?"), words, action)) === true;
}
