/**
 * Profile fields: their kinds and choices, and the addresses of accounts on other sites. Pure.
 * @module
 */

import { asObject, parseJson } from "../lib/parse.js";

/** @typedef {import("../../types/api.js").ProfileField} ProfileField */

/** Kinds of profile fields, by their numbers in the interface. */
export const KINDS = { shortText: 1, longText: 2, choice: 3, date: 4, link: 5, people: 6, account: 7, pronouns: 8 };

/** The choices of a field in their order, by key. @param {ProfileField | null} definition @returns {[string, { text: string, order: string }][]} */
export const choicesInOrder = (definition) =>
  Object.entries(asObject(parseJson(definition?.field_data))).sort(([, one], [, other]) => one.order - other.order);

/** @typedef {Record<string, { text: string, order: string }>} FieldChoices */

/** The data of choices, one a line. Choices keep their keys, which people's values refer to: those with the same text, and those that have
 * another text in the same place of as many choices.
 * @param {string} text @param {FieldChoices} before @returns {FieldChoices} */
export function choicesOf(text, before) {
  const written = text.split("\n").map((line) => line.trim());
  const lines = [...new Set(written.filter(Boolean))];
  const old = Object.entries(before).sort(([, one], [, other]) => Number(one.order) - Number(other.order));
  let unused = Math.max(-1, ...Object.keys(before).map(Number)) + 1;
  return Object.fromEntries(
    lines.map((line, at) => {
      const isRenamed = lines.length === old.length && !lines.includes(old[at][1].text);
      const same = old.find(([, choice]) => choice.text === line) ?? (isRenamed ? old[at] : undefined);
      return [same?.[0] ?? String(unused++), { text: line, order: String(at + 1) }];
    }),
  );
}

/** The address of an account on another site; empty if its field has none. @param {import("../store/store.js").Store} store
 * @param {ProfileField} definition @param {string} name That of the account. @returns {string} */
export function accountUrl({ state }, { field_data }, name) {
  const { subtype, url_pattern } = asObject(parseJson(field_data));
  const pattern = url_pattern ?? state.realm_default_external_accounts?.[subtype]?.url_pattern ?? "";
  return pattern.replace("%(username)s", () => name);
}
