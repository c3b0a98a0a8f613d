/**
 * Forms for polls and lists of tasks. They insert a command into the box, where it can be changed before it is sent.
 * @module
 */

import { h } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { field, form, submitButton } from "./form_parts.js";
import { showDialog } from "./popover.js";

/** @param {import("../../types/app.js").Editor} editor @param {"poll" | "todo"} kind */
export function showWidgetForm(editor, kind) {
  const isPoll = kind === "poll";
  const title = h("input", { type: "text", required: true, autofocus: true, dir: "auto" });
  const lines = h("textarea", { rows: 5, required: true, dir: "auto" });
  const hint = isPoll ? t("One per line. Everyone can add more.") : t("One per line, such as “bread: fresh”.");
  showDialog(
    isPoll ? t("Poll") : t("List of tasks"),
    (close) => [
      form(
        () => {
          close();
          const texts = lines.value.split("\n").flatMap((line) => line.trim() || []);
          editor.setValue([`/${kind} ${title.value.trim()}`, ...texts].join("\n"));
          editor.focus();
        },
        field(isPoll ? t("Question") : t("Title"), title),
        field(isPoll ? t("Options") : t("Tasks"), lines, hint),
        submitButton(t("Insert")),
      ),
    ],
    { class: "dialog--small" },
  );
}
