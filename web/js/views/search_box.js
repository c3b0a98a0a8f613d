/**
 * The search box. `search_input.js` handles its text. That module is loaded when the box gets the focus, when the view is a search, or once
 * the page is idle. Text that is typed before stays in the box.
 * @module
 */

import { h, icon } from "../lib/dom.js";
import { effect } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { onDemand } from "./loading.js";

/** @param {string} id Of the list of suggestions. */
const searchInput = (id) =>
  h("input", {
    type: "search",
    placeholder: t("Search"),
    "aria-label": t("Search messages"),
    dir: "auto",
    title: t("Search (/)"),
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": id,
    "aria-autocomplete": "list",
    autocomplete: "off",
  });

/** @param {import("../../types/app.js").App} app */
export function createSearch(app) {
  const id = "search-choices";
  const list = h("div", { class: "completions completions--below", role: "listbox", id, "aria-label": t("Suggestions"), hidden: true });
  const input = searchInput(id);
  const place = h("span", { class: "search__terms" });
  /** @type {ReturnType<typeof import("./search_input.js").attachSearch> | null} */
  let attached = null;
  /** Whether the key has led to the box. */
  let isByKey = false;

  async function attach() {
    const { attachSearch } = await import("./search_input.js");
    attached ??= attachSearch(app, { input, list, place }, isByKey);
    return attached;
  }

  /** Where it fails, it is tried again with the next use. */
  const prepare = () => void attach().catch(() => {});
  const submit = onDemand(async () => (await attach()).submit);
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (attached) attached.submit();
    else void submit();
  };
  const element = h("form", { class: "search", role: "search", onsubmit }, icon("search"), place, input, list);
  input.addEventListener("focus", prepare);
  effect(() => {
    const route = app.route.value;
    if (attached) attached.follow();
    else if (route.kind === "narrow" && route.narrow.kind === "other") prepare();
  });

  return {
    element,
    input,
    focus() {
      isByKey = true;
      attached?.showView();
      input.focus();
      input.select();
    },
  };
}
