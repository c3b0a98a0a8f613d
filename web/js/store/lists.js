/**
 * Events about the state's own members: settings of the user and the organization, and plain lists.
 * @module
 */

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./store.js").Area} Area */
/** @typedef {import("../../types/api.js").Event} Event */

/** Keeps a list of records up to date.
 * @param {any[]} list @param {any} record @param {string} key @returns {any[]} */
function replaced(list, record, key) {
  const at = list.findIndex((other) => other[key] === record[key]);
  return at < 0 ? [...list, record] : list.with(at, { ...list[at], ...record });
}

/** @param {any[]} list @param {string} key @param {unknown} value */
const without = (list, key, value) => (list ?? []).filter((other) => other[key] !== value);

/** Events that replace a member of the state as a whole: type, member, area. @type {[string, string, Area][]} */
const WHOLE = [
  ["alert_words", "alert_words", "settings"],
  ["custom_profile_fields", "custom_profile_fields", "realm"],
  ["default_streams", "realm_default_streams", "realm"],
  ["realm_linkifiers", "realm_linkifiers", "realm"],
  ["realm_playgrounds", "realm_playgrounds", "realm"],
  ["realm_emoji", "realm_emoji", "emoji"],
  ["realm_export", "realm_exports", "realm"],
];

/** Names of members in events, if they differ from the state. @type {Record<string, string>} */
const IN_EVENT = {
  custom_profile_fields: "fields",
  realm_default_streams: "default_streams",
  realm_exports: "exports",
};

/** Events that put records into a list or remove one: type and member, area, the key of a record, and the names of the record and
 * of the key of a removed one in the event. @type {[string, Area, string, string, string][]} */
const LISTS = [
  ["drafts", "drafts", "id", "draft", "draft_id"],
  ["scheduled_messages", "scheduled", "scheduled_message_id", "scheduled_message", "scheduled_message_id"],
  ["reminders", "scheduled", "reminder_id", "reminder", "reminder_id"],
  ["saved_snippets", "settings", "id", "saved_snippet", "saved_snippet_id"],
  ["realm_domains", "realm", "domain", "realm_domain", "domain"],
];

/** A part of the state, for access by computed names. @param {object} part @returns {Record<string, any>} */
export const membersOf = (part) => part;

/** @type {Record<string, (store: Store, event: Event) => void>} */
export const listReducers = {
  user_settings(store, { property, value }) {
    membersOf(store.state.user_settings)[property] = value;
    // The server deletes the drafts, without other events.
    if (property === "enable_drafts_synchronization" && value === false) store.state.drafts = [];
    if (property !== "timezone") store.touch("rows");
    else if (store.self) store.self.timezone = value;
    store.touch("settings");
  },

  realm(store, event) {
    const data = event.op === "update_dict" ? event.data : { [event.property]: event.value };
    for (const [name, value] of Object.entries(data)) {
      if (name === "authentication_methods") store.state.realm_authentication_methods = value;
      else membersOf(store.state)[`realm_${name}`] = value;
    }
    store.touch("realm");
  },

  realm_user_settings_defaults(store, { property, value }) {
    membersOf(store.state.realm_user_settings_defaults)[property] = value;
    store.touch("realm");
  },

  invites_changed: (store) => store.touch("invites"),
  attachment: (store) => store.touch("attachments"),

  realm_export_consent(store, { user_id, consented }) {
    if (!store.state.realm_export_consents) return;
    store.state.realm_export_consents = replaced(store.state.realm_export_consents, { user_id, consented }, "user_id");
    store.touch("realm");
  },

  navigation_view(store, event) {
    const list = store.state.navigation_views ?? [];
    if (event.op === "remove") store.state.navigation_views = without(list, "fragment", event.fragment);
    else store.state.navigation_views = replaced(list, event.navigation_view ?? { fragment: event.fragment, ...event.data }, "fragment");
    store.touch("settings");
  },

  channel_folder(store, event) {
    let list = store.state.channel_folders ?? [];
    if (event.op === "add") list = replaced(list, event.channel_folder, "id");
    else if (event.op === "update") list = replaced(list, { id: event.channel_folder_id, ...event.data }, "id");
    else {
      const place = new Map(event.order.map((/** @type {number} */ id, /** @type {number} */ index) => [id, index]));
      list = list.map((folder) => ({ ...folder, order: place.get(folder.id) ?? folder.order }));
    }
    store.state.channel_folders = list.toSorted((a, b) => a.order - b.order);
    store.touch("channels");
  },

  realm_bot(store, event) {
    let list = store.state.realm_bots ?? [];
    if (event.op === "delete") list = without(list, "user_id", event.bot.user_id);
    else if (event.op === "remove") list = list.map((bot) => (bot.user_id === event.bot.user_id ? { ...bot, is_active: false } : bot));
    else list = replaced(list, event.bot, "user_id");
    store.state.realm_bots = list;
    store.touch("users");
  },

  user_group(store, event) {
    /** @type {any[]} */
    let groups = store.state.realm_user_groups ?? [];
    /** @param {string} member @param {number[]} ids @param {boolean} isAdded */
    const members = (member, ids, isAdded) =>
      groups.map((group) => {
        if (group.id !== event.group_id) return group;
        const others = group[member].filter((/** @type {number} */ id) => !ids.includes(id));
        return {
          ...group,
          [member]: (isAdded ? [...others, ...ids] : others).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b),
        };
      });
    if (event.op === "add") groups = replaced(groups, event.group, "id");
    else if (event.op === "update") groups = replaced(groups, { id: event.group_id, ...event.data }, "id");
    else if (event.op === "add_members") groups = members("members", event.user_ids, true);
    else if (event.op === "remove_members") groups = members("members", event.user_ids, false);
    else if (event.op === "add_subgroups") groups = members("direct_subgroup_ids", event.direct_subgroup_ids, true);
    else if (event.op === "remove_subgroups") groups = members("direct_subgroup_ids", event.direct_subgroup_ids, false);
    else groups = without(groups, "id", event.group_id);
    store.state.realm_user_groups = groups;
    store.touch("groups");
    // Mentions name the group.
    if (event.data?.name !== undefined) store.touch("rows");
  },

  ...Object.fromEntries(
    LISTS.map(([type, area, key, record, removed]) => [
      type,
      (/** @type {Store} */ store, /** @type {Event} */ event) => {
        const state = membersOf(store.state);
        const list = state[type] ?? [];
        state[type] =
          event.op === "remove"
            ? without(list, key, event[removed])
            : (event[`${record}s`] ?? [event[record]]).reduce(
                (/** @type {any[]} */ records, /** @type {any} */ one) => replaced(records, one, key),
                list,
              );
        store.touch(area);
      },
    ]),
  ),

  ...Object.fromEntries(
    WHOLE.map(([type, member, area]) => [
      type,
      (/** @type {Store} */ store, /** @type {Event} */ event) => {
        membersOf(store.state)[member] = event[IN_EVENT[member] ?? member];
        store.touch(area);
      },
    ]),
  ),
};

/** The groups that people have made, and that are in use. @param {Store} store */
export const ownGroups = (store) => (store.state.realm_user_groups ?? []).filter((group) => !group.is_system_group && !group.deactivated);

/** @param {Store} store @param {number} id */
export const groupOf = (store, id) => (store.state.realm_user_groups ?? []).find((group) => group.id === id);

/** Whether a user is in a group or one of its subgroups.
 * @param {Store} store @param {number} userId @param {number | { direct_members: number[], direct_subgroups: number[] }} setting
 * @returns {boolean} */
export function isInGroup(store, userId, setting) {
  if (typeof setting === "object") {
    return setting.direct_members.includes(userId) || setting.direct_subgroups.some((id) => isInGroup(store, userId, id));
  }
  const group = groupOf(store, setting);
  if (!group) return false;
  return group.members.includes(userId) || group.direct_subgroup_ids.some((id) => isInGroup(store, userId, id));
}

/** Whether a permission includes the user. An unknown permission includes no one. Guests have no permission that may not be given to
 * everyone, even as members of a group that has it.
 * @param {Store} store @param {"realm" | "stream" | "group"} kind @param {string} setting
 * @param {Parameters<typeof isInGroup>[2] | undefined} holder Who has it. */
export function includesSelf(store, kind, setting, holder) {
  const isForGuests = store.state.server_supported_permission_settings?.[kind]?.[setting]?.allow_everyone_group !== false;
  return holder !== undefined && (isForGuests || store.state.is_guest !== true) && isInGroup(store, store.selfId, holder);
}

/** Whether a permission of the organization includes the user. @param {Store} store @param {string} setting */
export function may(store, setting) {
  const holder = membersOf(store.state)[`realm_${setting}`];
  return holder === undefined || includesSelf(store, "realm", setting, holder);
}

/** Whether that permission, or the one of the same name of a channel, includes the user.
 * @param {Store} store @param {string} setting @param {import("../../types/api.js").Channel | undefined} channel */
export const mayIn = (store, setting, channel) => may(store, setting) || includesSelf(store, "stream", setting, channel?.[setting]);
