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

/** Whether the user may change the own name, picture or email. The organization can leave them to administrators.
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
