/**
 * Names of groups. System groups are named after roles, in the user's language. Pure.
 * @module
 */

import { t } from "../lib/words.js";

/** @type {() => Record<string, string>} */
export const systemNames = () => ({
  "role:owners": t("Owners"),
  "role:administrators": t("Administrators"),
  "role:moderators": t("Moderators"),
  "role:fullmembers": t("Full members"),
  "role:members": t("Members"),
  "role:everyone": t("Everyone"),
  "role:internet": t("Anybody on the internet"),
  "role:nobody": t("Nobody"),
});

/** @param {{ name: string }} group */
export const groupName = ({ name }) => systemNames()[name] ?? name;
