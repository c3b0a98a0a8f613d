/**
 * The buttons of a box for Markdown, and their keys.
 * @module
 */

import { h, iconButton } from "../lib/dom.js";
import { asBlock, asCode, asFormula, asList, callLink, inBlock, linked, wrapped } from "../lib/text_edits.js";
import { t } from "../lib/words.js";
import { shownKey } from "../platform/keyboard.js";
import { showEmojiPicker } from "./on_demand.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../lib/text_edits.js").Selected} Selected */
/** @typedef {import("../lib/text_edits.js").Edit} Edit */
/** @typedef {{ icon: keyof import("../lib/icons.js")["icons"], label: string, key?: string, edit: (selected: Selected) => Edit }} Command */

/** @type {() => Command[]} */
export const editorCommands = () => [
  { icon: "bold", label: t("Bold"), key: "Ctrl+b", edit: (selected) => wrapped(selected, "**", "**", "bold") },
  { icon: "italic", label: t("Italic"), key: "Ctrl+i", edit: (selected) => wrapped(selected, "*", "*", "italic") },
  { icon: "strike", label: t("Strikethrough"), edit: (selected) => wrapped(selected, "~~", "~~", "text") },
  { icon: "link", label: t("Link"), key: "Ctrl+Shift+l", edit: linked },
  { icon: "list", label: t("List"), edit: (selected) => asList(selected, () => "* ") },
  { icon: "numbers", label: t("Numbered list"), edit: (selected) => asList(selected, (index) => `${index + 1}. `) },
  { icon: "quote", label: t("Quote"), edit: (selected) => inBlock(selected, "quote", "quotation") },
  { icon: "code", label: t("Code"), edit: asCode },
  { icon: "formula", label: t("Formula"), edit: asFormula },
  { icon: "table", label: t("Table"), edit: (selected) => asBlock(selected, "|  |  |\n|---|---|\n|  |  |\n") },
  { icon: "spoiler", label: t("Spoiler"), edit: (selected) => inBlock(selected, "spoiler Title", t("hidden text")) },
];

/** @param {App} app
 * @param {{ apply: (command: Command) => void, insert: (text: string) => void, chooseTime: () => void, chooseFiles: () => void,
 *   togglePreview: () => void, toggleSize: (isLarge: boolean) => void }} does */
export function editorToolbar(app, { apply, insert, chooseTime, chooseFiles, togglePreview, toggleSize }) {
  const preview = iconButton("eye", t("Preview"), { "aria-pressed": "false", onclick: togglePreview });
  const size = iconButton("expand", t("Larger box"), {
    class: "editor__format",
    "aria-pressed": "false",
    onclick: () => {
      const isLarge = size.getAttribute("aria-pressed") === "false";
      size.setAttribute("aria-pressed", String(isLarge));
      toggleSize(isLarge);
    },
  });
  const left = h("span", { class: "editor__left", "aria-live": "polite" });
  const buttons = h(
    "div",
    { class: "editor__buttons" },
    iconButton("paperclip", t("Upload files"), { onclick: chooseFiles, disabled: app.store.state.max_file_upload_size_mib === 0 }),
    iconButton("smile", t("Emoji"), {
      onclick: (/** @type {Event} */ event) =>
        showEmojiPicker(app, /** @type {Element} */ (event.currentTarget), ({ text }) => insert(`${text} `), { hasTones: true }),
    }),
    callButton(app, insert),
    editorCommands().map((command) =>
      iconButton(command.icon, command.label, {
        onclick: () => apply(command),
        class: "editor__format",
        title: command.key ? `${command.label} (${shownKey(command.key)})` : command.label,
      }),
    ),
    iconButton("clock", t("Time"), { onclick: chooseTime, class: "editor__format" }),
    preview,
    size,
  );
  const element = h("div", { class: "editor__toolbar", role: "toolbar", "aria-label": t("Formatting") }, buttons, left);
  return { element, preview, left };
}

/** A button that begins a video call, where the organization has a server for them.
 * @param {App} app @param {(text: string) => void} insert */
function callButton({ store }, insert) {
  const server = store.state.realm_video_chat_provider === 1 ? store.state.realm_jitsi_server_url : null;
  if (!server) return null;
  const room = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
  return iconButton("video", t("Video call"), { onclick: () => insert(`${callLink(server, room())} `) });
}
