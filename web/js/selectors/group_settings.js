/**
 * Values of permissions: one group, or several groups and people; and the rights of the user that follow. Pure.
 * @module
 */

import { t } from "../lib/words.js";
import { groupOf, includesSelf, may, mayIn } from "../store/lists.js";
import { userOf } from "../store/users.js";
import { groupName, systemNames } from "./group_names.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../../types/api.js").UserGroup} UserGroup */
/** @typedef {"can_mention_group" | "can_add_members_group" | "can_remove_members_group" | "can_join_group" | "can_leave_group" |
 *   "can_manage_group"} GroupPermission */
/** @typedef {{ direct_members: number[], direct_subgroups: number[] }} Mixed */
/** @typedef {number | Mixed} GroupSetting */

/** The groups that a permission may name. @param {Store} store @param {"realm" | "stream" | "group"} kind @param {string} setting */
export function groupsFor(store, kind, setting) {
  /** @type {Partial<import("../../types/api.js").PermissionRules>} */
  const rules = store.state.server_supported_permission_settings?.[kind]?.[setting] ?? {};
  return (store.state.realm_user_groups ?? []).filter((group) => {
    if (group.deactivated) return false;
    if (!group.is_system_group) return !rules.require_system_group;
    if (group.name === "role:internet") return rules.allow_internet_group === true;
    if (group.name === "role:nobody") return rules.allow_nobody_group !== false;
    if (group.name === "role:everyone") return rules.allow_everyone_group !== false;
    return group.name in systemNames();
  });
}

/** Whether a permission may name several groups and people. @param {Store} store @param {"realm" | "stream" | "group"} kind @param {string} setting */
export const mayMix = (store, kind, setting) => !store.state.server_supported_permission_settings?.[kind]?.[setting]?.require_system_group;

/** Whether the user may change the settings of a channel. @param {Store} store @param {import("../../types/api.js").Channel} channel */
export const mayAdminister = (store, { can_administer_channel_group: group }) =>
  Boolean(store.state.is_admin) || includesSelf(store, "stream", "can_administer_channel_group", group);

/** True if the user can give a channel this kind of access, such as `private`.
 * @param {Store} store @param {string} kind Of the channel settings. */
export function mayHaveKind(store, kind) {
  if (kind === "private" || kind === "protected") return may(store, "can_create_private_channel_group");
  const isOpen = store.state.realm_enable_spectator_access === true;
  const isAllowed = kind === "public" || (isOpen && may(store, "can_create_web_public_channel_group"));
  return isAllowed && may(store, "can_create_public_channel_group");
}

/** Whether the user may add people to a channel. @param {Store} store @param {import("../../types/api.js").Channel} channel */
export const mayAddTo = (store, channel) => mayAdminister(store, channel) || mayIn(store, "can_add_subscribers_group", channel);

/** Whether the user may take a person out of a channel: oneself and one's bots at any time.
 * @param {Store} store @param {import("../../types/api.js").Channel} channel @param {import("../../types/api.js").User} user */
export const mayRemoveFrom = (store, channel, user) =>
  [user.user_id, user.bot_owner_id].includes(store.selfId) ||
  mayAdminister(store, channel) ||
  includesSelf(store, "stream", "can_remove_subscribers_group", channel.can_remove_subscribers_group);

/** What the user may do with a group. @param {Store} store @param {UserGroup} group
 * @returns {{ mayManage: boolean, mayAdd: boolean, mayRemove: boolean, mayJoin: boolean, mayLeave: boolean, isMember: boolean }} */
export function groupRights(store, group) {
  const isIn = (/** @type {GroupPermission} */ setting) => includesSelf(store, "group", setting, group[setting]);
  const mayManage = may(store, "can_manage_all_groups") || isIn("can_manage_group");
  const mayAdd = mayManage || isIn("can_add_members_group");
  const mayRemove = mayManage || isIn("can_remove_members_group");
  const isMember = group.members.includes(store.selfId);
  return {
    mayManage,
    mayAdd,
    mayRemove,
    isMember,
    mayJoin: !isMember && (mayAdd || isIn("can_join_group")),
    // Guests change no group, although everyone may have this permission.
    mayLeave: isMember && store.state.is_guest !== true && (mayRemove || isIn("can_leave_group")),
  };
}

/** @param {GroupSetting} value @returns {Mixed} */
export const asMixed = (value) => (typeof value === "object" ? value : { direct_members: [], direct_subgroups: [value] });

/** One group alone is written as its id. @param {Mixed} mixed @returns {GroupSetting} */
export const simplest = (mixed) =>
  mixed.direct_members.length === 0 && mixed.direct_subgroups.length === 1 ? mixed.direct_subgroups[0] : mixed;

/** @param {Store} store @param {GroupSetting} value */
export function settingText(store, value) {
  const { direct_members, direct_subgroups } = asMixed(value);
  const groups = direct_subgroups.map((id) => groupName(groupOf(store, id) ?? { name: "?" }));
  return [...groups, ...direct_members.map((id) => userOf(store, id).full_name)].join(", ") || t("Nobody");
}
