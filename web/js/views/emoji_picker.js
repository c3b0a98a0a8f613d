/**
 * A box to pick an emoji from.
 * @module
 */

import { fill, focusedIndex, h } from "../lib/dom.js";
import { charactersOf } from "../lib/emoji.js";
import { toned, tones } from "../lib/emoji_words.js";
import { debounce } from "../lib/timing.js";
import { t } from "../lib/words.js";
import { isComposing } from "../platform/keyboard.js";
import { emojiSections, findEmoji } from "../selectors/emoji_choices.js";
import { allEmoji, asReaction, recentEmoji, setSkinTone, skinTone, textOfEmoji, useEmoji } from "../store/emoji.js";
import { loadEmoji } from "./emoji_catalogue.js";
import { failedLoad } from "./load_state.js";
import { closePopover } from "./open_popover.js";
import { emojiElement } from "./parts.js";
import { showPopover } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../store/emoji.js").CatalogEmoji} CatalogEmoji */

/** The hand that shows the tones. */
const HAND = charactersOf("270b");

/** @param {App} app @param {Element} opener
 * @param {(emoji: { emoji_name: string, emoji_code: string, reaction_type: string, text: string }) => void} pick `text`: how it is written in a message.
 * @param {{ hasTones?: boolean }} [options] `hasTones`: those of people are shown and written with a tone of skin. Reactions have no tones. */
export function showEmojiPicker(app, opener, pick, { hasTones = false } = {}) {
  const input = h("input", {
    type: "search",
    placeholder: t("Search emoji"),
    "aria-label": t("Search emoji"),
    autofocus: true,
    "aria-controls": "emoji-grid",
  });
  const tabs = h("div", { class: "emoji-tabs", role: "toolbar", "aria-label": t("Groups of emoji") });
  const grid = h("div", { class: "emoji-grid", id: "emoji-grid", role: "group", "aria-label": t("Emoji") });
  const name = h("div", { class: "emoji-name", "aria-live": "polite" });
  const problem = h("p", { role: "alert", hidden: true }, failedLoad(load));
  /** The emoji of each button. @type {WeakMap<Element, CatalogEmoji>} */
  const shown = new WeakMap();

  /** @param {CatalogEmoji} emoji */
  const emojiButton = (emoji) => {
    const label = emoji.name.replaceAll("_", " ");
    const picture = emojiElement(app.store, asReaction(emoji));
    if (hasTones && emoji.type === "unicode_emoji") picture.textContent = toned(picture.textContent ?? "", skinTone());
    // Arrow keys lead to it, so that Tab leads on to what is behind hundreds of them.
    const button = h("button", { type: "button", title: emoji.name, "aria-label": label, tabindex: "-1" }, picture);
    shown.set(button, emoji);
    return button;
  };

  /** @param {{ title: string, emoji: CatalogEmoji[] }} section */
  const sectionElement = ({ title, emoji }) =>
    h("section", { class: "emoji-section", "aria-label": title }, h("h2", null, title), h("div", null, emoji.map(emojiButton)));

  function show() {
    const all = allEmoji(app.store);
    const query = input.value.trim();
    tabs.hidden = query !== "";
    if (query === "") {
      const sections = emojiSections(all, recentEmoji(all));
      fill(grid, sections.map(sectionElement));
      fill(
        tabs,
        sections.map(({ title, emoji }) => tabButton(title, emoji[0])),
      );
    } else {
      const found = findEmoji(all, query);
      fill(
        grid,
        found.length > 0 ? sectionElement({ title: t("Results"), emoji: found }) : h("p", { class: "muted" }, t("No emoji has this name.")),
      );
    }
    grid.scrollTop = 0;
    grid.querySelector("button")?.setAttribute("tabindex", "0");
  }

  /** Shows emoji that come late, or that they did not come. The focus stays on its emoji or group. */
  async function load() {
    const isThere = await loadEmoji(app);
    if (isThere && problem.contains(document.activeElement)) input.focus();
    problem.hidden = isThere;
    if (!isThere) return;
    const focused = document.activeElement;
    const title = focused instanceof HTMLButtonElement && box.contains(focused) ? focused.title : null;
    show();
    if (title === null || box.contains(document.activeElement)) return;
    const next = [...box.querySelectorAll("button")].find((button) => button.title === title);
    (next ?? input).focus();
  }

  /** Leads to a section. @param {string} title @param {CatalogEmoji} emoji */
  function tabButton(title, emoji) {
    const onclick = () => {
      const section = [...grid.children].find((one) => one.getAttribute("aria-label") === title);
      if (section instanceof HTMLElement) grid.scrollTop = section.offsetTop;
    };
    return h("button", { type: "button", title, "aria-label": title, onclick }, emojiElement(app.store, asReaction(emoji)));
  }

  grid.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    const emoji = button && shown.get(button);
    if (!emoji) return;
    closePopover();
    useEmoji(emoji);
    pick({ ...asReaction(emoji), text: textOfEmoji(emoji) });
  });
  grid.addEventListener("focusin", (event) => {
    const emoji = event.target instanceof Element ? shown.get(event.target) : undefined;
    name.textContent = emoji ? `:${emoji.name}:` : "";
  });
  const showSoon = debounce(show, 60);
  input.oninput = () => showSoon();
  const box = h(
    "div",
    { class: "emoji-picker" },
    input,
    tabs,
    problem,
    grid,
    h("div", { class: "emoji-foot" }, name, hasTones && toneChoice(show)),
  );
  box.addEventListener("keydown", (event) => {
    if (isComposing(event)) return;
    if (event.target === input) showSoon.flush();
    moveFocus(event, input, grid);
  });
  show();
  void load();
  showPopover(opener, box, { label: t("Choose an emoji") });
}

/** The choice of a tone of skin. @param {() => void} onChange */
function toneChoice(onChange) {
  const group = h("div", { class: "emoji-tones", role: "radiogroup", "aria-label": t("Skin tone") });
  const buttons = tones().map(([tone, label]) => {
    const onclick = () => {
      setSkinTone(tone);
      mark();
      onChange();
    };
    return h("button", { type: "button", role: "radio", title: label, "aria-label": label, onclick }, toned(HAND, tone));
  });
  const mark = () => {
    for (const [index, [tone]] of tones().entries()) buttons[index].setAttribute("aria-checked", String(tone === skinTone()));
  };
  mark();
  group.append(...buttons);
  return group;
}

/** Arrow keys move over the emoji; Enter in the field takes the first. @param {KeyboardEvent} event @param {HTMLInputElement} input @param {HTMLElement} grid */
function moveFocus(event, input, grid) {
  const buttons = [...grid.querySelectorAll("button")];
  const at = focusedIndex(buttons);
  if (event.key === "Enter" && document.activeElement === input) {
    event.preventDefault();
    buttons[0]?.click();
    return;
  }
  if (document.activeElement !== input && at < 0) return;
  const next = at < 0 ? (event.key === "ArrowDown" ? buttons[0] : undefined) : neighbour(buttons, at, event.key);
  if (next === undefined) return;
  event.preventDefault();
  (next ?? input).focus();
}

/** The button beside another; null above the first line. @param {HTMLButtonElement[]} buttons @param {number} at @param {string} key */
function neighbour(buttons, at, key) {
  if (key === "ArrowRight") return buttons[at + 1];
  if (key === "ArrowLeft") return at === 0 ? null : buttons[at - 1];
  if (key !== "ArrowDown" && key !== "ArrowUp") return undefined;
  const { offsetTop, offsetLeft } = buttons[at];
  const lines = key === "ArrowDown" ? buttons.slice(at + 1) : buttons.slice(0, at).reverse();
  const other = lines.find((button) => button.offsetTop !== offsetTop);
  if (!other) return key === "ArrowUp" ? null : undefined;
  const line = lines.filter((button) => button.offsetTop === other.offsetTop);
  return line.toSorted((a, b) => Math.abs(a.offsetLeft - offsetLeft) - Math.abs(b.offsetLeft - offsetLeft))[0];
}
