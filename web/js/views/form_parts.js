/**
 * Parts of forms and lists: those of overlays, and of the login page.
 * @module
 */

import { fill, h, iconButton } from "../lib/dom.js";
import { effect, untracked } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { isComposing } from "../platform/keyboard.js";
import { failures } from "../store/notices.js";
import { button, keepFocus, onceAtATime } from "./parts.js";

/** @typedef {import("../lib/dom.js").Child} Child */

/** A labelled field of a form.
 * @param {string} label @param {HTMLElement} control @param {string} [hint] */
export function field(label, control, hint) {
  control.id ||= `f${Math.random().toString(36).slice(2)}`;
  if (hint) control.setAttribute("aria-describedby", `${control.id}-hint`);
  return h(
    "div",
    { class: "field" },
    h("label", { for: control.id }, label),
    control,
    hint && h("p", { class: "field__hint", id: `${control.id}-hint` }, hint),
  );
}

/** A checkbox with its label. @param {string} label @param {boolean} checked @param {(checked: boolean) => void} [onchange] @param {{ disabled?: boolean }} [more] */
export function checkbox(label, checked, onchange, { disabled = false } = {}) {
  const input = h("input", { type: "checkbox", checked, disabled, onchange: () => onchange?.(input.checked) });
  return h("label", { class: "checkbox" }, input, h("span", null, label));
}

/** The button of a form, beside other controls. @param {string} label */
export const submit = (label) => h("button", { type: "submit", class: "button button--primary" }, label);
/** The button of a form, on a line of its own. @param {string} label */
export const submitButton = (label) => h("div", null, submit(label));

/** A form whose submission stays on the page; as a column of fields, or as one line.
 * @param {() => unknown} run @param {Child[]} children */
export const form = (run, ...children) => formOf("form", run, children);
/** @param {() => unknown} run @param {Child[]} children */
export const lineForm = (run, ...children) => formOf("inline", run, children);

/** Refuses required texts that have only spaces: browsers ask for empty fields only. @param {HTMLFormElement} element */
function hasBlankText(element) {
  const fields = element.querySelectorAll("input[type=text]:required, textarea:required");
  const blank = /** @type {TextField[]} */ ([...fields]).filter((text) => text.value.trim() === "");
  for (const text of blank) text.value = "";
  return blank.length > 0 && !element.reportValidity();
}

/** @param {string} name @param {() => unknown} run @param {Child[]} children */
function formOf(name, run, children) {
  const send = onceAtATime(run);
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!hasBlankText(/** @type {HTMLFormElement} */ (event.currentTarget))) void send();
  };
  return h("form", { class: name, onsubmit }, children);
}

/** Waits for a request that saves something, and says that it is saved.
 * @param {import("../store/session.js").Session} session @param {Promise<unknown>} request */
export const saving = (session, request) => session.attempt(request.then(() => session.tell(t("Saved."))));

/** A list of rows, or a sentence if there are none. @param {Child[]} items @param {string} [otherwise] */
export const rows = (items, otherwise) =>
  items.length === 0 && otherwise ? h("p", { class: "muted" }, otherwise) : h("ul", { class: "rows" }, items);

/** A row of a list: a title, a detail, and controls. @param {Child} title @param {Child} detail @param {Child[]} controls */
export const row = (title, detail, ...controls) =>
  h(
    "li",
    { class: "row" },
    h("div", { class: "row__main" }, h("strong", null, title), detail && h("span", { class: "muted" }, detail)),
    controls,
  );

/** The same with a picture before the title. @param {Node} picture @param {Child} title @param {Child} detail @param {Child[]} controls */
export function rowWithPicture(picture, title, detail, ...controls) {
  const element = row(title, detail, ...controls);
  element.prepend(picture);
  return element;
}

/** A row of a list that does something when it is clicked. @param {() => unknown} run @param {Child[]} content @param {Child} controls @param {string} [tooltip] */
export const actionRow = (run, content, controls, tooltip) =>
  h(
    "li",
    { class: "row" },
    h("button", { type: "button", class: "row__main", title: tooltip, onclick: () => void run() }, content),
    controls,
  );

/** Rows that can be moved up and down. @template T
 * @param {T[]} items @param {(item: T) => number} idOf @param {(item: T) => HTMLElement} render @param {((ids: number[]) => unknown) | false} reorder False: they cannot. */
export function orderedRows(items, idOf, render, reorder) {
  const ids = items.map(idOf);
  return rows(
    items.map((item, at) => {
      const element = render(item);
      const swapped = (/** @type {number} */ other) => ids.with(at, ids[other]).with(other, ids[at]);
      if (reorder) {
        element.prepend(
          iconButton("chevron", t("Move up"), { class: "is-turned", disabled: at === 0, onclick: () => void reorder(swapped(at - 1)) }),
          iconButton("chevron", t("Move down"), { disabled: at === ids.length - 1, onclick: () => void reorder(swapped(at + 1)) }),
        );
      }
      return element;
    }),
  );
}

/** Updates fields when others change their values, so that saving does not undo the change, unless the user has edited the field.
 * @param {() => void} listen Reads what changes. @param {[HTMLInputElement | HTMLTextAreaElement, () => string][]} fields With their current values. */
export function followChanges(listen, fields) {
  const shown = untracked(() => fields.map(([, current]) => current()));
  effect(() => {
    listen();
    for (const [index, [input, current]] of fields.entries()) {
      const now = current();
      if (input.value === shown[index]) input.value = now;
      shown[index] = now;
    }
  });
}

/** @typedef {HTMLInputElement | HTMLTextAreaElement} TextField */

/** Fields whose text is a value. The text of a combobox is a search. */
const TEXT_FIELDS = "textarea, input:not([type=checkbox], [type=radio], [type=color], [type=file], [role=combobox])";

/** @param {TextField} input */
const labelOf = (input) => input.labels?.[0]?.textContent || input.ariaLabel || input.placeholder;

/** Puts unsaved text into fields that replace others. Browsers do not fire `change` for it, so leaving the field fires it.
 * @param {HTMLElement} host @param {Map<string, string>} written By label. */
function restoreWritten(host, written) {
  for (const input of /** @type {NodeListOf<TextField>} */ (host.querySelectorAll(TEXT_FIELDS))) {
    const label = labelOf(input);
    const text = written.get(label);
    if (text === undefined || input.disabled) continue;
    input.value = text;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    const save = () => written.has(label) && input.dispatchEvent(new Event("change", { bubbles: true }));
    input.addEventListener("focusout", save, { once: true });
    input.addEventListener("keydown", (event) => {
      const pressed = /** @type {KeyboardEvent} */ (event);
      const isEnter = pressed.key === "Enter" && input.matches("input") && !isComposing(pressed);
      // What is typed here is a change for browsers as well.
      if (isEnter && input.value === text) save();
    });
  }
}

/** A small button of a row. Several have the same label, so a screen reader also hears what the row is about.
 * @param {string} label @param {string} name @param {() => unknown} run */
export const rowButton = (label, name, run) => button(label, run, "small", { "aria-label": `${label} ${name}` });

/** @param {HTMLElement} host @returns {NodeListOf<HTMLInputElement>} */
const switches = (host) => host.querySelectorAll("input[type=checkbox]");
/** @param {HTMLElement} host @returns {NodeListOf<HTMLOptionElement>} */
const options = (host) => host.querySelectorAll("option");

/** @param {HTMLElement} host @returns {NodeListOf<HTMLInputElement>} */
const colors = (host) => host.querySelectorAll("input[type=color]");

/** Remembers what is chosen in switches, lists and fields for colours. @param {HTMLElement} host */
function rememberChosen(host) {
  for (const input of colors(host)) input.defaultValue = input.value;
  for (const input of switches(host)) input.defaultChecked = input.checked;
  for (const option of options(host)) option.defaultSelected = option.selected;
}

/** Shows again what was chosen. @param {HTMLElement} host */
function restoreChosen(host) {
  for (const input of colors(host)) input.value = input.defaultValue;
  for (const input of switches(host)) input.checked = input.defaultChecked;
  for (const option of options(host)) if (option.defaultSelected) option.selected = true;
}

/** Keeps unsaved text in the fields of an element, and the focus, when its content is replaced.
 * @param {HTMLElement} element @param {(input: TextField) => boolean} isSaved Whether the text of a field is saved when it is left. */
export function keepWritten(element, isSaved) {
  /** The unsaved text by label. @type {Map<string, string>} */
  const written = new Map();
  element.addEventListener("input", ({ target }) => {
    const input = /** @type {TextField} */ (target);
    if (input.matches(TEXT_FIELDS)) written.set(labelOf(input), input.value);
  });
  let isDrawing = false;
  const changed = (/** @type {Event} */ event) => {
    const input = /** @type {TextField} */ (event.target);
    // A field that is removed counts as left.
    if (isDrawing) event.stopPropagation();
    else if (isSaved(input)) written.delete(labelOf(input));
  };
  element.addEventListener("change", changed, true);
  element.addEventListener("submit", ({ target }) => {
    const inputs = /** @type {HTMLFormElement} */ (target).querySelectorAll(TEXT_FIELDS);
    for (const input of /** @type {NodeListOf<TextField>} */ (inputs)) written.delete(labelOf(input));
  });
  return {
    /** Forgets the text, as other fields follow. */
    forget: () => written.clear(),
    /** Runs `draw`, which replaces the content. @param {() => void} draw */
    redraw: (draw) =>
      keepFocus(element, () => {
        isDrawing = true;
        draw();
        isDrawing = false;
        restoreWritten(element, written);
      }),
  };
}

/** A part of a page that is drawn again when values that it reads have changed. Unsaved text in its fields stays. Switches, lists and
 * colours that could not be saved show their former value.
 * @param {() => Child} render */
export function live(render) {
  const element = h("div", { class: "form" });
  const written = keepWritten(element, () => true);
  effect(() => {
    const next = render();
    written.redraw(() => {
      fill(element, next);
      rememberChosen(element);
    });
  });
  effect(() => {
    failures.value;
    restoreChosen(element);
  });
  return element;
}
