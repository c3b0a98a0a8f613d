/**
 * Choosing a group for a permission.
 * @module
 */

import { userOf } from "../store/users.js";
import { select } from "./parts.js";

/** @type {Record<string, string>} */
const SYSTEM = {
  "role:owners": "Owners",
  "role:administrators": "Administrators",
  "role:moderators": "Moderators",
  "role:fullmembers": "Full members",
  "role:members": "Members",
  "role:everyone": "Everyone",
  "role:internet": "Anybody on the internet",
  "role:nobody": "Nobody",
};

/** @param {{ name: string }} group */
export const groupName = ({ name }) => SYSTEM[name] ?? name;

/** @typedef {number | { direct_members: number[], direct_subgroups: number[] }} GroupSetting */

/** @param {import("../../types/app.js").App} app @param {GroupSetting} value @param {(next: number, old: GroupSetting) => void} change
 * @param {{ disabled?: boolean, setting?: string, kind?: "realm" | "stream" | "group" }} [options] */
export function groupSelect({ store }, value, change, { disabled = false, setting = "", kind = "realm" } = {}) {
  const rules = store.state.server_supported_permission_settings?.[kind]?.[setting] ?? {};
  const groups = (store.state.realm_user_groups ?? []).filter((/** @type {any} */ group) => {
    if (group.deactivated) return false;
    if (!group.is_system_group) return !rules.require_system_group;
    if (group.name === "role:internet") return rules.allow_internet_group === true;
    if (group.name === "role:nobody") return rules.allow_nobody_group !== false;
    if (group.name === "role:everyone") return rules.allow_everyone_group !== false;
    return group.name in SYSTEM;
  });
  /** @type {[string | number, string][]} */
  const options = groups.map((/** @type {any} */ group) => [group.id, groupName(group)]);
  const isMixed = typeof value === "object";
  if (isMixed) {
    const names = [
      ...value.direct_members.map((id) => userOf(store, id).full_name),
      ...value.direct_subgroups.map((id) =>
        groupName((store.state.realm_user_groups ?? []).find((/** @type {any} */ group) => group.id === id) ?? { name: "?" }),
      ),
    ];
    options.unshift(["mixed", names.join(", ") || "Nobody"]);
  }
  return select(options, isMixed ? "mixed" : value, (next) => next !== "mixed" && change(Number(next), value), { disabled });
}
