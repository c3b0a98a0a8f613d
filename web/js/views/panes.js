/**
 * Dialogs whose parts have fragments of their own; and large dialogs with a list of sections.
 * @module
 */

import { fill, h } from "../lib/dom.js";
import { effect, scope } from "../lib/signal.js";
import { keepFocus } from "./parts.js";
import { showDialog } from "./popover.js";

/** @typedef {{ key: string, title: string, render: (rest: string[]) => import("../lib/dom.js").Child[] }} Pane */

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

/** @param {string} title @param {string} prefix Of the fragments. @param {(Pane | { heading: string } | null | false)[]} panes @param {string[]} parts @param {() => void} onClose
 * @param {() => unknown} [follow] Reads what all sections depend on: they are drawn again when it has changed. @returns {HTMLDialogElement} */
export function showPanes(title, prefix, panes, parts, onClose, follow) {
  const entries = panes.filter((pane) => pane !== null && pane !== false);
  const all = /** @type {Pane[]} */ (entries.filter((entry) => "key" in entry));
  const nav = h("nav", { class: "panes__nav", "aria-label": title });
  // It scrolls with keys also where it has nothing to focus, such as a log.
  const body = h("div", { class: "panes__body", tabindex: "0" });

  /** @param {string[]} next */
  function draw(next) {
    const pane = all.find(({ key }) => key === next[0]) ?? all[0];
    fill(
      nav,
      entries.map((entry) =>
        "heading" in entry
          ? h("h3", null, entry.heading)
          : h("a", { href: `#${prefix}/${entry.key}`, "aria-current": entry === pane ? "page" : null }, entry.title),
      ),
    );
    nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    body.scrollTop = 0;
    effect(() => {
      const top = body.scrollTop;
      follow?.();
      const children = pane.render(next.slice(1));
      keepFocus(body, () => fill(body, h("h2", null, pane.title), ...children));
      body.scrollTop = top;
    });
  }

  return showRoutedDialog(title, h("div", { class: "panes" }, nav, body), "dialog--full", draw, parts, onClose);
}
