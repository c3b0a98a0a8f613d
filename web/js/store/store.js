/**
 * The client's copy of what the server knows: the reply to `POST /register`, changed by events. Nothing else changes it,
 * but for a few changes of one's own that are shown at once.
 *
 * Each area has a version, which views depend on: `store.on("users")` before reading `store.users`.
 * @module
 */

import { signal } from "../lib/signal.js";
import { outdateTopics, resetChannels } from "./channels.js";
import { directKey, otherIds } from "./conversations.js";
import { membersOf } from "./lists.js";
import { createMessages } from "./messages.js";
import { resetUnread } from "./unread.js";
import { resetUsers } from "./users.js";

/** @typedef {import("../../types/api.js").State} State */
/** @typedef {import("../../types/api.js").User} User */
/** @typedef {import("../../types/api.js").Channel} Channel */

/** @typedef {"realm" | "settings" | "users" | "presence" | "status" | "typing" | "channels" | "topics" | "userTopics" | "unread" |
 *   "drafts" | "scheduled" | "invites" | "attachments" | "subscribers" | "groups" | "emoji" | "outbox" | "recents" | "starred" |
 *   "edits" | "uploads" | "rows"} Area `rows` is what all rows of messages show of people and settings. */

/** When a person was here, in UNIX seconds. @typedef {{ active_timestamp?: number, idle_timestamp?: number }} Presence */

/** @typedef {ReturnType<typeof createStore>} Store */

export function createStore() {
  /** @type {Map<Area, import("../lib/signal.js").Signal<number>>} */
  const versions = new Map();
  /** @param {Area} area */
  const version = (area) => {
    const found = versions.get(area) ?? signal(0);
    versions.set(area, found);
    return found;
  };
  const store = {
    /** The reply to `POST /register`, without what has a place of its own below. @type {State} */
    state: /** @type {State} */ ({}),
    /** Counts registrations: what was fetched before the latest may be out of date. */
    generation: signal(0),
    selfId: 0,
    /** Whether the state is the copy of an earlier one, since the server cannot be reached. */
    isFromStorage: false,
    /** Whether the user reads without an account. */
    isVisitor: false,
    /** All users, also deactivated ones and bots. @type {Map<number, User>} */
    users: new Map(),
    /** @type {Map<number, Presence>} */
    presences: new Map(),
    /** @type {Map<number, import("../../types/api.js").Status>} */
    statuses: new Map(),
    /** @type {Set<number>} */
    mutedUsers: new Set(),
    /** Who types, by conversation: user ids and when that expires. @type {Map<string, Map<number, number>>} */
    typing: new Map(),
    /** All channels that the user may see. @type {Map<number, Channel>} */
    channels: new Map(),
    /** Channels that the user has joined since the page was opened. @type {Set<number>} */
    joined: new Set(),
    /** The people of channels whose list was fetched. @type {Map<number, Set<number>>} */
    subscribers: new Map(),
    /** Visibility policies, by conversation. @type {Map<string, number>} */
    userTopics: new Map(),
    /** The topics of channels whose list was fetched, the newest message first. @type {Map<number, { name: string, max_id: number }[]>} */
    topics: new Map(),
    /** Channels whose list of topics is shown until a newer one was fetched. @type {Set<number>} */
    outdatedTopics: new Set(),
    /** Direct conversations and the id of their newest message. @type {Map<string, { user_ids: number[], max_id: number }>} */
    directs: new Map(),
    /** Ids of unread messages, by conversation. @type {Map<string, Set<number>>} */
    unread: new Map(),
    /** The conversation of each unread message. @type {Map<number, string>} */
    unreadOf: new Map(),
    /** Unread messages that mention the user. @type {Set<number>} */
    mentions: new Set(),
    /** Whether there are older unread messages, of which the server has sent none. */
    hasOlderUnread: false,
    /** @type {Set<number>} */
    starred: new Set(),
    messages: createMessages(),
    /** Depends on areas. Returns a number that grows with each change of one of them. @param {Area[]} areas */
    on: (...areas) => areas.reduce((sum, area) => sum + version(area).value, 0),
    /** @param {Area[]} areas */
    touch: (...areas) => {
      for (const area of areas) {
        const found = version(area);
        found.value = found.peek() + 1;
      }
    },
    /** How far the server's clock is ahead of this one, in seconds. */
    skew: 0,
    /** The server's time, UNIX seconds. */
    now: () => Date.now() / 1000 + store.skew,
    /** @returns {User} */
    get self() {
      return /** @type {User} */ (store.users.get(store.selfId));
    },
    /** Whether the user wants times as 14:30, not as 2:30 PM. @returns {boolean} */
    get is24Hours() {
      return Boolean(store.setting("twenty_four_hour_time"));
    },
    /** A setting of the user. @template {keyof import("../../types/api.js").UserSettings} Name @param {Name} name */
    setting: (name) => store.state.user_settings?.[name],
  };
  return store;
}

/** Takes over a new state. What depends on nothing but the state is replaced as a whole.
 * @param {Store} store @param {State} state */
export function reset(store, state) {
  store.state = state;
  store.isFromStorage = false;
  store.selfId = state.user_id;
  store.isVisitor = state.queue_id === null;
  if (typeof state.server_timestamp === "number") store.skew = state.server_timestamp - Date.now() / 1000;
  resetUsers(store, state);
  resetChannels(store, state);
  resetUnread(store, state);
  store.starred = new Set(state.starred_messages ?? []);
  for (const id of store.topics.keys()) outdateTopics(store, id);
  store.subscribers.clear();
  store.typing.clear();
  store.directs = new Map();
  for (const { user_ids, max_message_id } of state.recent_private_conversations ?? []) {
    store.directs.set(directKey(store, user_ids), { user_ids: otherIds(store, user_ids), max_id: max_message_id });
  }
  for (const part of TAKEN) delete membersOf(state)[part];
  store.messages.markStale();
  store.generation.value = store.generation.peek() + 1;
  store.touch(
    "realm",
    "settings",
    "rows",
    "users",
    "presence",
    "status",
    "typing",
    "channels",
    "subscribers",
    "topics",
    "userTopics",
    "unread",
    "drafts",
    "scheduled",
    "invites",
    "groups",
    "emoji",
    "recents",
    "starred",
  );
}

/** Parts of the state that live elsewhere. */
const TAKEN = [
  "realm_users",
  "realm_non_active_users",
  "cross_realm_bots",
  "presences",
  "user_status",
  "muted_users",
  "subscriptions",
  "unsubscribed",
  "never_subscribed",
  "user_topics",
  "unread_msgs",
  "starred_messages",
  "recent_private_conversations",
];
