/** The texts of the client's source, its service worker, and the catalogues: `node words.js` writes the texts that the catalogues lack. */

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { LANGUAGES } from "../../web/js/lib/words.js";

const WEB = fileURLToPath(new URL("../../web", import.meta.url));

/** Functions whose first argument is a text of the catalogue. */
const TRANSLATORS = ["t", "sentence"];

/** Texts that only look like words: names of keys, styles, headers, samples of code, and names of programs. */
const NO_WORDS = [
  /^(Alt|Shift|Ctrl|Enter|Escape|Tab|Space|Backspace|Home|End|Page(Up|Down)|Arrow(Up|Down|Left|Right))(\+|$)/,
  /^(general chat|thumb (up|down)|__Host-.*|bold …px .*|\/me is away|@\*\*Name\*\*|AbortError|Arrow|not started|Files|Notification|X-CSRFToken|Content-Type|Python|Jitsi Meet|OpenID Connect|Alt|Esc)$/,
  /^(a|p|li|button|textarea|input|style|video|\.[\w-]+|\[\w+\])[ ,]/,
  /^(noopener noreferrer|is-\w+|ar be bg .*)$/,
  /^(side-item__name|conversation__name|button|menu__item)\b.* (is-general|button--|menu__item--)/,
];

/** Finds literals that people read: they begin with a capital letter, or have several words. */
const looksLikeWords = (text) => (/^\P{L}*(\p{Lu}\p{Ll}|\p{L} \p{Ll}{2})|^\d+ \p{Ll}{2}/u.test(text) || /\p{Ll} \p{Ll}{2,}/u.test(text)) && !NO_WORDS.some((pattern) => pattern.test(text));

const isTranslator = (node) => ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.arguments.length > 0 && TRANSLATORS.includes(node.expression.text);

/** The literal texts that an expression can have; null if it computes one. */
function literals(node) {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return [node.text];
  if (ts.isConditionalExpression(node)) return [...(literals(node.whenTrue) ?? []), ...(literals(node.whenFalse) ?? [])];
  if (ts.isParenthesizedExpression(node)) return literals(node.expression);
  if (ts.isObjectLiteralExpression(node)) return [Object.fromEntries(node.properties.map((property) => [property.name.text, property.initializer.text]))];
  return null;
}

/** The names in a text that parameters replace. */
export const parametersOf = (text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted();

/** Reads one module: its texts for the catalogue, calls that lack or add a parameter, and literals outside of the catalogue. */
function textsOfModule(path, source) {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const texts = [];
  const problems = [];
  const outside = [];
  const where = (node) => `${path}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
  const checkParameters = (node, found) => {
    const given = node.arguments[1];
    if (given && !ts.isObjectLiteralExpression(given)) return;
    const names = (given?.properties ?? []).map((property) => property.name?.text).toSorted();
    const wanted = [...new Set(found.flatMap((text) => (typeof text === "string" ? parametersOf(text) : [...parametersOf(text.other), "count"])))].toSorted();
    if (names.join() !== wanted.join()) problems.push(`${where(node)}: parameters ${names.join(", ") || "none"} for ${JSON.stringify(found)}`);
  };
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isThrowStatement(node)) return;
    if (ts.isCallExpression(node) && /^console\.|\.(querySelector(All)?|closest|matches)$|^(find|closest|matchMedia)$/.test(node.expression.getText())) return;
    if (ts.isPropertyAssignment(node) && ["class", "pattern", "rel"].includes(node.name.text)) return;
    if (isTranslator(node)) {
      const found = literals(node.arguments[0]);
      if (found) {
        texts.push(...found);
        checkParameters(node, found);
        if (!ts.findAncestor(node, ts.isFunctionLike)) problems.push(`${where(node)}: before the language is known`);
      } else visit(node.arguments[0]);
      for (const other of node.arguments.slice(1)) visit(other);
      return;
    }
    // What is compared is a key or a name of the interface.
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsEqualsEqualsToken && ts.isStringLiteral(node.right)) return visit(node.left);
    const isPlain = ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node);
    if (isPlain && looksLikeWords(node.text)) outside.push(`${where(node)}: ${JSON.stringify(node.text)}`);
    if (ts.isTemplateExpression(node)) {
      const text = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join("…");
      if (looksLikeWords(text)) outside.push(`${where(node)}: ${JSON.stringify(text)}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { texts, problems, outside };
}

/** All texts of the client by their key, wrong calls, and literals that should be texts. */
export function textsOfClient() {
  const texts = new Map();
  const problems = [];
  const outside = [];
  const files = readdirSync(join(WEB, "js"), { recursive: true }).filter((name) => name.endsWith(".js"));
  for (const name of [...files, "../service_worker.js"].toSorted()) {
    const found = textsOfModule(name, readFileSync(join(WEB, "js", name), "utf8"));
    problems.push(...found.problems);
    outside.push(...found.outside);
    for (const text of found.texts) {
      const key = typeof text === "string" ? text : text.other;
      const known = texts.get(key);
      if (known !== undefined && typeof known !== typeof text) problems.push(`${name}: with and without plural: ${key}`);
      texts.set(key, text);
    }
  }
  return { texts, problems, outside };
}

export const catalogueOf = (language) => JSON.parse(readFileSync(join(WEB, "words", `${language}.json`), "utf8"));
export const catalogueNames = () => readdirSync(join(WEB, "words")).map((name) => name.replace(/\.json$/, "")).toSorted();

/** The plural forms that the small numbers of a language need. */
export const formsOf = (language) => {
  const rules = new Intl.PluralRules(language);
  return [...new Set(Array.from({ length: 200 }, (_, count) => rules.select(count)))].toSorted();
};

/** Brings a catalogue into the order of the source: unused entries are removed, missing ones are written as null. */
function update(language, texts) {
  const old = catalogueOf(language);
  const next = Object.fromEntries([...texts.keys()].toSorted().map((key) => [key, old[key] ?? null]));
  writeFileSync(join(WEB, "words", `${language}.json`), `${JSON.stringify(next, null, 1)}\n`);
  console.log(`${language}: ${Object.values(next).filter((entry) => entry === null).length} are missing`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { texts } = textsOfClient();
  for (const language of LANGUAGES.slice(1)) update(language, texts);
}
