/**
 * One's own status.
 * @module
 */

import { updateStatus } from "../api/endpoints_on_demand.js";
import { fill, h, icon } from "../lib/dom.js";
import { charactersOf } from "../lib/emoji.js";
import { t } from "../lib/words.js";
import { showEmojiPicker } from "./emoji_picker.js";
import { field, form, submit } from "./form_parts.js";
import { button, emojiElement } from "./parts.js";
import { showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */

/** @type {() => [string, string, string][]} */
const statusPresets = () => [
  [t("Busy"), "working_on_it", "1f6e0"],
  [t("In a meeting"), "calendar", "1f4c5"],
  [t("Commuting"), "bus", "1f68c"],
  [t("Out sick"), "hurt", "1f915"],
  [t("Vacationing"), "palm_tree", "1f334"],
  [t("Working remotely"), "house", "1f3e0"],
  [t("At the office"), "office", "1f3e2"],
];

/** @param {App} app */
export function showStatusDialog(app) {
  const { store, session } = app;
  const current = store.statuses.get(store.selfId) ?? {};
  let emoji = current.emoji_name
    ? { emoji_name: current.emoji_name, emoji_code: current.emoji_code, reaction_type: current.reaction_type }
    : null;
  const text = h("input", {
    type: "text",
    maxlength: 60,
    value: current.status_text ?? "",
    placeholder: t("What is going on?"),
    autofocus: true,
  });
  const pick = h("button", {
    type: "button",
    class: "icon-button",
    "aria-label": t("Emoji of the status"),
    onclick: () =>
      showEmojiPicker(app, pick, (chosen) => {
        emoji = chosen;
        show();
      }),
  });
  const show = () => fill(pick, emoji ? emojiElement(store, emoji) : icon("smile"));
  show();
  showDialog(t("Set status"), (close) => {
    const save = async (/** @type {Record<string, unknown>} */ params) => (await session.attempt(updateStatus(params))) && close();
    return [
      form(
        () => save({ status_text: text.value.trim(), ...(emoji ?? { emoji_name: "", emoji_code: "", reaction_type: "" }) }),
        h("div", { class: "inline" }, pick, h("div", { class: "grow" }, field(t("Status"), text))),
        h(
          "div",
          { class: "choices" },
          statusPresets().map(([label, name, code]) =>
            button(
              [charactersOf(code), " ", label],
              () => {
                text.value = label;
                emoji = { emoji_name: name, emoji_code: code, reaction_type: "unicode_emoji" };
                show();
              },
              "small",
            ),
          ),
        ),
        h(
          "div",
          { class: "dialog__buttons" },
          button(t("Clear"), () => save({ status_text: "", emoji_name: "", emoji_code: "", reaction_type: "" })),
          submit(t("Save")),
        ),
      ),
    ];
  });
}
