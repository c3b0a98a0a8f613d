/**
 * The words of the interface in the language of the user. The English text in the source is the key of the catalogue
 * (`web/words/de.json` and others). A text without an entry stays English.
 * @module
 */

/** A text, or the forms of one that has a `count`: in English two.
 * @typedef {string | { one: string, other: string }} Text */

/** An entry of a catalogue: a text, or the plural forms of the language.
 * @typedef {string | Record<string, string>} Entry */

/** The languages of the interface. All but English have a catalogue. */
export const LANGUAGES = ["en", "de", "fr", "es", "pt-br", "it", "nl", "pl", "ja", "zh-hans"];

/** @type {Map<string, Entry>} */
let entries = new Map();
let language = "en";
let plurals = new Intl.PluralRules("en");

/** The locale of dates and numbers; `undefined` is that of the browser. @type {string | undefined} */
let formatLocale;
let numbers = new Intl.NumberFormat();

/** The language of the words in use. */
export const languageInUse = () => language;

/** The locale of dates, times and numbers: the chosen language, with the variant that the browser prefers. */
export const locale = () => formatLocale;

/** The locale for a language: a variant of it that the browser prefers, such as British English, or the language itself.
 * @param {string} code As in the settings, such as `de` or `pt-br`. @param {readonly string[]} preferred */
export function localeFor(code, preferred) {
  const wanted = code.toLowerCase();
  const variant = preferred.find((one) => one.toLowerCase() === wanted || one.toLowerCase().startsWith(`${wanted}-`));
  try {
    return variant ?? Intl.getCanonicalLocales(code)[0];
  } catch {
    return undefined;
  }
}

/** Dates, times and numbers are written in this language from now on.
 * @param {string} code @param {readonly string[]} preferred The languages of the browser. */
export function setLocale(code, preferred) {
  formatLocale = localeFor(code, preferred);
  numbers = new Intl.NumberFormat(formatLocale);
}

/** The words are those of this catalogue from now on. @param {string} code @param {Record<string, Entry>} catalogue */
export function setWords(code, catalogue) {
  language = code;
  plurals = new Intl.PluralRules(code);
  entries = new Map(Object.entries(catalogue));
}

/** A language with its usual script, since `zh-TW` is not `zh-Hans`. @param {string} code */
function written(code) {
  try {
    const { language: name, script } = new Intl.Locale(code).maximize();
    return `${name}-${script}`;
  } catch {
    return "";
  }
}

/** The language of the interface that fits best. @param {readonly string[]} wanted Codes, the preferred one first. */
export function bestLanguage(wanted) {
  for (const code of wanted) {
    const found = LANGUAGES.find((one) => one === code.toLowerCase()) ?? LANGUAGES.find((one) => written(one) === written(code));
    if (found) return found;
  }
  return "en";
}

/** A text in the language of the user, which is not yet known while modules are loaded. `{name}` is replaced by the parameter of this name; numbers are written as the
 * language does. @param {Text} text @param {Record<string, string | number>} [params] @returns {string} */
export function t(text, params) {
  const found = translated(text, params);
  return params ? found.replace(/\{(\w+)\}/g, (all, name) => (name in params ? String(shown(params[name])) : all)) : found;
}

/** Like `t`, with elements as parameters. Returns the parts of the text and the elements. @template T
 * @param {Text} text @param {Record<string, T | string | number>} params @returns {(T | string)[]} */
export function sentence(text, params) {
  const parts = translated(text, params).split(/\{(\w+)\}/);
  return parts.flatMap((part, at) => (at % 2 === 0 ? (part ? [part] : []) : [shown(params[part])]));
}

/** Names as one text: "Ada, Bob and Eve". @param {string[]} names @returns {string} */
export const listed = (names) => new Intl.ListFormat(formatLocale, { type: "conjunction" }).format(names);

/** @param {Text} text @param {Record<string, unknown>} [params] @returns {string} */
function translated(text, params) {
  const entry = entries.get(typeof text === "string" ? text : text.other) ?? text;
  if (typeof entry === "string") return entry;
  const forms = /** @type {Record<string, string>} */ (entry);
  return forms[plurals.select(Number(params?.count))] ?? forms.other;
}

/** @template T @param {T | number} value @returns {T | string} */
const shown = (value) => (typeof value === "number" ? numbers.format(value) : value);
