/**
 * The link with which a person sets a new password.
 * @module
 */

import { createPasswordLink } from "../api/endpoints_on_demand.js";
import { h } from "../lib/dom.js";
import { fullTime } from "../lib/time.js";
import { t } from "../lib/words.js";
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
    button(t("Copy"), () => app.copy(url, t("Link copied.")), "primary"),
  );
}

/** Creates a link with which a person sets a new password. @param {App} app @param {User} user */
export async function showPasswordLink(app, user) {
  const { store, session } = app;
  const name = user.full_name;
  const words = t("This creates a link for {name} to set a new password. Nothing changes until the link is used.", { name });
  if (!(await confirm(t("A new password for {name}?", { name }), words, t("Create a link")))) return;
  const reply = await session.attempt(createPasswordLink(user.user_id));
  if (!reply) return;
  const until = fullTime(reply.expiry_date, store.is24Hours);
  showDialog(
    t("A new password for {name}", { name }),
    () => [
      h("p", null, t("Give this link only to {name}: anyone who opens it can set the password.", { name })),
      linkField(app, t("Link for a new password"), reply.password_reset_link),
      h("p", { class: "muted" }, t("It works once, until {time}. Then all devices of {name} have to log in again.", { time: until, name })),
    ],
    { class: "dialog--small" },
  );
}
