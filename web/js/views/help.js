/**
 * Help: keys, formatting, search operators, versions.
 * @module
 */

import { h } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { allBindings, shownKey } from "../platform/keyboard.js";
import { operatorTexts } from "../selectors/search_suggestions.js";
import { showDialog } from "./popover.js";

/** Keys that text boxes deal with by themselves. @type {() => [string, string[], string][]} */
const textKeys = () => [
  [t("Writing"), ["Ctrl+Enter"], t("Send")],
  [t("Writing"), ["Shift+Enter"], t("New line")],
  [t("Writing"), ["Ctrl+b"], t("Bold")],
  [t("Writing"), ["Ctrl+i"], t("Italic")],
  [t("Writing"), ["Ctrl+Shift+l"], t("Link")],
  [t("Writing"), ["Ctrl+'"], t("Insert a saved text")],
  [t("Writing"), ["Alt+p"], t("Preview")],
  [t("Writing"), ["Ctrl+Shift+v"], t("Paste without formatting")],
];

/** @type {() => Record<string, string>} */
const keyNames = () => ({
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  PageDown: t("Page down"),
  PageUp: t("Page up"),
  Escape: "Esc",
});

/** @type {import("./overlays.js").ShowOverlay} */
export function showKeys(_app, _parts, onClose) {
  /** @type {Map<string, Map<string, string[]>>} */
  const groups = new Map([
    [t("Navigation"), new Map()],
    [t("Reading"), new Map()],
    [t("Writing"), new Map()],
    [t("Messages"), new Map()],
  ]);
  const all = [
    ...allBindings().map(({ group, keys, label }) => /** @type {[string, string[], string]} */ ([group, keys, label])),
    ...textKeys(),
  ];
  for (const [group, keys, label] of all) if (group) groups.get(group)?.set(label, keys);
  return showDialog(
    t("Keyboard shortcuts"),
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
                    keys.map((key) => h("kbd", null, keyNames()[key] ?? shownKey(key))),
                  ),
                ),
              ),
            ),
          ),
        ),
    { onClose, class: "dialog--wide" },
  );
}

/** @type {() => [string, string][]} */
const messageSyntax = () => [
  ["**bold**", t("bold")],
  ["*italic*", t("italic")],
  ["~~strikethrough~~", t("struck through")],
  ["[text](https://example.com)", t("a link")],
  ["`code`", t("code")],
  ["```python\nprint(1)\n```", t("a block of code")],
  ["> quotation", t("a quotation")],
  ["* item", t("a list")],
  ["1. item", t("a numbered list")],
  ["```spoiler Title\nhidden\n```", t("text that is hidden until it is opened")],
  ["@**Name**", t("a mention; @_**Name** does not notify")],
  ["#**channel>topic**", t("a link to a topic")],
  [":smile:", t("an emoji")],
  ["<time:2027-01-01T12:00:00Z>", t("a time, shown in each reader's time zone")],
  ["$$x^2$$", t("a formula")],
  ["/me is away", t("what you do")],
  ["/poll Question", t("a poll, with an option on each further line")],
  ["/todo Title", t("a list of tasks")],
  ["| a | b |\n|---|---|\n| 1 | 2 |", t("a table")],
  ["---", t("a line")],
];

/** @type {import("./overlays.js").ShowOverlay} */
export function showFormatting(_app, _parts, onClose) {
  return showDialog(
    t("Message formatting"),
    () => [
      h(
        "table",
        { class: "table" },
        h("thead", null, h("tr", null, h("th", null, t("You write")), h("th", null, t("It becomes")))),
        h(
          "tbody",
          null,
          messageSyntax().map(([source, result]) => h("tr", null, h("td", null, h("code", null, source)), h("td", null, result))),
        ),
      ),
    ],
    { onClose },
  );
}

/** @type {import("./overlays.js").ShowOverlay} */
export function showOperators(_app, _parts, onClose) {
  return showDialog(
    t("Search operators"),
    () => [
      h(
        "p",
        null,
        t("Words are searched in messages and topics. These operators narrow the search. Put a minus sign in front to exclude."),
      ),
      h(
        "table",
        { class: "table" },
        h(
          "tbody",
          null,
          operatorTexts().map(([operator, detail]) => h("tr", null, h("td", null, h("code", null, operator)), h("td", null, detail))),
        ),
      ),
    ],
    { onClose },
  );
}

/** @type {import("./overlays.js").ShowOverlay} */
export function showAbout({ store }, _parts, onClose) {
  return showDialog(
    t("About"),
    () => [
      h("p", null, h("strong", null, "teamchat"), " ", t("The web client of {name}.", { name: store.state.realm_name })),
      h(
        "p",
        { class: "muted" },
        t("Apps that support feature level {level} of the API can connect to the same address.", {
          level: store.state.zulip_feature_level,
        }),
      ),
    ],
    { onClose, class: "dialog--small" },
  );
}
