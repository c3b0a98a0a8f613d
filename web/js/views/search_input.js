/**
 * The text of the search box: operators are completed and explained, and terms that are complete become pills that can be removed one by
 * one.
 * @module
 */

import { getMessages } from "../api/endpoints.js";
import { fill, h, iconButton } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { isComposing, keyName } from "../platform/keyboard.js";
import { messageAt } from "../selectors/message_at.js";
import { isPlace, requestTerms } from "../selectors/narrow.js";
import { suggestions } from "../selectors/search_suggestions.js";
import { parseSearch, searchProblem, searchText, splitDate, splitSearch, takeTerms, termLabel } from "../selectors/search_terms.js";
import { choiceText, createChoices } from "./choices.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/app.js").Route} Route */
/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {import("../selectors/search_suggestions.js").Suggestion} Suggestion */
/** @typedef {{ terms: Term[], rest: string }} Shown What the box shows: terms, and text in its field. */
/** @typedef {{ input: HTMLInputElement, list: HTMLElement, place: HTMLElement }} Box `place`: of the terms. */

/** Goes to the messages of a search; to those of a day, if it names one. @param {App} app @param {Term[]} terms */
async function runSearch(app, terms) {
  const { others, seconds, isBefore } = splitDate(terms);
  if (seconds === null) return others.length > 0 ? app.goNarrow(others) : app.goHome();
  const narrow = others.length > 0 ? others : [{ operator: "in", operand: "home" }];
  const load = (/** @type {import("../api/client.js").Params} */ params) =>
    getMessages({ narrow: requestTerms(narrow), ...params }).then(({ messages }) => messages);
  const from = app.currentFragment();
  const reply = await app.session.attempt(messageAt(load, seconds, isBefore).then((id) => ({ id })));
  // The user may have gone elsewhere.
  if (!reply || app.currentFragment() !== from) return;
  if (reply.id === null)
    return app.session.tell(isBefore ? t("There are no messages before that day.") : t("There are no messages on or after that day."));
  app.goNarrow([...narrow, { operator: "near", operand: reply.id }]);
}

/** The terms of a view, which the box shows. @param {App} app @param {Route} route @returns {Shown} */
const termsOf = ({ store }, route) => {
  const terms = route.kind === "narrow" ? route.terms.filter((term) => !isPlace(term)) : [];
  return takeTerms(store, searchText(store, terms));
};

/** The content of the box: terms in front of the field, and words in it.
 * @param {App} app @param {HTMLInputElement} input @param {HTMLElement} element Of the terms. @param {() => void} onRemove A term was taken out with its button. */
function createTerms({ store }, input, element, onRemove) {
  /** @type {Term[]} */
  let terms = [];

  /** @param {Term} term */
  function pill(term) {
    const label = termLabel(store, term);
    const onclick = () => {
      set({ terms: terms.filter((other) => other !== term), rest: input.value });
      onRemove();
    };
    const remove = iconButton("close", t("Remove {name}", { name: label }), { onclick, tabindex: "-1" });
    return h("span", { class: "pill" }, h("span", { class: "pill__text", dir: "auto" }, label), remove);
  }

  /** @param {Shown} shown */
  function set({ terms: next, rest }) {
    terms = next;
    input.value = rest;
    input.placeholder = terms.length > 0 ? "" : t("Search");
    fill(element, terms.map(pill));
    element.scrollLeft = element.scrollWidth;
  }

  return {
    set,
    all: () => [...terms, ...parseSearch(store, input.value.trim())],
    /** All of it as text. */
    text: () => [searchText(store, terms), input.value].filter(Boolean).join(" "),
    /** @param {string} all */
    setText: (all) => set(takeTerms(store, all)),
    /** Takes out the last term. @returns {boolean} whether there was one */
    pop() {
      if (terms.length === 0) return false;
      set({ terms: terms.slice(0, -1), rest: input.value });
      return true;
    },
  };
}

/** Handles the text of the box from now on, including text that is in it already.
 * @param {App} app @param {Box} box @param {boolean} isByKey Whether the key led there, which puts the terms of the view in it. */
export function attachSearch(app, { input, list, place }, isByKey) {
  const { store } = app;
  const terms = createTerms(app, input, place, () => {
    input.focus();
    update();
  });
  const choices = createChoices(input, list, {
    render: (/** @type {Suggestion} */ { label, detail }) => choiceText(label, detail),
    choose(suggestion) {
      terms.setText(suggestion.text);
      input.focus();
      if (suggestion.text.endsWith(":")) update();
      else submit();
    },
  });
  const update = () => choices.set(suggestions(store, terms.text()).slice(0, 12), -1);

  function submit() {
    const problem = searchProblem(store, terms.text());
    if (problem) return app.session.tellError(problem);
    choices.set([]);
    void runSearch(app, terms.all());
    // What is typed next are keys of the messages.
    app.focusMain();
    if (document.activeElement === input) input.blur();
  }

  /** The terms of the view, if it is one of these narrows. @param {(kind: string) => boolean} fits */
  function termsOfView(fits) {
    const route = app.route.peek();
    return route.kind === "narrow" && fits(route.narrow.kind) ? termsOf(app, route) : { terms: [], rest: "" };
  }
  const termsOfSearch = () => termsOfView((kind) => kind === "other");
  const termsForKey = () => termsOfView((kind) => kind !== "feed");

  /** Shows the search that the view is. */
  const show = () => terms.set(termsOfSearch());

  /** What is in the box with these terms, if what is in it already was typed behind them. @param {Shown} shown @returns {Shown} */
  function withTyped(shown) {
    const typed = input.value;
    if (typed === "") return shown;
    const last = splitSearch(typed).at(-1) ?? "";
    const open = typed.endsWith(last) ? last : "";
    const taken = takeTerms(store, typed.slice(0, typed.length - open.length));
    const rest = taken.terms.length > 0 ? [taken.rest, open].filter(Boolean).join(" ") : typed;
    return { terms: [...shown.terms, ...taken.terms], rest };
  }

  input.addEventListener("input", () => {
    // What is before a space is understood, or words, unless the space is in quotes.
    const isInQuotes = splitSearch(input.value).at(-1)?.endsWith(" ");
    if (input.value.endsWith(" ") && !isInQuotes && takeTerms(store, input.value).terms.length > 0) terms.setText(terms.text());
    update();
  });
  input.addEventListener("focus", update);
  input.addEventListener("blur", () => choices.set([]));
  input.addEventListener("keydown", (event) => {
    if (isComposing(event) || choices.key(event)) return;
    const current = choices.current();
    const isAtStart = input.selectionStart === 0 && input.selectionEnd === 0;
    if ((event.key === "Enter" || keyName(event) === "Tab") && current) {
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
  const hasFocus = document.activeElement === input;
  const isEmpty = input.value === "";
  terms.set(withTyped(hasFocus && isByKey ? termsForKey() : termsOfSearch()));
  if (hasFocus && isByKey && isEmpty) input.select();
  if (hasFocus) update();

  return {
    submit,
    /** The view is another one. */
    follow() {
      if (document.activeElement !== input) show();
    },
    /** The key leads to the box: there are the terms of the view in it, if nothing else is. */
    showView() {
      if (terms.text() === "") terms.set(termsForKey());
    },
  };
}
