/**
 * The catalogue of emoji, and a box to pick one from.
 * @module
 */

import { emojiData } from "../api/endpoints.js";
import { fill, h } from "../lib/dom.js";
import { POPULAR } from "../lib/emoji.js";
import { ranked } from "../selectors/completions.js";
import { emojiElement } from "./parts.js";
import { closePopover, showPopover } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {{ name: string, code: string, type: string, aliases: string[] }} CatalogEmoji */

/** How many are shown at once. */
const SHOWN = 160;

/** @type {CatalogEmoji[]} */
let unicode = [];
/** @type {Promise<void> | null} */
let loading = null;

/** The place of an emoji's block of code points: faces and hands first, then pictures, then symbols. @param {string} code */
const blockOf = (code) => (/^1f6[0-4]/.test(code) ? 0 : /^1f9/.test(code) ? 1 : code.startsWith("1f") ? 2 : 3);

/** Fetches the names of Unicode emoji once. @param {App} app */
export function loadEmoji(app) {
  loading ??= emojiData(app.store.state.server_emoji_data_url)
    .then(({ code_to_names }) => {
      unicode = Object.entries(code_to_names)
        .map(([code, [name, ...aliases]]) => ({ name, code, type: "unicode_emoji", aliases }))
        .sort((a, b) => blockOf(a.code) - blockOf(b.code));
    })
    .catch(() => {
      loading = null;
    });
  return loading;
}

/** All emoji that can be used now. @param {App} app @returns {CatalogEmoji[]} */
export function allEmoji({ store }) {
  const own = Object.values(store.state.realm_emoji ?? {})
    .filter((/** @type {any} */ emoji) => !emoji.deactivated)
    .map((/** @type {any} */ emoji) => ({ name: emoji.name, code: String(emoji.id), type: "realm_emoji", aliases: [] }));
  return [...own, { name: "zulip", code: "zulip", type: "zulip_extra_emoji", aliases: [] }, ...unicode];
}

/** @param {CatalogEmoji} emoji */
export const asReaction = ({ name, code, type }) => ({ emoji_name: name, emoji_code: code, reaction_type: type });

/** @param {App} app @param {Element} opener @param {(emoji: { emoji_name: string, emoji_code: string, reaction_type: string }) => void} pick */
export function showEmojiPicker(app, opener, pick) {
  const input = h("input", {
    type: "search",
    placeholder: "Search emoji",
    "aria-label": "Search emoji",
    autofocus: true,
    "aria-controls": "emoji-grid",
  });
  const grid = h("div", { class: "emoji-grid", id: "emoji-grid", role: "group", "aria-label": "Emoji" });
  const name = h("div", { class: "emoji-name", "aria-live": "polite" });

  const show = () => {
    const all = allEmoji(app);
    const query = input.value.trim().replaceAll(" ", "_");
    const popular = POPULAR.flatMap((wanted) => all.find((emoji) => emoji.name === wanted || emoji.aliases.includes(wanted)) ?? []);
    const found = query ? ranked(all, query, (emoji) => [emoji.name, ...emoji.aliases]) : [...new Set([...popular, ...all])];
    fill(
      grid,
      found.slice(0, SHOWN).map((emoji) =>
        h(
          "button",
          {
            type: "button",
            title: emoji.name,
            "aria-label": emoji.name.replaceAll("_", " "),
            onclick: () => choose(emoji),
            onfocus: () => {
              name.textContent = `:${emoji.name}:`;
            },
          },
          emojiElement(app.store, asReaction(emoji)),
        ),
      ),
    );
    if (found.length === 0) fill(grid, h("p", { class: "muted" }, "None has this name."));
  };
  /** @param {CatalogEmoji} emoji */
  const choose = (emoji) => {
    closePopover();
    pick(asReaction(emoji));
  };
  input.oninput = show;
  const box = h("div", { class: "emoji-picker" }, input, grid, name);
  box.addEventListener("keydown", (event) => {
    const buttons = [...grid.querySelectorAll("button")];
    const at = buttons.indexOf(/** @type {any} */ (document.activeElement));
    const columns =
      buttons.length > 1
        ? Math.max(
            1,
            buttons.findIndex((button) => button.offsetTop > buttons[0].offsetTop),
          )
        : 1;
    if (event.key === "Enter" && at < 0) {
      event.preventDefault();
      buttons[0]?.click();
      return;
    }
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: at < 0 ? 1 : columns, ArrowUp: -columns }[event.key];
    if (step === undefined || (at < 0 && event.key !== "ArrowDown")) return;
    event.preventDefault();
    const next = at + step;
    if (next < 0) input.focus();
    else buttons[Math.min(next, buttons.length - 1)]?.focus();
  });
  show();
  void loadEmoji(app).then(show);
  showPopover(opener, box, { label: "Choose an emoji" });
}
