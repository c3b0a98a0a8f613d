/**
 * Names of roles, and permissions that depend on roles.
 * @module
 */

import { t } from "../lib/words.js";
import { membersOf } from "../store/lists.js";
import { GUEST } from "../store/users.js";

/** @typedef {import("../../types/api.js").User} User */

/** @type {() => Record<number, string>} */
export const roleNames = () => ({
  100: t("Owner"),
  200: t("Administrator"),
  300: t("Moderator"),
  400: t("Member"),
  [GUEST]: t("Guest"),
});

/** The roles that the user can give to invited people: only owners invite owners, only administrators those above members.
 * @param {import("../store/store.js").Store} store @returns {[string, string][]} */
export function rolesOfInvited({ state }) {
  const highest = state.is_owner ? 100 : state.is_admin ? 200 : 400;
  return Object.entries(roleNames()).filter(([role]) => Number(role) >= highest);
}

/** The roles of a person or bot that the user can choose, with the present one: bots are members or guests, and guests become members
 * before they become administrators.
 * @param {import("../store/store.js").Store} store @param {User} user @returns {[string, string][]} */
export function rolesFor(store, { role: present, is_bot }) {
  const isFixed = present === 100 && !store.state.is_owner;
  return Object.entries(roleNames()).filter(([key]) => {
    const role = Number(key);
    if (role === present) return true;
    if (isFixed || (role === 100 && !store.state.is_owner)) return false;
    return is_bot ? role >= 400 : present !== GUEST || role > 200;
  });
}

/** True if the user can deactivate and reactivate a person. @param {import("../store/store.js").Store} store @param {User} user */
export const mayDeactivate = ({ state, selfId }, { user_id, role }) =>
  Boolean(state.is_admin) && user_id !== selfId && (role !== 100 || Boolean(state.is_owner));

/** True if the user can change the own name, picture or email. The organization can leave them to administrators.
 * @param {import("../store/store.js").Store} store @param {"name" | "avatar" | "email"} part */
export const mayChangeOwn = ({ state }, part) => Boolean(state.is_admin) || membersOf(state)[`realm_${part}_changes_disabled`] !== true;

/** Whether the user may create a link with which another person sets a new password. @param {import("../store/store.js").Store} store @param {User} user */
export const mayResetPassword = (store, user) =>
  Boolean(store.state.is_admin) &&
  store.state.realm_password_auth_enabled !== false &&
  !user.is_bot &&
  user.is_active !== false &&
  user.user_id !== store.selfId &&
  (user.role !== 100 || Boolean(store.state.is_owner));
