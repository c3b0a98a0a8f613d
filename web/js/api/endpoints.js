/**
 * The operations of the interface that the client needs from its start, by the names of its documentation.
 * @module
 */

import { parseUrl } from "../lib/parse.js";
import { del, endOwnSession, get, isVisitor, patch, post, request } from "./client.js";

/** @typedef {import("./client.js").Params} Params */
/** @typedef {import("../../types/api.js").Message} Message */

const CAPABILITIES = {
  notification_settings_null: true,
  bulk_message_deletion: true,
  user_avatar_url_field_optional: false,
  stream_typing_notifications: true,
  user_settings_object: true,
  linkifier_url_template: true,
  user_list_incomplete: true,
  include_deactivated_groups: true,
  archived_channels: true,
  empty_topic_name: true,
};

/** The parts of the state that the client shows. `stream` is not among them: `subscription` has every channel, too. What is
 * unread takes `message` and `update_message_flags`. */
const STATE = [
  "alert_words",
  "channel_folders",
  "custom_profile_fields",
  "default_streams",
  "drafts",
  "message",
  "muted_users",
  "navigation_views",
  "presence",
  "realm",
  "realm_bot",
  "realm_domains",
  "realm_emoji",
  "realm_linkifiers",
  "realm_playgrounds",
  "realm_user",
  "realm_user_groups",
  "realm_user_settings_defaults",
  "recent_private_conversations",
  "reminders",
  "saved_snippets",
  "scheduled_messages",
  "starred_messages",
  "subscription",
  "update_message_flags",
  "user_settings",
  "user_status",
  "user_topic",
];

/** The parameters of `POST /register`: all events, and the parts of the state that the client shows. */
export const REGISTRATION = {
  apply_markdown: true,
  client_gravatar: false,
  slim_presence: true,
  include_subscribers: false,
  presence_history_limit_days: 14,
  client_capabilities: CAPABILITIES,
  fetch_event_types: STATE,
};

/** Replies to requests that were sent before the client was loaded, by request. @type {Map<string, Promise<any>>} */
const early = new Map();

/** Keeps the reply to a request that was sent before the client was loaded, until the client sends the same request. @param {string} key @param {Promise<unknown>} reply */
function askEarly(key, reply) {
  early.set(key, reply);
  // The client repeats the request then.
  reply.catch(() => early.delete(key));
}

/** Removes and returns the reply to an early request. @param {string} key */
function takeEarly(key) {
  const reply = early.get(key);
  early.delete(key);
  return reply;
}

/** Aborts the early registration. */
const earlyRegistration = new AbortController();

export const registerEarly = () => askEarly("register", post("/register", REGISTRATION, { signal: earlyRegistration.signal }));

/** @param {AbortSignal} signal @returns {Promise<import("../../types/api.js").State>} */
export function register(signal) {
  signal.addEventListener("abort", () => earlyRegistration.abort());
  return takeEarly("register") ?? post("/register", REGISTRATION, { signal });
}

/** How many messages are fetched before and after an anchor. */
const BEFORE = 60;
const AFTER = 150;

/** The parameters for the messages around an anchor. @param {import("../../types/api.js").Term[]} narrow @param {string | number} anchor @returns {Params} */
export const messagesAround = (narrow, anchor) => ({
  narrow,
  anchor: String(anchor),
  num_before: anchor === "oldest" ? 0 : BEFORE,
  num_after: anchor === "newest" ? 0 : AFTER,
});

/** @param {Params} params @param {AbortSignal} signal */
export const getEvents = (params, signal) => get("/events", params, { signal });
/** @param {string} queue_id */
export const deleteQueue = (queue_id) => del("/events", { queue_id }, { keepalive: true });

export const serverSettings = () => request("GET", "/api/v1/server_settings");
/** @param {string} username @param {string} password */
export const logIn = (username, password) => request("POST", "/accounts/login/", { username, password });
export const logOut = () => endOwnSession("/accounts/logout/");

// Messages

/** Visitors have to name the channels that they may read. @param {Params} params @returns {Promise<import("../../types/api.js").Messages>} */
async function fetchMessages(params) {
  const narrow = isVisitor() ? [...(params.narrow ?? []), { operator: "channels", operand: "web-public" }] : params.narrow;
  const form = { apply_markdown: true, client_gravatar: false, allow_empty_topic_name: true, ...params, narrow };
  const { messages, ...reply } = await get("/messages", form);
  return { ...reply, messages: /** @type {Message[]} */ (messages) };
}

/** @param {Params} params */
export const getMessagesEarly = (params) => askEarly(JSON.stringify(params), fetchMessages(params));

/** Messages. `isEarly`: they may be older than the state, so that events about them are missed. @param {Params} params */
export async function getMessages(params) {
  const reply = await takeEarly(JSON.stringify(params))?.catch(() => null);
  return reply ? { ...reply, isEarly: true } : fetchMessages(params);
}
/** @param {number} id @param {boolean} [apply_markdown] */
export async function getMessage(id, apply_markdown = true) {
  const { message } = await get(`/messages/${id}`, { apply_markdown, allow_empty_topic_name: true });
  return { message: /** @type {Message} */ (message) };
}
/** The time limit of small requests that others wait for, in milliseconds. Browsers notice late that a connection is dead. */
const REQUEST_TIMEOUT = 30_000;

/** Options of such a request: it fails after this time, and is sent again. */
const withinTime = () => ({ signal: AbortSignal.timeout(REQUEST_TIMEOUT) });

/** @param {Params} params */
export const sendMessage = (params) => post("/messages", params, withinTime());
/** @param {number} id */
export const deleteMessage = (id) => del(`/messages/${id}`, {}, { keepalive: true });
/** @param {string} content */
export const renderMessage = (content) => post("/messages/render", { content });
/** The most messages of a request that outlives the page: browsers refuse a `keepalive` request of more than 64 KiB. */
const MAX_KEPT_ALIVE = 1000;

/** @param {number[]} messages @param {"add" | "remove"} op @param {string} flag */
export const updateFlags = (messages, op, flag) =>
  post("/messages/flags", { messages, op, flag }, { keepalive: messages.length <= MAX_KEPT_ALIVE, ...withinTime() });
/** @param {Params} params */
export const updateFlagsForNarrow = (params) => post("/messages/flags/narrow", params);
/** @param {number} id @param {Params} emoji */
export const addReaction = (id, emoji) => post(`/messages/${id}/reactions`, emoji);
/** @param {number} id @param {Params} emoji */
export const removeReaction = (id, emoji) => del(`/messages/${id}/reactions`, emoji);
/** @param {number} message_id @param {unknown} content */
export const submessage = (message_id, content) =>
  post("/submessage", { message_id, msg_type: "widget", content: JSON.stringify(content) });
/** @param {Params} params */
export const sendTyping = (params) => post("/typing", params);

// Drafts

/** @param {Params[]} drafts */
export const createDrafts = (drafts) => post("/drafts", { drafts }, withinTime());
/** @param {number} id @param {Params} draft */
export const editDraft = (id, draft) => patch(`/drafts/${id}`, { draft }, withinTime());
/** @param {number} id */
export const deleteDraft = (id) => del(`/drafts/${id}`, {}, withinTime());

// Channels and topics

/** @param {Params} params */
export const subscribe = (params) => post("/users/me/subscriptions", params);
/** @param {number} id */
export const channelMembers = (id) => get(`/streams/${id}/members`);
/** @param {number} id */
export const channelTopics = (id) => get(`/users/me/${id}/topics`, { allow_empty_topic_name: true });

// People

/** @param {Params} params */
export const updatePresence = (params) => post("/users/me/presence", params);
/** @param {Params} params */
export const updateSettings = (params) => patch("/settings", params);

/** The names of Unicode emoji by code. @param {string} url @returns {Promise<{ code_to_names: Record<string, string[]> }>} */
export const emojiData = (url) => request("GET", parseUrl(url)?.pathname ?? url);
