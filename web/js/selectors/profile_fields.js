/**
 * Profile fields. Pure.
 * @module
 */

import { asObject, parseJson } from "../lib/parse.js";

/** @typedef {import("../../types/api.js").ProfileField} ProfileField */

/** The choices of a field in their order, by key. @param {ProfileField | null} definition @returns {[string, { text: string, order: string }][]} */
export const choicesInOrder = (definition) =>
  Object.entries(asObject(parseJson(definition?.field_data))).sort(([, one], [, other]) => one.order - other.order);
