/**
 * Help: keys, formatting, search operators, versions.
 * @module
 */

import { h } from "../lib/dom.js";
import { allBindings } from "../platform/keyboard.js";
import { OPERATORS } from "../selectors/search_terms.js";
import { showDialog } from "./popover.js";

/** Keys that text boxes deal with by themselves. @type {[string, string[], string][]} */
const IN_TEXT = [
  ["Writing", ["Ctrl+Enter"], "Send"],
  ["Writing", ["Shift+Enter"], "New line"],
  ["Writing", ["Ctrl+b"], "Bold"],
  ["Writing", ["Ctrl+i"], "Italic"],
  ["Writing", ["Ctrl+Shift+l"], "Link"],
  ["Writing", ["Ctrl+'"], "Insert a saved text"],
  ["Writing", ["Alt+p"], "Preview"],
  ["Writing", ["Ctrl+Shift+v"], "Paste without formatting"],
];

/** @type {Record<string, string>} */
const NAMES = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", PageDown: "Page down", PageUp: "Page up", Escape: "Esc" };

/** @type {import("./overlays.js").ShowOverlay} */
export function showKeys(_app, _parts, onClose) {
  /** @type {Map<string, Map<string, string[]>>} */
  const groups = new Map([
    ["Going places", new Map()],
    ["Reading", new Map()],
    ["Writing", new Map()],
    ["Messages", new Map()],
  ]);
  const all = [
    ...allBindings().map(({ group, keys, label }) => /** @type {[string, string[], string]} */ ([group, keys, label])),
    ...IN_TEXT,
  ];
  for (const [group, keys, label] of all) if (group) groups.get(group)?.set(label, keys);
  return showDialog(
    "Keyboard shortcuts",
    () =>
      [...groups]
        .filter(([, rows]) => rows.size > 0)
        .map(([group, rows]) =>
          h(
            "section",
            { class: "keys" },
            h("h3", null, group),
            h(
              "dl",
              null,
              [...rows].map(([label, keys]) =>
                h(
                  "div",
                  null,
                  h("dt", null, label),
                  h(
                    "dd",
                    null,
                    keys.map((key) => h("kbd", null, NAMES[key] ?? key)),
                  ),
                ),
              ),
            ),
          ),
        ),
    { onClose, class: "dialog--wide" },
  );
}

/** @type {[string, string][]} */
const SYNTAX = [
  ["**bold**", "bold"],
  ["*italic*", "italic"],
  ["~~strikethrough~~", "struck through"],
  ["[text](https://example.com)", "a link"],
  ["`code`", "code"],
  ["```python\nprint(1)\n```", "a block of code"],
  ["> quotation", "a quotation"],
  ["* item", "a list"],
  ["1. item", "a numbered list"],
  ["```spoiler Title\nhidden\n```", "text that is hidden until asked for"],
  ["@**Name**", "a mention; @_**Name** does not notify"],
  ["#**channel>topic**", "a link to a topic"],
  [":smile:", "an emoji"],
  ["<time:2027-01-01T12:00:00Z>", "a time in everybody's own zone"],
  ["$$x^2$$", "a formula"],
  ["/me is away", "what you do"],
  ["/poll Question", "a poll, with an option on each further line"],
  ["/todo Title", "a list of tasks"],
  ["| a | b |\n|---|---|\n| 1 | 2 |", "a table"],
  ["---", "a line"],
];

/** @type {import("./overlays.js").ShowOverlay} */
export function showFormatting(_app, _parts, onClose) {
  return showDialog(
    "Message formatting",
    () => [
      h(
        "table",
        { class: "table" },
        h("thead", null, h("tr", null, h("th", null, "You write"), h("th", null, "It becomes"))),
        h(
          "tbody",
          null,
          SYNTAX.map(([source, result]) => h("tr", null, h("td", null, h("code", null, source)), h("td", null, result))),
        ),
      ),
    ],
    { onClose },
  );
}

/** @type {import("./overlays.js").ShowOverlay} */
export function showOperators(_app, _parts, onClose) {
  return showDialog(
    "Search operators",
    () => [
      h("p", null, "Words are searched for in texts and topics. These narrow the search; a minus sign in front excludes."),
      h(
        "table",
        { class: "table" },
        h(
          "tbody",
          null,
          OPERATORS.map(([operator, detail]) =>
            h("tr", null, h("td", null, h("code", null, operator)), h("td", null, `Messages ${detail}`)),
          ),
        ),
      ),
    ],
    { onClose },
  );
}

/** @type {import("./overlays.js").ShowOverlay} */
export function showAbout({ store }, _parts, onClose) {
  return showDialog(
    "About",
    () => [
      h("p", null, h("strong", null, "teamchat"), `, the web client of ${store.state.realm_name}.`),
      h(
        "p",
        { class: "muted" },
        `Apps that speak feature level ${store.state.zulip_feature_level} of this interface connect to the same address.`,
      ),
    ],
    { onClose, class: "dialog--small" },
  );
}
