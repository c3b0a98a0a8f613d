/**
 * Menus and other small boxes beside the element that opened them; dialogs, and questions in dialogs.
 * @module
 */

import { focusedIndex, h, icon, iconButton } from "../lib/dom.js";
import { scope } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { isComposing, keyName, shownKey } from "../platform/keyboard.js";
import { visibleHeight } from "../platform/viewport.js";
import { form, submit } from "./form_parts.js";
import { closePopover, openPopover, setOpenPopover } from "./open_popover.js";
import { button } from "./parts.js";
import { keepToasts } from "./toasts.js";

/** @typedef {import("../lib/icons.js")["icons"]} Icons */
/** @typedef {{ label: string, icon?: keyof Icons, run: () => void, isDanger?: boolean, key?: string, checked?: boolean } | null | false | undefined} MenuItem */

/** Finds the element that opens a box. The row of a message may have been drawn again while the module of the box was loading.
 * @param {Element} opener @returns {Element | null} null if it is gone */
function currentOpener(opener) {
  if (opener.isConnected) return opener;
  const row = opener.closest(".message-row");
  if (!(opener instanceof HTMLElement && row instanceof HTMLElement)) return null;
  const { action, userId } = opener.dataset;
  const now = document.querySelector(`.message-row[data-id="${CSS.escape(row.dataset.id ?? "")}"]`);
  const controls = /** @type {HTMLElement[]} */ ([...(now?.querySelectorAll("[data-action]") ?? [])]);
  return controls.find(({ dataset }) => dataset.action === action && dataset.userId === userId) ?? now;
}

/** Shows a box beside an element, if that is still there. It closes with Escape and with a click elsewhere, and gives the focus back.
 * @param {Element} asked @param {HTMLElement} content @param {{ role?: string, label: string, at?: { x: number, y: number } }} options */
export function showPopover(asked, content, { role = "dialog", label, at }) {
  const opener = currentOpener(asked);
  if (!opener) return;
  const isOwn = openPopover()?.opener === opener;
  closePopover();
  if (isOwn) return;
  // In the landmark of what opened it, but above everything.
  const host = opener.closest("dialog[open], main, nav, aside") ?? document.body;
  const element = h("div", { class: "popover", popover: "manual", role, "aria-label": label, tabindex: "-1" }, content);
  const before = document.activeElement;
  const onPress = (/** @type {Event} */ event) => {
    const target = /** @type {Node} */ (event.target);
    if (!element.contains(target) && !opener.contains(target)) close();
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if ((event.key !== "Escape" && event.key !== "Tab") || isComposing(event)) return;
    if (event.key === "Tab" && role !== "menu") return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  const close = () => {
    if (openPopover()?.element !== element) return;
    setOpenPopover(null);
    const hadFocus = element.contains(document.activeElement) || document.activeElement === document.body;
    element.remove();
    document.removeEventListener("pointerdown", onPress, true);
    viewport.removeEventListener("resize", put);
    opener.setAttribute("aria-expanded", "false");
    if (hadFocus && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
  };
  const put = () => {
    if (at || opener.isConnected) place(element, at ? new DOMRect(at.x, at.y, 0, 0) : opener.getBoundingClientRect());
  };
  element.addEventListener("keydown", onKey);
  document.addEventListener("pointerdown", onPress, true);
  // A keyboard on the screen takes room.
  const viewport = window.visualViewport ?? window;
  viewport.addEventListener("resize", put);
  host.append(element);
  element.showPopover();
  setOpenPopover({ element, opener, close });
  opener.setAttribute("aria-expanded", "true");
  put();
  const first = element.querySelector("[autofocus]") ?? element.querySelector("input, textarea, [role=menuitem], button, a");
  (first instanceof HTMLElement ? first : element).focus({ preventScroll: true });
  return close;
}

/** @param {HTMLElement} element @param {DOMRect} anchor */
function place(element, anchor) {
  const box = element.getBoundingClientRect();
  const [width, height] = [innerWidth, visibleHeight()];
  const left = Math.max(8, Math.min(anchor.left, width - box.width - 8));
  const below = anchor.bottom + 4;
  const top = below + box.height <= height - 8 ? below : Math.max(8, Math.min(anchor.top - box.height - 4, height - box.height - 8));
  element.style.setProperty("left", `${left}px`);
  element.style.setProperty("top", `${top}px`);
}

/** @param {Element} opener @param {MenuItem[]} items @param {string} label @param {{ x: number, y: number }} [at] */
export function showMenu(opener, items, label, at) {
  const shown = items.filter((item) => item !== null && item !== false && item !== undefined);
  const buttons = shown.map((item) =>
    h(
      "button",
      {
        type: "button",
        role: item.checked === undefined ? "menuitem" : "menuitemcheckbox",
        "aria-checked": item.checked === undefined ? null : String(item.checked),
        tabindex: "-1",
        class: item.isDanger ? "menu__item menu__item--danger" : "menu__item",
        onclick: () => {
          closePopover();
          item.run();
        },
      },
      item.icon ? icon(item.icon) : h("span", { class: "icon" }),
      h("span", { class: "menu__label" }, item.label),
      item.checked && icon("check"),
      item.key && h("kbd", null, shownKey(item.key)),
    ),
  );
  const menu = h("div", { class: "menu" }, buttons);
  menu.addEventListener("keydown", (event) => {
    // The key of an item chooses it, so that the menu closes.
    const named = shown.findIndex(({ key }) => key === keyName(event));
    if (named >= 0) {
      event.preventDefault();
      event.stopPropagation();
      return buttons[named].click();
    }
    const at = focusedIndex(buttons);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    buttons.at(next % buttons.length)?.focus();
  });
  showPopover(opener, menu, { role: "menu", label, at });
}

/** A modal dialog with a title. `body` may use `close`; its effects end with the dialog.
 * @param {string} title @param {(close: () => void) => (HTMLElement | null | false | string)[]} body
 * @param {{ class?: string, onClose?: () => void }} [options] @returns {HTMLDialogElement} */
export function showDialog(title, body, options = {}) {
  closePopover();
  const before = document.activeElement;
  const id = `dialog-${Math.random().toString(36).slice(2)}`;
  const dialog = h("dialog", { class: `dialog ${options.class ?? ""}`, "aria-labelledby": id });
  const close = () => dialog.close();
  const end = scope(() =>
    dialog.append(
      h("header", { class: "dialog__head" }, h("h2", { id, tabindex: "-1" }, title), iconButton("close", t("Close"), { onclick: close })),
      h("div", { class: "dialog__body", tabindex: "0" }, ...body(close)),
    ),
  );
  dialog.addEventListener("close", () => {
    end();
    dialog.remove();
    keepToasts(dialog);
    options.onClose?.();
    // What was chosen in the dialog may have the focus by now.
    const isLost = document.activeElement === null || document.activeElement === document.body;
    if (isLost && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
  });
  // A press beside the dialog does not discard what is written in it.
  let isWritten = false;
  dialog.addEventListener("input", ({ target }) => {
    isWritten ||= target instanceof HTMLTextAreaElement;
  });
  dialog.addEventListener("submit", () => {
    isWritten = false;
  });
  dialog.addEventListener("pointerdown", (event) => {
    if (event.target === dialog && !isWritten) close();
  });
  document.body.append(dialog);
  dialog.showModal();
  const first = dialog.querySelector(".dialog__body :is([autofocus], input, textarea, select, button):not([hidden], [hidden] *)");
  (first instanceof HTMLElement ? first : dialog.querySelector("h2"))?.focus({ preventScroll: true });
  return dialog;
}

/** Asks for confirmation. @param {string} title @param {string} text @param {string} action @param {{ isDanger?: boolean }} [options] @returns {Promise<boolean>} */
export function confirm(title, text, action, { isDanger = false } = {}) {
  return new Promise((resolve) => {
    let isConfirmed = false;
    showDialog(
      title,
      (close) => [
        h("p", null, text),
        h(
          "div",
          { class: "dialog__buttons" },
          button(t("Cancel"), close),
          button(
            action,
            () => {
              isConfirmed = true;
              close();
            },
            isDanger ? "danger" : "primary",
            { autofocus: true },
          ),
        ),
      ],
      { class: "dialog--small", onClose: () => resolve(isConfirmed) },
    );
  });
}

/** Asks for a line of text. @param {string} title @param {string} value
 * @param {{ label?: string, action?: string, maxlength?: number, type?: string, save?: (text: string) => unknown }} [options]
 *   `save` answers undefined if it failed: the question stays, with the text. @returns {Promise<string | null>} */
export function ask(title, value, { label = title, action = t("Save"), maxlength, type = "text", save = () => null } = {}) {
  return new Promise((resolve) => {
    /** @type {string | null} */
    let result = null;
    showDialog(
      title,
      (close) => {
        const input = h("input", { type, value, "aria-label": label, maxlength, required: true });
        return [
          form(
            async () => {
              const text = input.value.trim();
              if ((await save(text)) === undefined) return;
              result = text;
              close();
            },
            input,
            h("div", { class: "dialog__buttons" }, button(t("Cancel"), close), submit(action)),
          ),
        ];
      },
      { class: "dialog--small", onClose: () => resolve(result) },
    );
  });
}
