/**
 * The dialog that inserts a time into a message.
 * @module
 */

import { h } from "../lib/dom.js";
import { localInputValue } from "../lib/time_on_demand.js";
import { t } from "../lib/words.js";
import { form, submit } from "./form_parts.js";
import { showDialog } from "./popover.js";

/** Asks for a time. @param {(text: string) => void} insert Gets it in the syntax of messages. */
export function showTimeDialog(insert) {
  const input = h("input", {
    type: "datetime-local",
    value: localInputValue(new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000)),
    "aria-label": t("Time"),
    required: true,
  });
  showDialog(
    t("A time that each reader sees in their own time zone"),
    (close) => [
      form(
        () => {
          close();
          insert(`<time:${new Date(input.value).toISOString().replace(".000", "")}> `);
        },
        input,
        h("div", { class: "dialog__buttons" }, submit(t("Insert"))),
      ),
    ],
    { class: "dialog--small" },
  );
}
