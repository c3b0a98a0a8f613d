/**
 * Settings of the views of the left column: hiding them, and adding views.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { h, iconButton } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { chosenViews } from "../selectors/sidebar_rows.js";
import { checkbox, field, form, live, row, rows, submitButton } from "./form_parts.js";

/** @typedef {import("../../types/app.js").App} App */

/** @type {() => [string, string][]} */
const viewNames = () => [
  ["inbox", t("Inbox")],
  ["recent", t("Recent conversations")],
  ["feed", t("Combined feed")],
  ["narrow/is/mentioned", t("Mentions")],
  ["narrow/is/starred", t("Starred")],
  ["drafts", t("Drafts")],
];

/** Shows a view that every client has, or leaves it out. @param {App} app @param {string} fragment @param {boolean} is_pinned */
function setShown({ store, session }, fragment, is_pinned) {
  const isKnown = (store.state.navigation_views ?? []).some((view) => view.fragment === fragment);
  return session.attempt(isKnown ? api.updateView(fragment, { is_pinned }) : api.addView({ fragment, is_pinned }));
}

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
export function viewSettings(app) {
  const { store, session } = app;
  const current = app.currentFragment();
  const isNarrow = current.startsWith("narrow/") && !viewNames().some(([fragment]) => fragment === current);
  const name = h("input", { type: "text", required: true, maxlength: 100, placeholder: t("Questions to me") });
  const add = async () => {
    if (await session.attempt(api.addView({ fragment: current, is_pinned: true, name: name.value.trim() }))) name.value = "";
  };
  return [
    h(
      "p",
      { class: "muted" },
      t("The views shown above the conversations in the left column. Other views stay available by keyboard shortcuts and links."),
    ),
    live(() => {
      store.on("settings");
      const { hidden, own } = chosenViews(store);
      return [
        viewNames().map(([fragment, label]) => checkbox(label, !hidden.has(fragment), (is) => void setShown(app, fragment, is))),
        h("h3", null, t("Your own")),
        rows(
          own.map(({ fragment, name: label }) => {
            const remove = () => void session.attempt(api.removeView(fragment));
            return row(
              h("a", { href: `#${fragment}` }, label),
              null,
              iconButton("trash", t("Remove {name}", { name: label }), { onclick: remove }),
            );
          }),
          t("There are none. Search for something, then return here to save the search."),
        ),
      ];
    }),
    isNarrow && form(add, field(t("Name of the current view"), name), submitButton(t("Save this view"))),
  ];
}
