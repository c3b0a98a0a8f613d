/**
 * Files on their way to the server, with progress and a way to cancel. Button, paste and drop all end here.
 * @module
 */

import { upload } from "../api/upload.js";
import { h, iconButton } from "../lib/dom.js";
import { placeOf } from "../lib/text_edits_on_demand.js";
import { t } from "../lib/words.js";
import { tabs } from "../platform/lifecycle.js";
import { isRefused } from "./load_state.js";
import { button } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {{ host: HTMLElement, textarea: HTMLTextAreaElement, insert: (text: string) => void, changed: () => void }} Box Where the progress is
 *   shown, and the text; `changed` is called when it is not changed by `insert`. */

/** A placeholder that no other upload has: pasted pictures have the same name. @param {App} app @param {string} name */
function newPlaceholder({ session }, name) {
  const numbered = (/** @type {number} */ count) => `[${t("Uploading {name}…", { name: count > 1 ? `${name} (${count})` : name })}]()`;
  let count = 1;
  while (session.uploads.isTaken(numbered(count))) count++;
  return numbered(count);
}

/** Replaces a part of the text, which may be in another box by now, or be kept as a draft.
 * @param {App} app @param {string} before @param {string} after @param {Box} [own] */
function replaceText(app, before, after, own) {
  /** @type {NodeListOf<HTMLTextAreaElement>} */
  const boxes = document.querySelectorAll(".editor__text");
  const box = [...boxes].find((one) => one.value.includes(before));
  if (!box) return app.session.replaceKept(before, after);
  const place = placeOf({ value: box.value, start: box.selectionStart, end: box.selectionEnd }, before, after);
  if (!place) return;
  box.setRangeText(after, place.at, place.at + before.length, place.mode);
  if (box === own?.textarea) own.changed();
  else box.dispatchEvent(new Event("input"));
}

/** Keys of the placeholders of other tabs whose end is awaited. @type {Set<string>} */
const awaited = new Set();

/** Removes from texts the placeholders of uploads that ended with their tab. @param {App} app */
export function removeInterrupted(app) {
  const { uploads } = app.session;
  for (const [key, placeholder] of uploads.elsewhere()) {
    if (awaited.has(key)) continue;
    awaited.add(key);
    tabs.whenEnded(key.split("/")[0], () => uploads.removeOther(key) && replaceText(app, placeholder, ""));
  }
}

/** @param {App} app @param {File[]} files @param {Box} box */
export function startUploads(app, files, box) {
  const { session, store } = app;
  const limit = store.state.max_file_upload_size_mib ?? 100;
  for (const file of files) {
    if (file.size > limit * 1024 * 1024) {
      session.tellError(t("{name} is larger than {limit} MiB.", { name: file.name, limit }));
      continue;
    }
    startUpload(app, file, box);
  }
}

/** @param {App} app @param {File} file @param {Box} box */
function startUpload(app, file, box) {
  const name = file.name || "pasted.png";
  const placeholder = newPlaceholder(app, name);
  const own = { name, hasFailed: false, end: () => end("") };
  app.session.uploads.add(placeholder, own);
  box.insert(placeholder);
  /** @type {import("../api/upload.js").Upload | undefined} */
  let running;
  const progress = h("progress", { max: "1", value: 0, "aria-label": t("Upload of {name}", { name }) });
  const reason = h("span", { class: "error-text" });
  const cancel = () => {
    running?.cancel();
    own.end();
  };
  const row = h(
    "div",
    { class: "upload" },
    h("span", null, name),
    progress,
    reason,
    iconButton("close", t("Cancel the upload of {name}", { name }), { onclick: cancel }),
  );
  const again = button(t("Try again"), start, "small");

  /** @param {string} text What takes the place of the placeholder. */
  function end(text) {
    replaceText(app, placeholder, text, box);
    app.session.uploads.remove(placeholder);
    row.remove();
  }

  async function start() {
    // It keeps the focus, and does nothing: on the next button, an Enter that is held down would cancel.
    again.setAttribute("aria-disabled", "true");
    show(null);
    running = upload(file, (fraction) => {
      progress.value = fraction;
    });
    await running.done.then(({ url, filename }) => end(`[${(filename ?? name).replace(/[[\]]/g, "")}](${url ?? ""})`), failed);
  }

  /** Shows the progress, or why it failed. @param {string | null} words */
  function show(words) {
    own.hasFailed = progress.hidden = words !== null;
    reason.hidden = words === null;
    reason.textContent = words;
  }

  /** @param {Error} error */
  function failed(error) {
    if (error.name === "AbortError") return;
    app.session.tellError(`${name}: ${error.message}`);
    if (isRefused(error)) return own.end();
    show(error.message);
    again.removeAttribute("aria-disabled");
    // An element that is put in its place again loses the focus.
    if (!again.isConnected) reason.after(again);
  }

  box.host.append(row);
  void start();
}
