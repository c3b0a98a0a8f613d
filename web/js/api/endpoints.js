/**
 * The operations of the interface that the client uses, by the names of its documentation.
 * @module
 */

import { parseUrl } from "../lib/parse.js";
import { del, get, patch, post, request } from "./client.js";

/** @typedef {import("./client.js").Params} Params */
/** @typedef {import("../../types/api.js").Term} Term */

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

/** What is registered: all events, and the state from which they go on. */
export const REGISTRATION = {
  apply_markdown: true,
  client_gravatar: false,
  slim_presence: true,
  include_subscribers: false,
  presence_history_limit_days: 14,
  client_capabilities: CAPABILITIES,
  fetch_event_types: STATE,
};

/** @returns {Promise<import("../../types/api.js").State>} */
export const register = () => post("/register", REGISTRATION);

/** @param {Params} params @param {AbortSignal} signal */
export const getEvents = (params, signal) => get("/events", params, { signal });
/** @param {string} queue_id */
export const deleteQueue = (queue_id) => del("/events", { queue_id }, { keepalive: true });

export const serverSettings = () => request("GET", "/api/v1/server_settings");
/** @param {string} username @param {string} password */
export const logIn = (username, password) => request("POST", "/accounts/login/", { username, password });
export const logOut = () => request("POST", "/accounts/logout/");
export const listKeys = () => get("/users/me/api_keys");
/** @param {number} id */
export const revokeKey = (id) => del(`/users/me/api_keys/${id}`);
/** @param {number} id */
export const endSession = (id) => del(`/users/me/sessions/${id}`);
export const revokeOtherKeys = () => post("/users/me/api_keys/revoke_others");

// Messages

/** @param {Params} params @param {AbortSignal} [signal] */
export const getMessages = (params, signal) =>
  get("/messages", { apply_markdown: true, client_gravatar: false, allow_empty_topic_name: true, ...params }, { signal });
/** @param {number} id @param {boolean} [apply_markdown] */
export const getMessage = (id, apply_markdown = true) => get(`/messages/${id}`, { apply_markdown, allow_empty_topic_name: true });
/** @param {Params} params */
export const sendMessage = (params) => post("/messages", params);
/** @param {number} id @param {Params} params */
export const updateMessage = (id, params) => patch(`/messages/${id}`, params);
/** @param {number} id */
export const deleteMessage = (id) => del(`/messages/${id}`);
/** @param {number} id */
export const messageHistory = (id) => get(`/messages/${id}/history`, { allow_empty_topic_name: true });
/** @param {number} id */
export const readReceipts = (id) => get(`/messages/${id}/read_receipts`);
/** @param {string} content */
export const renderMessage = (content) => post("/messages/render", { content });
/** @param {number[]} messages @param {"add" | "remove"} op @param {string} flag */
export const updateFlags = (messages, op, flag) => post("/messages/flags", { messages, op, flag });
/** @param {Params} params */
export const updateFlagsForNarrow = (params) => post("/messages/flags/narrow", params);
/** @param {number[]} msg_ids @param {Term[]} narrow */
export const matchesNarrow = (msg_ids, narrow) => get("/messages/matches_narrow", { msg_ids, narrow });
/** @param {number} id @param {Params} emoji */
export const addReaction = (id, emoji) => post(`/messages/${id}/reactions`, emoji);
/** @param {number} id @param {Params} emoji */
export const removeReaction = (id, emoji) => del(`/messages/${id}/reactions`, emoji);
/** @param {number} message_id @param {unknown} content */
export const submessage = (message_id, content) =>
  post("/submessage", { message_id, msg_type: "widget", content: JSON.stringify(content) });
/** @param {number} id @param {Params} params */
export const reportMessage = (id, params) => post(`/messages/${id}/report`, params);
/** @param {Params} params */
export const sendTyping = (params) => post("/typing", params);

// Drafts, scheduled messages, reminders

/** @param {Params[]} drafts */
export const createDrafts = (drafts) => post("/drafts", { drafts });
/** @param {number} id @param {Params} draft */
export const editDraft = (id, draft) => patch(`/drafts/${id}`, { draft });
/** @param {number} id */
export const deleteDraft = (id) => del(`/drafts/${id}`);
/** @param {Params} params */
export const scheduleMessage = (params) => post("/scheduled_messages", params);
/** @param {number} id @param {Params} params */
export const editScheduled = (id, params) => patch(`/scheduled_messages/${id}`, params);
/** @param {number} id */
export const deleteScheduled = (id) => del(`/scheduled_messages/${id}`);
/** @param {Params} params */
export const createReminder = (params) => post("/reminders", params);
/** @param {number} id */
export const deleteReminder = (id) => del(`/reminders/${id}`);

// Channels and topics

/** @param {Params} params */
export const subscribe = (params) => post("/users/me/subscriptions", params);
/** @param {Params} params */
export const unsubscribe = (params) => del("/users/me/subscriptions", params);
/** @param {number} stream_id @param {string} property @param {unknown} value */
export const updateSubscription = (stream_id, property, value) =>
  post("/users/me/subscriptions/properties", { subscription_data: [{ stream_id, property, value }] });
/** @param {number} id @param {Params} params */
export const updateChannel = (id, params) => patch(`/streams/${id}`, params);
/** @param {number} id */
export const archiveChannel = (id) => del(`/streams/${id}`);
/** @param {Params} params */
export const createChannel = (params) => post("/channels/create", params);
/** @param {number} id */
export const channelMembers = (id) => get(`/streams/${id}/members`);
/** @param {number} id */
export const channelTopics = (id) => get(`/users/me/${id}/topics`, { allow_empty_topic_name: true });
/** @param {number} stream_id @param {string} topic_name */
export const deleteTopic = (stream_id, topic_name) => post(`/streams/${stream_id}/delete_topic`, { topic_name });
/** @param {number} stream_id @param {string} topic @param {number} visibility_policy */
export const updateUserTopic = (stream_id, topic, visibility_policy) => post("/user_topics", { stream_id, topic, visibility_policy });

// People

/** @param {Params} params */
export const updatePresence = (params) => post("/users/me/presence", params);
/** @param {Params} params */
export const updateStatus = (params) => post("/users/me/status", params);
/** @param {number} id @param {boolean} isMuted */
export const muteUser = (id, isMuted) => (isMuted ? post : del)(`/users/me/muted_users/${id}`);
/** @param {Params} params */
export const updateSettings = (params) => patch("/settings", params);
/** @param {Params[]} data */
export const updateProfileData = (data) => patch("/users/me/profile_data", { data });
export const deleteAvatar = () => del("/users/me/avatar");
/** @param {number} id @param {Params} params */
export const updateUser = (id, params) => patch(`/users/${id}`, params);
/** @param {number} id */
export const deactivateUser = (id) => del(`/users/${id}`);
/** @param {number} id */
export const reactivateUser = (id) => post(`/users/${id}/reactivate`);
/** Makes a link with which a person sets a new password. @param {number} id */
export const createPasswordLink = (id) => post(`/users/${id}/password_reset`);
/** @param {string[]} words */
export const addAlertWords = (words) => post("/users/me/alert_words", { alert_words: words });
/** @param {string[]} words */
export const removeAlertWords = (words) => del("/users/me/alert_words", { alert_words: words });
export const attachments = () => get("/attachments");
/** @param {number} id */
export const deleteAttachment = (id) => del(`/attachments/${id}`);

// Bots

/** @param {Params} params */
export const createBot = (params) => post("/bots", params);
/** @param {number} id @param {Params} params */
export const updateBot = (id, params) => patch(`/bots/${id}`, params);
/** @param {number} id */
export const deleteBot = (id) => del(`/bots/${id}`);
/** @param {number} id */
export const regenerateBotKey = (id) => post(`/bots/${id}/api_key/regenerate`);

// The organization

/** @param {Params} params */
export const updateRealm = (params) => patch("/realm", params);
export const listInvites = () => get("/invites");
/** @param {Params} params */
export const createInviteLink = (params) => post("/invites/multiuse", params);
/** @param {number} id @param {boolean} isMultiuse */
export const revokeInvite = (id, isMultiuse) => del(isMultiuse ? `/invites/multiuse/${id}` : `/invites/${id}`);
/** @param {Params} params */
export const createGroup = (params) => post("/user_groups/create", params);
/** @param {number} id @param {Params} params */
export const updateGroup = (id, params) => patch(`/user_groups/${id}`, params);
/** @param {number} id @param {Params} params */
export const updateGroupMembers = (id, params) => post(`/user_groups/${id}/members`, params);
/** @param {number} id */
export const deactivateGroup = (id) => post(`/user_groups/${id}/deactivate`);
/** @param {Params} params */
export const createProfileField = (params) => post("/realm/profile_fields", params);
/** @param {number} id @param {Params} params */
export const updateProfileField = (id, params) => patch(`/realm/profile_fields/${id}`, params);
/** @param {number[]} order */
export const reorderProfileFields = (order) => patch("/realm/profile_fields", { order });
/** @param {number} id */
export const deleteProfileField = (id) => del(`/realm/profile_fields/${id}`);
/** @param {Params} params */
export const createLinkifier = (params) => post("/realm/filters", params);
/** @param {number} id */
export const deleteLinkifier = (id) => del(`/realm/filters/${id}`);
/** @param {number[]} ordered_linkifier_ids */
export const reorderLinkifiers = (ordered_linkifier_ids) => patch("/realm/linkifiers", { ordered_linkifier_ids });
/** @param {Params} params */
export const createPlayground = (params) => post("/realm/playgrounds", params);
/** @param {number} id */
export const deletePlayground = (id) => del(`/realm/playgrounds/${id}`);
/** @param {Params} params */
export const updateDefaults = (params) => patch("/realm/user_settings_defaults", params);
/** @param {number} stream_id @param {boolean} isDefault */
export const setDefaultChannel = (stream_id, isDefault) => (isDefault ? post : del)("/default_streams", { stream_id });
/** @param {string} name */
export const deleteEmoji = (name) => del(`/realm/emoji/${encodeURIComponent(name)}`);
/** @param {Params} params */
export const createFolder = (params) => post("/channel_folders/create", params);
/** @param {number} id @param {Params} params */
export const updateFolder = (id, params) => patch(`/channel_folders/${id}`, params);
/** @param {number[]} order */
export const reorderFolders = (order) => patch("/channel_folders", { order });

/** The names of Unicode emoji by code. @param {string} url @returns {Promise<{ code_to_names: Record<string, string[]> }>} */
export const emojiData = (url) => request("GET", parseUrl(url)?.pathname ?? url);
