/**
 * A large dialog with a list of sections at the left, each with its own fragment.
 * @module
 */

import { fill, h } from "../lib/dom.js";
import { effect, scope } from "../lib/signal.js";
import { keepFocus } from "./parts.js";
import { showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {{ key: string, title: string, render: (rest: string[]) => import("../lib/dom.js").Child[] }} Pane */

/** @param {string} title @param {string} prefix Of the fragments. @param {(Pane | { heading: string } | null | false)[]} panes @param {string[]} parts @param {() => void} onClose
 * @returns {HTMLDialogElement} */
export function showPanes(title, prefix, panes, parts, onClose) {
  const entries = panes.filter((pane) => pane !== null && pane !== false);
  const all = /** @type {Pane[]} */ (entries.filter((entry) => "key" in entry));
  const nav = h("nav", { class: "panes__nav", "aria-label": title });
  const body = h("div", { class: "panes__body", tabindex: "-1" });
  let end = () => {};

  /** @param {string[]} next */
  function show(next) {
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
    end();
    end = scope(() =>
      effect(() => {
        const top = body.scrollTop;
        const children = pane.render(next.slice(1));
        keepFocus(body, () => fill(body, h("h2", null, pane.title), ...children));
        body.scrollTop = top;
      }),
    );
  }

  const dialog = showDialog(title, () => [h("div", { class: "panes" }, nav, body)], {
    class: "dialog--full",
    onClose: () => {
      end();
      onClose();
    },
  });
  dialog.addEventListener("route", (event) => {
    event.preventDefault();
    body.scrollTop = 0;
    show(
      /** @type {CustomEvent} */ (event).detail
        .split("/")
        .slice(1),
    );
  });
  show(parts);
  return dialog;
}
