/**
 * The accounts of the organization: people, their roles and passwords, and bots.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { fill, h, iconButton } from "../lib/dom.js";
import { effect } from "../lib/signal.js";
import { debounce } from "../lib/timing.js";
import { t } from "../lib/words.js";
import { mayDeactivate, mayResetPassword, roleNames, rolesFor } from "../selectors/roles.js";
import { hasWords, wordsOf } from "../selectors/sidebar_items.js";
import { deactivateBot, editBot } from "./bot_dialog.js";
import { live, rowButton, rows, rowWithPicture } from "./form_parts.js";
import { avatar, button, keepFocus, select } from "./parts.js";
import { showPasswordLink } from "./password_link.js";
import { createPerson, editPerson } from "./person_dialog.js";
import { confirm } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").User} User */
/** @typedef {import("../lib/dom.js").Child} Child */

/** How many accounts are listed at first, and how many more come at a time. */
const STEP = 500;

/** @param {App} app @param {string} tab @returns {Child[]} */
export function people(app, tab) {
  const { store } = app;
  const isActive = tab !== "deactivated";
  const input = h("input", { type: "search", placeholder: t("Filter"), "aria-label": t("Filter accounts") });
  const list = h("ul", { class: "rows" });
  const none = h("p", { class: "empty", role: "status", hidden: true }, t("No matches."));
  let shown = STEP;
  const more = button(t("Show more"), showMore, "", { hidden: true });
  const render = () => {
    const words = wordsOf(input.value);
    const users = [...store.users.values()]
      .filter((user) => !user.is_bot && (user.is_active !== false) === isActive)
      .filter((user) => hasWords(`${user.full_name} ${user.delivery_email ?? ""}`, words))
      .sort((a, b) => a.role - b.role || a.full_name.localeCompare(b.full_name));
    keepFocus(list, () =>
      fill(
        list,
        users.slice(0, shown).map((user) => personRow(app, user)),
      ),
    );
    more.hidden = users.length <= shown;
    none.hidden = words.length === 0 || users.length > 0;
  };
  function showMore() {
    const next = shown;
    shown += STEP;
    render();
    // The button may be gone, and only administrators have controls in the rows.
    const first = list.children[next];
    if (!(first instanceof HTMLElement)) return;
    first.tabIndex = -1;
    first.focus();
  }
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
      tabLink("active", t("Active"), isActive),
      tabLink("deactivated", t("Deactivated"), !isActive),
      Boolean(store.state.is_admin) && isActive && button(t("Create an account"), () => createPerson(app), "small"),
      app.mayInvite() && h("a", { class: "button button--small", href: "#invite" }, t("Invite people")),
      input,
    ),
    list,
    none,
    h("div", null, more),
  ];
}

/** @param {App} app @param {User} user */
function personRow(app, user) {
  const { store, session } = app;
  const isAdmin = Boolean(store.state.is_admin);
  const name = user.full_name;
  const deactivate = async () => {
    const words = t("They will be logged out everywhere and cannot log in again. Their messages are kept.");
    if (await confirm(t("Deactivate {name}?", { name }), words, t("Deactivate"), { isDanger: true }))
      await session.attempt(api.deactivateUser(user.user_id));
  };
  const choices = rolesFor(store, user);
  const roles = select(choices, user.role, (role) => void setRole(role), {
    disabled: !isAdmin || choices.length === 1,
    label: t("Role of {name}", { name }),
  });
  const setRole = async (/** @type {string} */ role) => {
    const words = Object.fromEntries(Object.entries(roleNames()))[role];
    const isSure = await confirm(t("Change the role of {name}?", { name }), t("The new role is “{words}”.", { words }), t("Change"));
    if (isSure && (await session.attempt(api.updateUser(user.user_id, { role: Number(role) })))) return session.tell(t("Saved."));
    roles.value = String(user.role);
  };
  return rowWithPicture(
    avatar(user, 28),
    name,
    user.delivery_email ?? "",
    user.is_active === false
      ? mayDeactivate(store, user) && reactivateButton(app, user)
      : [
          roles,
          isAdmin && iconButton("edit", t("Edit {name}", { name }), { onclick: () => editPerson(app, user) }),
          mayResetPassword(app.store, user) &&
            iconButton("key", t("New password for {name}", { name }), { onclick: () => void showPasswordLink(app, user) }),
          mayDeactivate(store, user) && iconButton("logout", t("Deactivate {name}", { name }), { onclick: () => void deactivate() }),
        ],
  );
}

/** @param {App} app @param {{ user_id: number, full_name: string }} user */
const reactivateButton = ({ session }, { user_id, full_name }) =>
  rowButton(t("Reactivate"), full_name, () => session.attempt(api.reactivateUser(user_id)));

/** @param {App} app @returns {Child[]} */
export function bots(app) {
  const { store } = app;
  return [
    live(() => {
      store.on("users");
      return rows(
        [...store.users.values()]
          .filter((user) => user.is_bot && !user.is_system_bot)
          .map((user) => {
            const owner = user.bot_owner_id
              ? t("of {name}", { name: store.users.get(user.bot_owner_id)?.full_name ?? "?" })
              : t("no owner");
            const isActive = user.is_active !== false;
            return rowWithPicture(
              avatar(user, 28),
              user.full_name,
              [user.email, owner, ...(isActive ? [] : [t("deactivated")])].join(" · "),
              Boolean(store.state.is_admin) &&
                iconButton("edit", t("Edit {name}", { name: user.full_name }), { onclick: () => editBot(app, user) }),
              Boolean(store.state.is_admin) &&
                (isActive ? rowButton(t("Deactivate"), user.full_name, () => deactivateBot(app, user)) : reactivateButton(app, user)),
            );
          }),
        t("There are no bots."),
      );
    }),
  ];
}
