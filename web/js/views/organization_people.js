/**
 * The accounts of the organization: people, their roles and passwords, and bots.
 * @module
 */

import * as api from "../api/endpoints.js";
import { debounce, fill, h, iconButton } from "../lib/dom.js";
import { effect } from "../lib/signal.js";
import { avatar, button, keepFocus, live, row, rows, select } from "./parts.js";
import { showPasswordLink } from "./password_link.js";
import { ask, confirm } from "./popover.js";
import { mayResetPassword, ROLES } from "./user_card.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").User} User */
/** @typedef {import("../lib/dom.js").Child} Child */

/** Accounts that are listed; more are found with the filter. */
const SHOWN = 500;

/** @param {App} app @param {string} tab @returns {Child[]} */
export function people(app, tab) {
  const { store } = app;
  const isActive = tab !== "deactivated";
  const input = h("input", { type: "search", placeholder: "Filter", "aria-label": "Filter accounts" });
  const list = h("ul", { class: "rows" });
  const render = () => {
    const wanted = input.value.toLowerCase();
    const users = [...store.users.values()]
      .filter((user) => !user.is_bot && (user.is_active !== false) === isActive)
      .filter((user) => `${user.full_name} ${user.delivery_email ?? ""}`.toLowerCase().includes(wanted))
      .sort((a, b) => a.role - b.role || a.full_name.localeCompare(b.full_name));
    keepFocus(list, () =>
      fill(
        list,
        users.slice(0, SHOWN).map((user) => personRow(app, user)),
      ),
    );
  };
  input.oninput = debounce(render, 80);
  effect(() => {
    store.on("users");
    render();
  });
  const tabLink = (/** @type {string} */ key, /** @type {string} */ label, /** @type {boolean} */ isCurrent) =>
    h("a", { class: "button button--small", href: `#organization/users/${key}`, "aria-current": isCurrent ? "page" : null }, label);
  return [
    h(
      "div",
      { class: "page__tools" },
      tabLink("active", "Active", isActive),
      tabLink("deactivated", "Deactivated", !isActive),
      app.mayInvite() && h("a", { class: "button button--small", href: "#invite" }, "Invite people"),
      input,
    ),
    list,
  ];
}

/** @param {App} app @param {User} user */
function personRow(app, user) {
  const { store, session } = app;
  const isAdmin = Boolean(store.state.is_admin);
  const name = user.full_name;
  const rename = async () => {
    const next = await ask("Name", name);
    if (next) await session.attempt(api.updateUser(user.user_id, { full_name: next }));
  };
  const deactivate = async () => {
    const words = "They are logged out everywhere and cannot come back. Their messages stay.";
    if (await confirm(`Deactivate ${name}?`, words, "Deactivate", { isDanger: true }))
      await session.attempt(api.deactivateUser(user.user_id));
  };
  const roles = select(Object.entries(ROLES), user.role, (role) => void setRole(role), { disabled: !isAdmin, label: `Role of ${name}` });
  const setRole = async (/** @type {string} */ role) => {
    const words = Object.fromEntries(Object.entries(ROLES))[role];
    const isSure = await confirm(`Change the role of ${name}?`, `The new role is “${words}”.`, "Change");
    if (isSure && (await session.attempt(api.updateUser(user.user_id, { role: Number(role) })))) return session.tell("Saved.");
    roles.value = String(user.role);
  };
  const element = row(
    name,
    user.delivery_email ?? "",
    user.is_active === false
      ? isAdmin && button("Reactivate", () => session.attempt(api.reactivateUser(user.user_id)), "small")
      : [
          roles,
          isAdmin && iconButton("edit", `Rename ${name}`, { onclick: () => void rename() }),
          mayResetPassword(app, user) && iconButton("key", `New password for ${name}`, { onclick: () => void showPasswordLink(app, user) }),
          isAdmin && user.user_id !== store.selfId && iconButton("logout", `Deactivate ${name}`, { onclick: () => void deactivate() }),
        ],
  );
  element.prepend(avatar(user, 28));
  return element;
}

/** @param {App} app @returns {Child[]} */
export function bots({ store, session }) {
  return [
    live(() => {
      store.on("users");
      return rows(
        [...store.users.values()]
          .filter((user) => user.is_bot && !user.is_system_bot)
          .map((user) => {
            const owner = user.bot_owner_id ? `of ${store.users.get(user.bot_owner_id)?.full_name ?? "?"}` : "no owner";
            const isActive = user.is_active !== false;
            const element = row(
              user.full_name,
              `${user.email} · ${owner}${isActive ? "" : " · deactivated"}`,
              Boolean(store.state.is_admin) &&
                isActive &&
                button("Deactivate", () => session.attempt(api.deleteBot(user.user_id)), "small"),
            );
            element.prepend(avatar(user, 28));
            return element;
          }),
        "There are no bots.",
      );
    }),
  ];
}
