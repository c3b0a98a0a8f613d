/**
 * The control for the value of a profile field, one's own or another person's.
 * @module
 */

import { h } from "../lib/dom.js";
import { asList, parseJson } from "../lib/parse.js";
import { distinct } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { choicesInOrder, KINDS } from "../selectors/profile_fields.js";
import { failures } from "../store/notices.js";
import { field, followChanges, live } from "./form_parts.js";
import { select } from "./parts.js";
import { userPicker } from "./pickers.js";

/** The control, for the scope of a view: it follows changes by others. @param {import("../../types/app.js").App} app
 * @param {import("../../types/api.js").ProfileField} definition @param {() => string} current Its value in the store.
 * @param {(next: unknown) => unknown} save @param {{ disabled?: boolean }} [options] */
export function profileField(app, definition, current, save, { disabled = false } = {}) {
  const { type, name, hint, required } = definition;
  const label = required ? t("{name} (please fill in)", { name }) : name;
  // Other changes of people do not draw it again.
  const value = distinct(() => {
    app.store.on("users");
    return current();
  });
  if (type === KINDS.people)
    return live(() => {
      failures.value;
      const people = userPicker(app, { label, chosen: asList(parseJson(value.value)), disabled, onChange: save });
      const words = hint && h("p", { class: "field__hint" }, hint);
      return h("div", { class: "field" }, h("span", { class: "field__label" }, label), people.element, words);
    });
  if (type === KINDS.choice) {
    const options = choicesInOrder(definition).map(([key, { text }]) => /** @type {[string, string]} */ ([key, text]));
    return live(() => field(label, select([["", "—"], ...options], value.value, save, { disabled }), hint));
  }
  const control =
    type === KINDS.longText
      ? h("textarea", { rows: 3, maxlength: 500, value: current(), disabled })
      : h("input", { type: type === KINDS.date ? "date" : type === KINDS.link ? "url" : "text", value: current(), disabled });
  control.addEventListener("change", () => save(control.value));
  followChanges(() => void value.value, [[control, current]]);
  return field(label, control, hint);
}
