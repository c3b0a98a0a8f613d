/**
 * A box for Markdown: formatting, preview, completion, emoji, uploads. Composing and editing share it.
 * @module
 */

import { renderMessage } from "../api/endpoints.js";
import { fill, h, iconButton } from "../lib/dom.js";
import { localInputValue } from "../lib/time.js";
import { isComposing, keyName } from "../platform/keyboard.js";
import { isTouch } from "../platform/viewport.js";
import { attachAutocomplete } from "./autocomplete.js";
import { showEmojiPicker } from "./emoji_picker.js";
import { contentElement } from "./message_content.js";
import { htmlToMarkdown, linkForUrl } from "./paste.js";
import { showDialog } from "./popover.js";
import { startUploads } from "./uploads.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/app.js").Editor} Editor */

/** Where fewer characters are left, their number is shown. */
const SHOW_LEFT = 900;

/** @param {App} app
 * @param {{ label: string, value?: string, placeholder?: string, onSend: () => void, onInput?: () => void, channel?: number | null, isChannel?: boolean, isEdit?: boolean }} options @returns {Editor} */
export function createEditor(app, options) {
  const { store, session } = app;
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
  const previewBox = h("div", { class: "editor__preview", hidden: true, tabindex: "0", role: "region", "aria-label": "Preview" });
  const uploads = h("div", { class: "editor__uploads" });
  const left = h("span", { class: "editor__left", "aria-live": "polite" });
  const files = h("input", {
    type: "file",
    multiple: true,
    hidden: true,
    "aria-label": "Files",
    onchange: () => {
      upload([...(files.files ?? [])]);
      files.value = "";
    },
  });

  /** Replaces a part of the text, so that it can be undone. @param {number} start @param {number} end @param {string} text @param {"end" | "select" | "preserve"} [mode] */
  function replace(start, end, text, mode = "end") {
    textarea.focus();
    textarea.setSelectionRange(start, end);
    if (!document.execCommand("insertText", false, text)) textarea.setRangeText(text, start, end, "end");
    if (mode === "select") textarea.setSelectionRange(start, start + text.length);
    changed();
  }

  /** Puts a mark around the selection, or takes it away. @param {string} before @param {string} [after] @param {string} [placeholder] */
  function wrap(before, after = before, placeholder = "") {
    const { selectionStart: start, selectionEnd: end, value } = textarea;
    const selected = value.slice(start, end);
    if (value.slice(start - before.length, start) === before && value.slice(end, end + after.length) === after && before !== "") {
      replace(start - before.length, end + after.length, selected, "select");
      return;
    }
    const text = selected || placeholder;
    replace(start, end, `${before}${text}${after}`);
    textarea.setSelectionRange(start + before.length, start + before.length + text.length);
  }

  /** Puts a mark before each selected line. @param {(index: number) => string} mark */
  function prefix(mark) {
    const { value, selectionStart, selectionEnd } = textarea;
    const start = value.lastIndexOf("\n", selectionStart - 1) + 1;
    const next = value.indexOf("\n", selectionEnd);
    const end = next < 0 ? value.length : next;
    replace(
      start,
      end,
      value
        .slice(start, end)
        .split("\n")
        .map((line, index) => mark(index) + line)
        .join("\n"),
    );
  }

  /** Inserts text as a block of its own. @param {string} text */
  function insertBlock(text) {
    const { value, selectionStart: start, selectionEnd: end } = textarea;
    const before = start === 0 || value.slice(0, start).endsWith("\n") ? "" : "\n";
    replace(start, end, `${before}${text}`);
  }

  const commands = /** @type {const} */ ([
    ["bold", "Bold", "Ctrl+b", () => wrap("**", "**", "bold")],
    ["italic", "Italic", "Ctrl+i", () => wrap("*", "*", "italic")],
    ["strike", "Strikethrough", "", () => wrap("~~", "~~", "text")],
    ["link", "Link", "Ctrl+Shift+l", () => wrap("[", "](url)", "text")],
    ["list", "List", "", () => prefix(() => "* ")],
    ["quote", "Quote", "", () => wrap("```quote\n", "\n```", "quotation")],
    [
      "code",
      "Code",
      "",
      () =>
        textarea.value.slice(textarea.selectionStart, textarea.selectionEnd).includes("\n")
          ? wrap("```\n", "\n```")
          : wrap("`", "`", "code"),
    ],
    ["spoiler", "Spoiler", "", () => wrap("```spoiler Title\n", "\n```", "hidden text")],
    ["clock", "Time", "", () => chooseTime()],
  ]);

  function chooseTime() {
    const input = h("input", {
      type: "datetime-local",
      value: localInputValue(new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000)),
      "aria-label": "Time",
    });
    showDialog(
      "A time that everybody sees in their own zone",
      (close) => [
        h(
          "form",
          {
            class: "form",
            onsubmit: (/** @type {Event} */ event) => {
              event.preventDefault();
              close();
              const { selectionStart: start, selectionEnd: end } = textarea;
              replace(start, end, `<time:${new Date(input.value).toISOString().replace(".000", "")}> `);
            },
          },
          input,
          h("div", { class: "dialog__buttons" }, h("button", { type: "submit", class: "button button--primary" }, "Insert")),
        ),
      ],
      { class: "dialog--small" },
    );
  }

  const previewButton = iconButton("eye", "Preview", { "aria-pressed": "false", onclick: () => void togglePreview() });
  const toolbar = h(
    "div",
    { class: "editor__toolbar", role: "toolbar", "aria-label": "Formatting" },
    iconButton("paperclip", "Upload files", { onclick: () => files.click(), disabled: store.state.max_file_upload_size_mib === 0 }),
    iconButton("smile", "Emoji", {
      onclick: (/** @type {Event} */ event) =>
        showEmojiPicker(app, /** @type {Element} */ (event.currentTarget), ({ emoji_name }) =>
          replace(textarea.selectionStart, textarea.selectionEnd, `:${emoji_name}: `),
        ),
    }),
    commands.map(([name, label, key, run]) =>
      iconButton(name, label, { onclick: run, class: "editor__format", title: key ? `${label} (${key})` : label }),
    ),
    previewButton,
    left,
  );

  async function togglePreview() {
    const isShown = previewBox.hidden;
    previewButton.setAttribute("aria-pressed", String(isShown));
    previewBox.hidden = !isShown;
    textarea.hidden = isShown;
    if (!isShown) return textarea.focus();
    fill(previewBox, h("p", { class: "muted" }, "Rendering…"));
    const reply = textarea.value.trim() ? await session.attempt(renderMessage(textarea.value)) : null;
    fill(previewBox, reply ? contentElement(app, reply.rendered, null) : h("p", { class: "muted" }, "Nothing to preview."));
    previewBox.focus();
  }

  /** @param {File[]} chosen */
  function upload(chosen) {
    startUploads(app, chosen, {
      host: uploads,
      insert: insertBlock,
      replaceText(before, after) {
        const at = textarea.value.indexOf(before);
        if (at < 0) return;
        const [start, end] = [textarea.selectionStart, textarea.selectionEnd];
        textarea.setRangeText(after, at, at + before.length, start === end && start >= at ? "end" : "preserve");
        changed();
      },
    });
  }

  function changed() {
    resize();
    const max = store.state.max_message_length ?? 10_000;
    const rest = max - [...textarea.value].length;
    left.textContent = rest <= SHOW_LEFT ? String(rest) : "";
    left.classList.toggle("is-over", rest < 0);
    options.onInput?.();
  }

  function resize() {
    textarea.style.setProperty("height", "auto");
    textarea.style.setProperty("height", `${Math.min(textarea.scrollHeight + 2, innerHeight * 0.4)}px`);
  }

  const completion = attachAutocomplete(app, textarea, context, { replace, chooseTime });
  textarea.addEventListener("input", changed);
  textarea.addEventListener("keydown", (event) => {
    if (isComposing(event) || event.defaultPrevented) return;
    const name = keyName(event);
    const command = commands.find(([, , key]) => key === name);
    if (command) {
      event.preventDefault();
      command[3]();
    } else if (name === "Alt+p") {
      event.preventDefault();
      void togglePreview();
    } else if (event.key === "Enter" && !completion.isOpen()) {
      const sends =
        (store.setting("enter_sends") && !isTouch() && !event.shiftKey && !event.ctrlKey && !event.metaKey) ||
        event.ctrlKey ||
        event.metaKey;
      if (sends) {
        event.preventDefault();
        options.onSend();
      } else if (!event.shiftKey && !event.altKey) {
        continueList(event);
      }
    }
  });
  previewBox.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) options.onSend();
    if (keyName(event) === "Alt+p") void togglePreview();
  });

  /** Begins the next item of a list. @param {KeyboardEvent} event */
  function continueList(event) {
    const before = textarea.value.slice(0, textarea.selectionStart);
    const line = before.slice(before.lastIndexOf("\n") + 1);
    const match = /^(\s*)([*-]|(\d+)\.) (.*)$/.exec(line);
    if (!match || textarea.selectionStart !== textarea.selectionEnd) return;
    event.preventDefault();
    const start = textarea.selectionStart;
    if (match[4] === "") replace(start - line.length, start, "");
    else replace(start, start, `\n${match[1]}${match[3] ? `${Number(match[3]) + 1}.` : match[2]} `);
  }

  let isPlainPaste = false;
  textarea.addEventListener(
    "keydown",
    (event) => {
      isPlainPaste = keyName(event) === "Ctrl+Shift+v";
    },
    true,
  );
  textarea.addEventListener("paste", (event) => {
    const data = event.clipboardData;
    if (!data) return;
    const pasted = [...data.files];
    if (pasted.length > 0 && !data.types.includes("text/plain")) {
      event.preventDefault();
      upload(pasted);
      return;
    }
    const text = data.getData("text/plain");
    const { selectionStart: start, selectionEnd: end, value } = textarea;
    if (isPlainPaste) return;
    if (start !== end && /^https?:\/\/\S+$/.test(text)) {
      event.preventDefault();
      replace(start, end, `[${value.slice(start, end)}](${text})`);
      return;
    }
    const link = linkForUrl(store, text);
    const isInCode = (value.slice(0, start).match(/^```/gm) ?? []).length % 2 === 1;
    const html = data.getData("text/html");
    const markdown = link ?? (html && !isInCode ? htmlToMarkdown(html) : null);
    if (!markdown || markdown === text) return;
    event.preventDefault();
    replace(start, end, text);
    replace(start, start + text.length, markdown);
  });

  const element = h("div", { class: "editor" }, uploads, textarea, previewBox, toolbar, files);
  element.addEventListener("dragover", (event) => {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  });
  element.addEventListener("drop", (event) => {
    const dropped = [...(event.dataTransfer?.files ?? [])];
    if (dropped.length === 0) return;
    event.preventDefault();
    upload(dropped);
  });
  requestAnimationFrame(resize);

  return {
    element,
    textarea,
    toolbar,
    context,
    upload,
    insertBlock,
    togglePreview,
    value: () => textarea.value,
    /** @param {string} text */
    setValue(text) {
      textarea.value = text;
      completion.close();
      if (!previewBox.hidden) void togglePreview();
      changed();
    },
    isEmpty: () => textarea.value.trim() === "",
    isOver: () => left.classList.contains("is-over"),
    isUploading: () => uploads.childElementCount > 0,
    focus() {
      textarea.focus({ preventScroll: true });
      textarea.setSelectionRange(textarea.value.length, textarea.value.length);
    },
  };
}
