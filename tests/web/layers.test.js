/** Rules about the source of the client. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const WEB = fileURLToPath(new URL("../../web", import.meta.url));
const LAYERS = ["lib", "api", "store", "selectors", "views"];
const FILES = readdirSync(join(WEB, "js"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.name.endsWith(".js"))
  .map((entry) => relative(WEB, join(entry.parentPath ?? entry.path, entry.name)));
const read = (path) => readFileSync(join(WEB, path), "utf8");
const codeOf = (path) => read(path).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
const importsOf = (path) => [...codeOf(path).matchAll(/^import [^;]*? from "([^"]+)";$/gm)].map(([, target]) => target);
const laterImportsOf = (path) => [...codeOf(path).matchAll(/\bimport\("([^"]+)"\)/g)].map(([, target]) => target);
const layerOf = (path) => path.split("/")[1];

it("imports only go down", () => {
  const wrong = [];
  for (const path of FILES) {
    for (const target of [...importsOf(path), ...laterImportsOf(path)]) {
      if (!target.startsWith(".")) wrong.push(`${path} imports ${target}`);
      const [from, to] = [layerOf(path), layerOf(join(dirname(path), target))];
      const isAllowed = ["early.js", "main.js"].includes(from) || (from === "platform" ? to === "lib" || to === "platform" : from === "views" ? true : LAYERS.indexOf(to) >= 0 && LAYERS.indexOf(to) <= LAYERS.indexOf(from));
      if (!isAllowed) wrong.push(`${path} imports ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

it("no module imports itself by way of others", () => {
  /** Modules whose imports have been followed to the end. */
  const done = new Set();
  const circles = [];
  const follow = (path, way) => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(" -> "));
    if (way.includes(path) || done.has(path)) return;
    for (const target of [...importsOf(path), ...laterImportsOf(path)]) follow(join(dirname(path), target), [...way, path]);
    done.add(path);
  };
  for (const path of FILES) follow(path, []);
  assert.deepEqual(circles, []);
});

it("the start imports nothing that is loaded on demand", () => {
  const start = new Set();
  const follow = (path) => {
    if (start.has(path)) return;
    start.add(path);
    for (const target of importsOf(path)) follow(join(dirname(path), target));
  };
  for (const entry of ["js/early.js", "js/main.js"]) follow(entry);
  const onDemand = FILES.flatMap((path) => laterImportsOf(path).map((target) => join(dirname(path), target)));
  assert.deepEqual(onDemand.filter((path) => start.has(path)), []);
});

it("only the api asks the server, and only views have elements", () => {
  const wrong = [];
  for (const path of FILES) {
    const code = codeOf(path);
    if (layerOf(path) !== "api" && /\bfetch\(|XMLHttpRequest/.test(code)) wrong.push(`${path} asks the server`);
    if (["api", "store", "selectors"].includes(layerOf(path)) && /document\.(createElement|querySelector|body)/.test(code)) wrong.push(`${path} has elements`);
    if (!path.endsWith("message_content.js") && /innerHTML|insertAdjacentHTML|parseFromString|setHTML|document\.write/.test(code)) wrong.push(`${path} turns text into elements`);
    if (/https?:\/\/(?!example\.com|www\.w3\.org)/.test(code)) wrong.push(`${path} names another server`);
  }
  assert.deepEqual(wrong, []);
});

it("only one module parses what others wrote: there, nothing throws", () => {
  const wrong = FILES.filter((path) => !path.endsWith("lib/parse.js") && /\bnew URL\(|\bJSON\.parse\(|\bdecodeURI/.test(codeOf(path)));
  assert.deepEqual(wrong, []);
});

it("the page names each style once, and the scripts that it starts with", () => {
  const page = read("index.html");
  const named = (pattern) => [...page.matchAll(pattern)].map(([, path]) => path).toSorted();
  assert.deepEqual(named(/"stylesheet" href="\/static\/HASH\/([^"]+)"/g), readdirSync(join(WEB, "css")).map((name) => `css/${name}`).toSorted());
  assert.deepEqual(named(/<script [^>]*src="\/static\/HASH\/([^"]+)"/g), ["js/early.js", "js/main.js"]);
});

it("files are read in one sitting", () => {
  const long = FILES.filter((path) => read(path).split("\n").length > 560);
  assert.deepEqual(long, []);
});

const TESTS = fileURLToPath(new URL(".", import.meta.url));

/** What tests of browsers do in two steps, or by the clock, so that it fails by chance; and what the harness has for it. */
const UNSURE = [
  [/\.\$\$?(eval)?\(/, "onElement, onElements or countOf"],
  [/(?<!\bkeyboard)\.type\((?!\))/, "typeInto or fillIn"],
  [/\.focus\((?!\))/, "focusOn or pressOn"],
  [/(?<!\bmouse)\.click\((?!\))/, "click, act, clickText or clickButton"],
  [/\.hover\(/, "hoverOver"],
  [/\.select\((?!\))/, "selectIn or choose"],
  [/\.(setRequestInterception|setBypassServiceWorker)\(/, "intercept, which also sees what the service worker would request"],
  [/\bsetTimeout\(/, "until, untilStable, or pagePause for what timers of the page would do before"],
];

it("tests of browsers find elements and act on them in one step, and do not wait for a time", () => {
  const wrong = [];
  for (const name of readdirSync(TESTS).filter((one) => /^browser.*\.test\.js$/.test(one))) {
    const text = readFileSync(join(TESTS, name), "utf8");
    const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
    const place = (position) => `${name}:${source.getLineAndCharacterOfPosition(position).line + 1}`;
    let start = 0;
    for (const line of text.split("\n")) {
      for (const [pattern, remedy] of UNSURE) if (pattern.test(line)) wrong.push(`${place(start)}: use ${remedy} of harness.js`);
      start += line.length + 1;
    }
    const follow = (node) => {
      const isOneLook = ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === "evaluate";
      if (isOneLook && /\bdocument\.querySelector\(/.test(node.getText())) wrong.push(`${place(node.getStart())}: use onElement or until of harness.js`);
      ts.forEachChild(node, follow);
    };
    follow(source);
  }
  assert.deepEqual(wrong, []);
});

/** How often the types of the client say `any`: where it falls, the number falls. */
const ANY = 46;

it("few values have any type", () => {
  let count = 0;
  for (const path of [...FILES, "types/api.d.ts", "types/app.d.ts"]) {
    const follow = (node) => {
      if (node.kind === ts.SyntaxKind.AnyKeyword) count += 1;
      node.jsDoc?.forEach(follow);
      ts.forEachChild(node, follow);
    };
    follow(ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true));
  }
  assert.equal(count, ANY, "of `any` in web/js and web/types");
});
