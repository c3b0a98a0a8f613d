/**
 * Users: presence, statuses, muted users, typing notices.
 * @module
 */

import { t } from "../lib/words.js";
import { membersOf } from "./lists.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("../../types/api.js").State} State */
/** @typedef {import("../../types/api.js").Event} Event */
/** @typedef {import("../../types/api.js").User} User */

/** The role of guests. */
export const GUEST = 600;

/** @param {Store} store @param {State} state */
export function resetUsers(store, state) {
  store.users = new Map();
  const take = (/** @type {{ user_id: number }[]} */ users = [], /** @type {boolean} */ is_active) => {
    for (const user of users) store.users.set(user.user_id, /** @type {User} */ ({ ...user, is_active }));
  };
  take(state.realm_non_active_users, false);
  take(state.realm_users, true);
  take(state.cross_realm_bots, true);
  // The client asks for presences in the newer format.
  const presences = /** @type {Record<string, import("./store.js").Presence>} */ (state.presences ?? {});
  store.presences = new Map(Object.entries(presences).map(([id, presence]) => [Number(id), presence]));
  store.statuses = new Map(Object.entries(state.user_status ?? {}).map(([id, status]) => [Number(id), status]));
  store.mutedUsers = new Set((state.muted_users ?? []).map((muted) => muted.id));
}

/** @param {Store} store @param {number} id @returns {User} A stand-in for a user who cannot be seen. */
export function userOf(store, id) {
  const found = store.users.get(id);
  if (found) return found;
  const full_name = t("Unknown user");
  return { user_id: id, full_name, email: `user${id}@`, avatar_url: null, role: 400, is_bot: false, is_active: false };
}

/** @param {Store} store @param {string} name @returns {User | undefined} */
export function userCalled(store, name) {
  const wanted = name.toLowerCase();
  return [...store.users.values()].find((user) => user.full_name.toLowerCase() === wanted);
}

/** The name of a person in a mention, with the id where others have the same name. @param {Store} store @param {User} user */
export function mentionName(store, { user_id, full_name }) {
  const isSame = (/** @type {User} */ other) => other.user_id !== user_id && other.full_name.toLowerCase() === full_name.toLowerCase();
  return [...store.users.values()].some(isSame) ? `${full_name}|${user_id}` : full_name;
}

/** The members of users that rows of messages show. */
const SHOWN_IN_ROWS = ["full_name", "avatar_url", "avatar_version", "role", "is_active", "is_bot", "bot_owner_id"];

/** @type {Record<string, (store: Store, event: Event) => void>} */
export const userReducers = {
  realm_user(store, { op, person }) {
    const user = store.users.get(person.user_id);
    if (op === "add") {
      store.users.set(person.user_id, { ...person, is_active: true });
    } else if (op === "remove") {
      if (user) store.users.set(person.user_id, { ...user, is_active: false });
    } else if (user) {
      const { custom_profile_field: field, new_email, ...changes } = person;
      const next = { ...user, ...changes };
      if (new_email) next.email = new_email;
      if (field) {
        const data = { ...user.profile_data };
        if (field.value === null) delete data[field.id];
        else data[field.id] = { value: field.value, ...(field.rendered_value ? { rendered_value: field.rendered_value } : {}) };
        next.profile_data = data;
      }
      store.users.set(person.user_id, next);
      if (person.user_id === store.selfId) applyToSelf(store, person);
    }
    if (op !== "update" || SHOWN_IN_ROWS.some((name) => name in person)) store.touch("rows");
    store.touch("users");
  },

  presence(store, event) {
    const presences = event.presences ?? (event.presence ? { [event.user_id]: slim(event) } : {});
    for (const [id, presence] of Object.entries(presences)) {
      store.presences.set(Number(id), { ...store.presences.get(Number(id)), ...presence });
    }
    store.touch("presence");
  },

  user_status(store, { type: _type, id: _id, op: _op, user_id, ...changes }) {
    /** @type {Record<string, any>} */
    const status = { ...store.statuses.get(user_id) };
    for (const [name, value] of Object.entries(changes)) {
      if (value === "" || value === false || (name === "reaction_type" && changes.emoji_name === "")) delete status[name];
      else status[name] = value;
    }
    if (Object.keys(status).length > 0) store.statuses.set(user_id, status);
    else store.statuses.delete(user_id);
    store.touch("status");
  },

  muted_users(store, { muted_users }) {
    store.mutedUsers = new Set(muted_users.map((/** @type {{ id: number }} */ muted) => muted.id));
    store.touch("rows", "users");
  },
};

/** Members of the state that say the same as the own user's record.
 * @param {Store} store @param {Record<string, any>} person */
function applyToSelf({ state }, person) {
  for (const name of ["full_name", "avatar_url", "avatar_source", "avatar_url_medium", "delivery_email"]) {
    if (name in person && name in state) membersOf(state)[name] = person[name];
  }
  if (person.new_email) state.email = person.new_email;
  if (person.role !== undefined) {
    state.is_owner = person.role <= 100;
    state.is_admin = person.role <= 200;
    state.is_moderator = person.role <= 300;
    state.is_guest = person.role === GUEST;
  }
}

/** @param {Event} event */
function slim({ presence }) {
  const website = presence.website ?? presence.aggregated ?? {};
  return website.status === "active" ? { active_timestamp: website.timestamp } : { idle_timestamp: website.timestamp };
}

/** Takes over the reply to a report of one's own presence. @param {Store} store @param {any} reply */
export function applyPresences(store, reply) {
  if (typeof reply.server_timestamp === "number") store.skew = reply.server_timestamp - Date.now() / 1000;
  const presences = reply.presences ?? {};
  if (Object.keys(presences).length === 0) return;
  for (const [id, presence] of Object.entries(presences)) store.presences.set(Number(id), presence);
  store.touch("presence");
}

/** @param {Store} store @param {number} id @param {number} now UNIX seconds @returns {"active" | "idle" | "offline"} */
export function presenceOf(store, id, now) {
  if (id === store.selfId) return store.setting("presence_enabled") === false ? "offline" : "active";
  const user = store.users.get(id);
  if (user?.is_bot) return user.is_active === false ? "offline" : "active";
  const presence = store.presences.get(id);
  const since = now - (store.state.server_presence_offline_threshold_seconds ?? 200);
  if ((presence?.active_timestamp ?? 0) > since) return "active";
  return (presence?.idle_timestamp ?? 0) > since ? "idle" : "offline";
}

/** Records a typing notice. @param {Store} store @param {string} key @param {number} userId @param {boolean} isTyping */
export function setTyping(store, key, userId, isTyping) {
  if (!isTyping && !store.typing.get(key)?.has(userId)) return;
  const typists = store.typing.get(key) ?? new Map();
  if (isTyping) typists.set(userId, Date.now() + (store.state.server_typing_started_expiry_period_milliseconds ?? 45_000));
  else typists.delete(userId);
  if (typists.size > 0) store.typing.set(key, typists);
  else store.typing.delete(key);
  store.touch("typing");
}

/** Who types in a conversation now. @param {Store} store @param {string} key @returns {number[]} */
export function typistsOf(store, key) {
  const now = Date.now();
  return [...(store.typing.get(key) ?? [])].filter(([id, until]) => until > now && !store.mutedUsers.has(id)).map(([id]) => id);
}
