/**
 * A link to be given to somebody: shown, and copied with a button.
 * @module
 */

import { h } from "../lib/dom.js";
import { button } from "./parts.js";

/** @param {import("../../types/app.js").App} app @param {string} label @param {string} url */
export function linkField(app, label, url) {
  const input = h("input", { type: "text", readonly: true, value: url, "aria-label": label, onfocus: () => input.select() });
  return h(
    "div",
    { class: "inline" },
    h("div", { class: "grow" }, input),
    button("Copy", () => app.copy(url, "Link copied."), "primary"),
  );
}
