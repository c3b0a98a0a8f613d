/** Writes the types of the interface, as `docs/openapi.yaml` describes it, into `web/types/openapi.d.ts`: `node types.js`. With
 * `--check` it only says whether they are up to date. Written are the replies of the operations that the client uses, the schemas
 * that it names, and those they consist of. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TARGET = join(ROOT, "web/types/openapi.d.ts");
const { paths, components: { schemas } } = parse(readFileSync(join(ROOT, "docs/openapi.yaml"), "utf8"));

/** The schemas that the client names: `openapi.State` in its own types. */
const named = [...readFileSync(join(ROOT, "web/types/api.d.ts"), "utf8").matchAll(/\bopenapi\.([A-Z]\w*)/g)].map(([, name]) => name).filter((name) => name !== "Replies");

const SCALARS = { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" };
const nameOf = ({ $ref }) => $ref.split("/").at(-1);
const key = (name) => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));
const union = (parts) => [...new Set(parts)].join(" | ");
const inBrackets = (type) => (type.includes(" | ") || type.includes(" & ") ? `(${type})` : type);

/** The type of one kind of values. */
function typeOfKind(kind, schema, indent) {
  if (kind === "array") {
    if (schema.prefixItems) return `[${schema.prefixItems.map((item) => typeOf(item, indent)).join(", ")}]`;
    return schema.items ? `${inBrackets(typeOf(schema.items, indent))}[]` : "never[]";
  }
  if (kind !== "object") return SCALARS[kind];
  const further = schema.additionalProperties;
  if (!schema.properties) return further ? `Record<string, ${typeOf(further, indent)}>` : "Record<string, never>";
  const required = new Set(schema.required);
  const inner = `${indent}  `;
  const members = Object.entries(schema.properties).map(([name, member]) => `${inner}${key(name)}${required.has(name) ? "" : "?"}: ${typeOf(member, inner)};\n`);
  return `{\n${members.join("")}${indent}}${further ? ` & Record<string, ${typeOf(further, indent)}>` : ""}`;
}

function typeOf(schema, indent = "") {
  if (schema.$ref) return nameOf(schema);
  if (schema.enum) return union(schema.enum.map((value) => JSON.stringify(value)));
  if ("const" in schema) return JSON.stringify(schema.const);
  for (const [word, sign] of [["anyOf", " | "], ["oneOf", " | "], ["allOf", " & "]]) if (schema[word]) return [...new Set(schema[word].map((one) => inBrackets(typeOf(one, indent))))].join(sign);
  if (!schema.type) return "unknown";
  return union([schema.type].flat().map((kind) => typeOfKind(kind, schema, indent)));
}

/** The schemas that a schema consists of. */
const partsOf = (schema) => [...JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name);

/** The operations that the client uses, as methods and paths: `/messages/{}`. */
const used = [...["endpoints.js", "endpoints_on_demand.js"].map((name) => readFileSync(join(ROOT, "web/js/api", name), "utf8")).join("").matchAll(/\b(get|post|patch|put|del)\(\s*["`](\/[^"`]*)["`]/g)].map(([, method, path]) => [method === "del" ? "delete" : method, path.replace(/\$\{[^}]*\}/g, "{}")]);

/** The schema of the reply of an operation, without what every reply has; undefined if there is nothing else. */
function replyOf(method, path) {
  const found = Object.keys(paths).find((one) => one.replace(/\{[^}]*\}/g, "{}") === path && paths[one][method]);
  if (!found) throw new Error(`web/js/api: there is no ${method} ${path} in docs/openapi.yaml`);
  const { schema } = paths[found][method].responses["200"].content["application/json"];
  return schema.allOf?.find((one) => !one.$ref?.endsWith("/Success"));
}

const replies = {};
for (const [method, path] of used) {
  const schema = replyOf(method, path);
  if (schema) (replies[method.toUpperCase()] ??= {})[path] = schema;
}

const wanted = new Set([...named, ...partsOf(replies)]);
for (const name of wanted) {
  if (!schemas[name]) throw new Error(`web/types/api.d.ts: there is no schema ${name} in docs/openapi.yaml`);
  for (const part of partsOf(schemas[name])) wanted.add(part);
}

const keyOfPath = (path) => (path.includes("{}") ? `[path: \`${path.replaceAll("{}", "${number}")}\`]` : JSON.stringify(path));
const operations = Object.entries(replies).map(([method, ofPath]) => {
  const lines = Object.entries(ofPath).map(([path, schema]) => `    ${keyOfPath(path)}: ${typeOf(schema, "    ")};\n`);
  return `  ${method}: {\n${lines.toSorted().join("")}  };\n`;
});
const text = `/** Written from \`docs/openapi.yaml\` by \`node tests/web/types.js\`. */

/** What operations answer, by method and path. */
export interface Replies {
${operations.join("")}}
${[...wanted].toSorted().map((name) => `\nexport type ${name} = ${typeOf(schemas[name])};\n`).join("")}`;
if (!process.argv.includes("--check")) writeFileSync(TARGET, text);
else if (readFileSync(TARGET, "utf8") !== text) {
  console.error("web/types/openapi.d.ts is not up to date: run `node tests/web/types.js`");
  process.exit(1);
}
