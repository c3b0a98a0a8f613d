/**
 * Error boundaries: a part of the page that cannot be drawn is replaced by an error, and the other parts work.
 * @module
 */

import { logOut } from "../api/endpoints.js";
import { h } from "../lib/dom.js";
import { scope } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { button } from "./parts.js";

/** The error in place of a part, with buttons that may help. @param {string} what */
export const failure = (what) =>
  h(
    "div",
    { class: "failure", role: "alert" },
    h(
      "p",
      null,
      h("strong", null, t("{what} cannot be shown.", { what })),
      " ",
      t("This is a bug in the web client. Reloading the page may help."),
    ),
    h(
      "p",
      { class: "choices" },
      button(t("Load the page again"), () => location.reload(), "primary"),
      button(t("Log out"), () => logOut().finally(() => location.assign("/"))),
    ),
  );

/** Draws a part of the page. If that fails, logs the error and returns an element that shows it. @template {HTMLElement} E
 * @param {string} what Names the part. @param {() => E} create @param {string} [tag] @returns {E | HTMLElement} */
export function guarded(what, create, tag = "div") {
  /** @type {E | null} */
  let element = null;
  try {
    scope(() => {
      element = create();
    });
  } catch (error) {
    console.error(`${what} cannot be shown`, error);
  }
  return element ?? h(/** @type {"div"} */ (tag), null, failure(what));
}
