/**
 * Parsers of what others wrote. They do not throw: what is malformed is null, and what is of another type is empty.
 * @module
 */

/** @template T @param {() => T} parse @returns {T | null} */
function orNull(parse) {
  try {
    return parse();
  } catch {
    return null;
  }
}

/** A URL, relative to the page. @param {string} text */
export const parseUrl = (text) => orNull(() => new URL(text, globalThis.location?.href));

/** @param {string | null | undefined} text @returns {any} */
export const parseJson = (text) => orNull(() => JSON.parse(text ?? "null"));

/** A part of a URL without its percent-encoding. @param {string} text */
export const decodeComponent = (text) => orNull(() => decodeURIComponent(text));

/** A part of a fragment, which has dots in place of percent signs. @param {string} text @returns {string | null} null if it is malformed */
export const decodeFragment = (text) => decodeComponent(text.replaceAll(".", "%"));

/** A template of a URL (RFC 6570) with the value of its variable. @param {string} template @param {string} name @param {string} value */
export const fillTemplate = (template, name, value) =>
  template.replace(/\{([+#./;?&]?)(\w+)\*?\}/g, (expression, /** @type {string} */ operator, /** @type {string} */ variable) => {
    if (variable !== name) return expression;
    const before = /[;?&]/.test(operator) ? `${operator}${name}=` : operator === "+" ? "" : operator;
    return before + (/[+#]/.test(operator) ? encodeURI(value) : encodeURIComponent(value));
  });

/** A string, or a number as text. @param {unknown} value */
export const asText = (value) => (typeof value === "string" || typeof value === "number" ? String(value) : "");

/** @param {unknown} value @returns {any[]} */
export const asList = (value) => (Array.isArray(value) ? value : []);

/** @param {unknown} value @returns {Record<string, any>} */
export const asObject = (value) => (typeof value === "object" && value ? value : {});

/** A tag with attributes. Values are in double quotes, as serializers write them. */
const TAG = /<[a-z][^\s<>/]*(?:\s+[^\s"<>/=]+(?:="[^"]*")?)+\s*\/?>/gi;

/** An attribute and the space before it. */
const ATTRIBUTE = /\s+([^\s"<>/=]+)(?:="([^"]*)")?/g;

/** HTML without its `style` attributes, which the page's policy forbids; alignments become `data-align`. The attributes are
 * removed before the HTML is parsed, because Chromium reports those of inert documents as well. Each tag is read attribute by
 * attribute, so that text and values that contain ` style="` stay.
 * @param {string} html */
export const withoutStyles = (html) =>
  html.replace(TAG, (tag) =>
    tag.replace(ATTRIBUTE, (attribute, /** @type {string} */ name, value = "") => {
      if (name.toLowerCase() !== "style") return attribute;
      const align = /text-align:\s*(left|right|center)/.exec(value)?.[1];
      return align ? ` data-align="${align}"` : "";
    }),
  );

/** HTML whose first visible element keeps spaces and lines. A comment ends at the first mark of its end: if it could go on behind that
 * mark, the time would double with each comment. */
const PREFORMATTED =
  /^(?:\s|<!--(?:[^-]|-(?!->))*-->|<meta[^>]*>|<\/?(?:html|head|body)[^>]*>)*<\w+[^>]*\bstyle="[^"]*white-space:\s*pre\s*[;"]/i;

/** Whether HTML is code, as code editors write it. @param {string} html */
export const isPreformatted = (html) => PREFORMATTED.test(html);

/** A text without spaces at the ends of lines. Each run of spaces is searched once. @param {string} text */
export const withoutTrailingSpaces = (text) => text.replace(/(?<![ \t])[ \t]+\n/g, "\n");
