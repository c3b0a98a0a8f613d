/**
 * The operations of the interface that dialogs, menus and settings need, beside those of `endpoints.js`.
 * @module
 */

import { del, get, patch, post, request } from "./client.js";
import { deleteQueue } from "./endpoints.js";

/** @typedef {import("./client.js").Params} Params */

export const listKeys = () => get("/users/me/api_keys");
/** @param {number} id */
export const revokeKey = (id) => del(`/users/me/api_keys/${id}`);
/** @param {number} id */
export const endSession = (id) => del(`/users/me/sessions/${id}`);
export const revokeOtherKeys = () => post("/users/me/api_keys/revoke_others");
/** @param {number} limit @param {number} [before_id] */
export const auditLog = (limit, before_id) => get("/audit_log", { limit, before_id });

// Messages

/** @param {number} id @param {Params} params */
export const updateMessage = (id, params) => patch(`/messages/${id}`, params);
/** @param {number} id */
export const messageHistory = (id) => get(`/messages/${id}/history`, { allow_empty_topic_name: true });
/** @param {number} id */
export const readReceipts = (id) => get(`/messages/${id}/read_receipts`);
/** @param {number} id @param {Params} params */
export const reportMessage = (id, params) => post(`/messages/${id}/report`, params);

// Drafts, scheduled messages, reminders

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

/** @param {Params} params */
export const createSnippet = (params) => post("/saved_snippets", params);
/** @param {number} id @param {Params} params */
export const updateSnippet = (id, params) => patch(`/saved_snippets/${id}`, params);
/** @param {number} id */
export const deleteSnippet = (id) => del(`/saved_snippets/${id}`);

// Channels and topics

/** @param {Params} params */
export const unsubscribe = (params) => del("/users/me/subscriptions", params);
/** @param {number} stream_id @param {string} property @param {unknown} value */
export const updateSubscription = (stream_id, property, value) =>
  post("/users/me/subscriptions/properties", { subscription_data: [{ stream_id, property, value }] });
/** @param {number} id @param {Params} params */
export const updateChannel = (id, params) => patch(`/streams/${id}`, params);
/** The secret address for mail to the channel; empty if the server receives none. @param {number} id */
export const channelEmail = (id) => get(`/streams/${id}/email_address`);
/** @param {number} id */
export const archiveChannel = (id) => del(`/streams/${id}`);
/** @param {Params} params */
export const createChannel = (params) => post("/channels/create", params);
/** @param {number} stream_id @param {string} topic_name */
export const deleteTopic = (stream_id, topic_name) => post(`/streams/${stream_id}/delete_topic`, { topic_name });
/** @param {number} stream_id @param {string} topic @param {number} visibility_policy */
export const updateUserTopic = (stream_id, topic, visibility_policy) => post("/user_topics", { stream_id, topic, visibility_policy });

// People

/** @param {Params} params */
export const updateStatus = (params) => post("/users/me/status", params);
/** @param {number} id @param {boolean} isMuted */
export const muteUser = (id, isMuted) => (isMuted ? post : del)(`/users/me/muted_users/${id}`);
/** @param {Params[]} data */
export const updateProfileData = (data) => patch("/users/me/profile_data", { data });
/** Makes a key for a program. @param {string} username @param {string} password @returns {Promise<{ api_key: string }>} */
export const fetchKey = (username, password) => request("POST", "/api/v1/fetch_api_key", { username, password });
export const closeAccount = () => del("/users/me");
export const deleteAvatar = () => del("/users/me/avatar");
/** @param {number} id @param {Params} params */
export const updateUser = (id, params) => patch(`/users/${id}`, params);
/** Makes an account with a password. @param {Params} params */
export const createUser = (params) => post("/users", params);
/** @param {number} id @param {Params} params */
export const updateStatusOf = (id, params) => post(`/users/${id}/status`, params);
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
/** A part of the state that is not kept here. @param {string} part @param {Params} [params] */
async function partOfState(part, params) {
  const { queue_id, ...state } = await post("/register", { fetch_event_types: [part], event_types: ["restart"], ...params });
  if (queue_id) void deleteQueue(queue_id).catch(() => {});
  return state;
}
/** The channels of a person, of those whose people the user may see. @param {number} id @returns {Promise<number[]>} */
export async function channelsOf(id) {
  const { subscriptions = [], unsubscribed = [], never_subscribed = [] } = await partOfState("subscription", { include_subscribers: true });
  const all = [...subscriptions, ...unsubscribed, ...never_subscribed];
  return all.flatMap(({ stream_id, subscribers }) => (subscribers?.includes(id) ? [stream_id] : []));
}
export const attachments = () => get("/attachments");
/** @param {number} id */
export const deleteAttachment = (id) => del(`/attachments/${id}`);

/** Adds a view to the left column, or says that one is left out. @param {Params} params */
export const addView = (params) => post("/navigation_views", params);
/** @param {string} fragment @param {Params} params */
export const updateView = (fragment, params) => patch(`/navigation_views/${encodeURIComponent(fragment)}`, params);
/** @param {string} fragment */
export const removeView = (fragment) => del(`/navigation_views/${encodeURIComponent(fragment)}`);

// Bots

/** The programs whose webhooks the server understands. @returns {Promise<import("../../types/api.js").Integration[]>} */
export async function integrations() {
  const part = "realm_incoming_webhook_bots";
  return (await partOfState(part))[part] ?? [];
}
/** @param {Params} params */
export const createBot = (params) => post("/bots", params);
/** @param {number} id @param {Params} params */
export const updateBot = (id, params) => patch(`/bots/${id}`, params);
/** @param {number} id @returns {Promise<{ api_key: string }>} */
export const botKey = (id) => get(`/bots/${id}/api_key`);
/** @param {number} id */
export const deleteBot = (id) => del(`/bots/${id}`);
/** @param {number} id */
export const regenerateBotKey = (id) => post(`/bots/${id}/api_key/regenerate`);

// The organization

/** Limits are JSON, also the word `unlimited`. @param {string} name */
const isLimit = (name) => name.endsWith("_limit_seconds") || name === "message_retention_days";

/** @param {Params} params */
export const updateRealm = (params) =>
  patch("/realm", Object.fromEntries(Object.entries(params).map(([name, value]) => [name, isLimit(name) ? JSON.stringify(value) : value])));
/** Removes the icon or a logo. @param {string} path @param {Params} params */
export const removePicture = (path, params) => del(path, params);
/** Sends the text to the user, as the Welcome Bot sends it to new people. @param {string} welcome_message_custom_text */
export const testWelcomeMessage = (welcome_message_custom_text) =>
  post("/realm/test_welcome_bot_custom_message", { welcome_message_custom_text });
/** @param {number} id */
export const resendInvite = (id) => post(`/invites/${id}/resend`);
export const closeOrganization = () => post("/realm/deactivate");
export const listInvites = () => get("/invites");
/** @param {Params} params */
export const createInviteLink = (params) => post("/invites/multiuse", params);
/** Invites people by their email addresses, each with a link of their own. @param {Params} params */
export const inviteByEmail = (params) => post("/invites", params);
/** @param {Params} params */
export const addDomain = (params) => post("/realm/domains", params);
/** @param {string} domain @param {boolean} allow_subdomains */
export const updateDomain = (domain, allow_subdomains) => patch(`/realm/domains/${encodeURIComponent(domain)}`, { allow_subdomains });
/** @param {string} domain */
export const removeDomain = (domain) => del(`/realm/domains/${encodeURIComponent(domain)}`);
/** @param {number} id @param {boolean} isMultiuse */
export const revokeInvite = (id, isMultiuse) => del(isMultiuse ? `/invites/multiuse/${id}` : `/invites/${id}`);
/** @param {Params} params */
export const createGroup = (params) => post("/user_groups/create", params);
/** @param {number} id @param {Params} params */
export const updateGroup = (id, params) => patch(`/user_groups/${id}`, params);
/** @param {number} id @param {Params} params */
export const updateGroupMembers = (id, params) => post(`/user_groups/${id}/members`, params);
/** @param {number} id @param {Params} params */
export const updateSubgroups = (id, params) => post(`/user_groups/${id}/subgroups`, params);
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
export const listExports = () => get("/export/realm");
export const listExportConsents = () => get("/export/realm/consents");
/** @param {number} export_type */
export const startExport = (export_type) => post("/export/realm", { export_type });
/** @param {number} id */
export const deleteExport = (id) => del(`/export/realm/${id}`);
/** @param {Params} params */
export const createLinkifier = (params) => post("/realm/filters", params);
/** @param {number} id */
export const deleteLinkifier = (id) => del(`/realm/filters/${id}`);
/** @param {number} id @param {Params} params */
export const updateLinkifier = (id, params) => patch(`/realm/filters/${id}`, params);
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
/** The server's key for Web Push, and this session's subscription. */
export const webPush = () => get("/users/me/web_push");
/** @param {Params} params */
export const subscribeWebPush = (params) => post("/users/me/web_push", params);
export const unsubscribeWebPush = () => del("/users/me/web_push");
/** @param {number[]} order */
export const reorderFolders = (order) => patch("/channel_folders", { order });
