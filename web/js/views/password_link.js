/**
 * Links that are given to somebody: one with which a person sets a new password.
 * @module
 */

import { createPasswordLink } from "../api/endpoints.js";
import { h } from "../lib/dom.js";
import { fullTime } from "../lib/time.js";
import { button } from "./parts.js";
import { confirm, showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").User} User */

/** A link, and a button that copies it. @param {App} app @param {string} label @param {string} url */
export function linkField(app, label, url) {
  const input = h("input", { type: "text", readonly: true, value: url, "aria-label": label, onfocus: () => input.select() });
  return h(
    "div",
    { class: "inline" },
    h("div", { class: "grow" }, input),
    button("Copy", () => app.copy(url, "Link copied."), "primary"),
  );
}

/** Makes a link with which somebody sets a new password. @param {App} app @param {User} user */
export async function showPasswordLink(app, user) {
  const { store, session } = app;
  const name = user.full_name;
  const words = `This makes a link with which ${name} sets a new password. Nothing changes until it is used.`;
  if (!(await confirm(`A new password for ${name}?`, words, "Make a link"))) return;
  const reply = await session.attempt(createPasswordLink(user.user_id));
  if (!reply) return;
  const until = fullTime(reply.expiry_date, Boolean(store.setting("twenty_four_hour_time")));
  showDialog(
    `A new password for ${name}`,
    () => [
      h("p", null, `Give this link to ${name}, and to nobody else: whoever opens it can set the password.`),
      linkField(app, "Link for a new password", reply.password_reset_link),
      h("p", { class: "muted" }, `It works once, until ${until}. Then all devices of ${name} have to log in again.`),
    ],
    { class: "dialog--small" },
  );
}
