/**
 * Boundaries: a part of the page that cannot be drawn says so in its place, and the others work.
 * @module
 */

import { logOut } from "../api/endpoints.js";
import { h } from "../lib/dom.js";
import { scope } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { button } from "./parts.js";

/** Says what cannot be shown, with what helps. @param {string} what */
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

/** Draws a part of the page; if that fails, logs why, and returns what says so. @template {HTMLElement} E
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
