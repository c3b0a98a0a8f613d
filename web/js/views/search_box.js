/**
 * The search box: operators are completed and explained; what is understood becomes terms that can be taken out one by one.
 * @module
 */

import { getMessages } from "../api/endpoints.js";
import { fill, h, icon, iconButton } from "../lib/dom.js";
import { effect } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { isComposing } from "../platform/keyboard.js";
import { requestTerms } from "../selectors/narrow.js";
import { parseSearch, searchProblem, searchText, splitDate, splitSearch, takeTerms, termLabel } from "../selectors/search_terms.js";
import { choiceText, createChoices } from "./choices.js";
import { onDemand } from "./loading.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {import("../selectors/search_suggestions.js").Suggestion} Suggestion */

const messageAt = onDemand(async () => (await import("../selectors/message_at.js")).messageAt);

/** Goes to the messages of a search; to those of a day, if it names one. @param {App} app @param {Term[]} terms */
export async function runSearch(app, terms) {
  const { others, seconds, isBefore } = splitDate(terms);
  if (seconds === null) return others.length > 0 ? app.goNarrow(others) : app.goHome();
  const narrow = others.length > 0 ? others : [{ operator: "in", operand: "home" }];
  const load = (/** @type {import("../api/client.js").Params} */ params) =>
    getMessages({ narrow: requestTerms(narrow), ...params }).then(({ messages }) => messages);
  const from = app.currentFragment();
  const id = await app.session.attempt(messageAt(load, seconds, isBefore).then((found) => ({ found })));
  // The user may have gone elsewhere.
  if (id?.found === undefined || app.currentFragment() !== from) return;
  if (id.found === null)
    return app.session.tell(isBefore ? t("There are no messages before that day.") : t("There are no messages on or after that day."));
  app.goNarrow([...narrow, { operator: "near", operand: id.found }]);
}

/** The terms of a view, which the box shows. @param {App} app @param {import("../../types/app.js").Route} route */
const termsOf = ({ store }, route) => {
  const terms = route.kind === "narrow" ? route.terms.filter(({ operator }) => operator !== "near" && operator !== "with") : [];
  return takeTerms(store, searchText(store, terms));
};

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

/** What is searched for: terms in front of the field, and what is still words in it.
 * @param {App} app @param {HTMLInputElement} input @param {() => void} onRemove A term was taken out with its button. */
function createTerms({ store }, input, onRemove) {
  const element = h("span", { class: "search__terms" });
  /** @type {Term[]} */
  let terms = [];

  /** @param {Term} term */
  function pill(term) {
    const label = termLabel(store, term);
    const onclick = () => {
      set(
        terms.filter((other) => other !== term),
        input.value,
      );
      onRemove();
    };
    const remove = iconButton("close", t("Remove {name}", { name: label }), { onclick, tabindex: "-1" });
    return h("span", { class: "pill" }, h("span", { class: "pill__text", dir: "auto" }, label), remove);
  }

  /** @param {Term[]} next @param {string} rest */
  function set(next, rest) {
    terms = next;
    input.value = rest;
    input.placeholder = terms.length > 0 ? "" : t("Search");
    fill(element, terms.map(pill));
    element.scrollLeft = element.scrollWidth;
  }

  return {
    element,
    set,
    all: () => [...terms, ...parseSearch(store, input.value.trim())],
    /** All of it as text. */
    text: () => [searchText(store, terms), input.value].filter(Boolean).join(" "),
    /** @param {string} all */
    setText(all) {
      const taken = takeTerms(store, all);
      set(taken.terms, taken.rest);
    },
    /** Takes out the last term. @returns {boolean} whether there was one */
    pop() {
      if (terms.length === 0) return false;
      set(terms.slice(0, -1), input.value);
      return true;
    },
  };
}

/** @param {App} app */
export function createSearch(app) {
  const { store } = app;
  const id = "search-choices";
  const list = h("div", { class: "completions completions--below", role: "listbox", id, "aria-label": t("Suggestions"), hidden: true });
  const input = searchInput(id);
  const terms = createTerms(app, input, () => {
    input.focus();
    update();
  });
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    submit();
  };
  const element = h("form", { class: "search", role: "search", onsubmit }, icon("search"), terms.element, input, list);
  const choices = createChoices(input, list, {
    render: (/** @type {Suggestion} */ { label, detail }) => choiceText(label, detail),
    choose(suggestion) {
      terms.setText(suggestion.text);
      input.focus();
      if (suggestion.text.endsWith(":")) update();
      else submit();
    },
  });
  /** @type {typeof import("../selectors/search_suggestions.js").suggestions | null} */
  let suggestions = null;
  const update = () => suggestions && choices.set(suggestions(store, terms.text()).slice(0, 12), -1);
  const suggest = async () => {
    suggestions ??= await import("../selectors/search_suggestions.js").then(
      (found) => found.suggestions,
      () => null,
    );
    if (document.activeElement === input) update();
  };

  function submit() {
    const problem = searchProblem(store, terms.text());
    if (problem) return app.session.tell(problem, true);
    choices.set([]);
    void runSearch(app, terms.all());
    // What is typed next are keys of the messages.
    app.focusMain();
    if (document.activeElement === input) input.blur();
  }

  /** Shows the search that the view is. */
  function show() {
    const route = app.route.peek();
    const isSearch = route.kind === "narrow" && route.narrow.kind === "other";
    const shown = isSearch ? termsOf(app, route) : { terms: [], rest: "" };
    terms.set(shown.terms, shown.rest);
  }

  input.addEventListener("input", () => {
    // What is before a space is understood, or words, unless the space is in quotes.
    const isInQuotes = splitSearch(input.value).at(-1)?.endsWith(" ");
    if (input.value.endsWith(" ") && !isInQuotes && takeTerms(store, input.value).terms.length > 0) terms.setText(terms.text());
    update();
  });
  input.addEventListener("focus", () => void suggest());
  input.addEventListener("blur", () => choices.set([]));
  input.addEventListener("keydown", (event) => {
    if (isComposing(event) || choices.key(event)) return;
    const current = choices.current();
    const isAtStart = input.selectionStart === 0 && input.selectionEnd === 0;
    if ((event.key === "Enter" || event.key === "Tab") && current) {
      event.preventDefault();
      terms.setText(current.text);
      update();
    } else if (event.key === "Backspace" && isAtStart && terms.pop()) {
      event.preventDefault();
      update();
    } else if (event.key === "Escape") {
      input.blur();
      show();
      app.focusMain();
      event.stopPropagation();
    }
  });
  effect(() => {
    void app.route.value;
    if (document.activeElement !== input) show();
  });

  return {
    element,
    input,
    focus() {
      const route = app.route.peek();
      if (terms.text() === "" && route.kind === "narrow" && route.narrow.kind !== "feed") {
        const shown = termsOf(app, route);
        terms.set(shown.terms, shown.rest);
      }
      input.focus();
      input.select();
    },
  };
}
