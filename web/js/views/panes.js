/**
 * Dialogs whose parts have fragments of their own; and large dialogs with a list of sections.
 * @module
 */

import { fill, h } from "../lib/dom.js";
import { distinct, effect, scope } from "../lib/signal.js";
import { keepWritten } from "./form_parts.js";
import { keepFocus } from "./parts.js";
import { showDialog } from "./popover.js";

/** A section. `isOffered`: whether it is in the list, if it is not always. @typedef {{ key: string, title: string,
 *   render: (rest: string[]) => import("../lib/dom.js").Child[], isOffered?: () => boolean }} Pane */

/** Shows a dialog whose content is drawn by `draw` for the parts of the fragment behind its name, and again when those
 * change. Effects of what was drawn end with it.
 * @param {string} title @param {HTMLElement} content @param {string} look A class. @param {(parts: string[]) => void} draw
 * @param {string[]} parts @param {() => void} onClose */
export function showRoutedDialog(title, content, look, draw, parts, onClose) {
  let end = () => {};
  const dialog = showDialog(title, () => [content], {
    class: look,
    onClose: () => {
      end();
      onClose();
    },
  });
  /** @param {string[]} next */
  const show = (next) => {
    end();
    end = scope(() => draw(next));
  };
  dialog.addEventListener("route", (event) => {
    event.preventDefault();
    const [, ...next] = /** @type {CustomEvent<string>} */ (event).detail.split("/");
    show(next);
  });
  show(parts);
  return dialog;
}

/** The role of the user decides what is offered: sections and their list are drawn again when it has changed, with unsaved text.
 * @param {import("../store/store.js").Store} store @param {string} title @param {string} prefix Of the fragments.
 * @param {(Pane | { heading: string })[]} panes @param {string[]} parts @param {() => void} onClose @returns {HTMLDialogElement} */
export function showPanes(store, title, prefix, panes, parts, onClose) {
  const nav = h("nav", { class: "panes__nav", "aria-label": title });
  // It scrolls with keys also where it has nothing to focus, such as a log.
  const body = h("div", { class: "panes__body", tabindex: "0" });
  // The text of a form is saved when the form is sent.
  const written = keepWritten(body, (input) => input.form === null);

  /** @param {string[]} next */
  function draw(next) {
    written.forget();
    body.scrollTop = 0;
    effect(() => {
      const top = body.scrollTop;
      distinct(() => (store.on("users"), store.self?.role)).value;
      const entries = panes.filter((entry) => "heading" in entry || (entry.isOffered?.() ?? true));
      const all = /** @type {Pane[]} */ (entries.filter((entry) => "key" in entry));
      const pane = all.find(({ key }) => key === next[0]) ?? all[0];
      const list = entries.map((entry) =>
        "heading" in entry
          ? h("h3", null, entry.heading)
          : h("a", { href: `#${prefix}/${entry.key}`, "aria-current": entry === pane ? "page" : null }, entry.title),
      );
      keepFocus(nav, () => fill(nav, list));
      nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
      const children = pane.render(next.slice(1));
      written.redraw(() => fill(body, h("h2", null, pane.title), ...children));
      body.scrollTop = top;
    });
  }

  return showRoutedDialog(title, h("div", { class: "panes" }, nav, body), "dialog--full", draw, parts, onClose);
}
