/**
 * Conversations: the keys of topics and of groups of people in the store.
 * @module
 */

/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {{ selfId: number }} Self Who the user is. */

/** The key of a direct conversation. @param {Self} store @param {number[]} userIds */
export function directKey(store, userIds) {
  return `dm/${otherIds(store, userIds).join(",")}`;
}

/** The people of a direct conversation without oneself, or oneself alone, ascending.
 * @param {Self} store @param {number[]} userIds @returns {number[]} */
export function otherIds(store, userIds) {
  const others = [...new Set(userIds)].filter((id) => id !== store.selfId).sort((a, b) => a - b);
  return others.length > 0 ? others : [store.selfId];
}

/** The key of a topic. Topics whose names differ in case alone are the same. @param {number} streamId @param {string} topic */
export function topicKey(streamId, topic) {
  return `channel/${streamId}/${topic.toLowerCase()}`;
}

/** The prefix of resolved topics. */
const RESOLVED = "✔ ";

/** @param {string} topic */
export const isResolvedTopic = (topic) => topic.startsWith(RESOLVED);

/** The name of a topic without the mark of resolved ones. @param {string} topic */
export const plainTopic = (topic) => (isResolvedTopic(topic) ? topic.slice(RESOLVED.length) : topic);

/** The name of a topic after it is resolved, or unresolved. @param {string} topic */
export const toggledResolved = (topic) => (isResolvedTopic(topic) ? topic.replace(/^✔ [ ✔]*/, "") : RESOLVED + topic);

/** The spelling of topics, by key. @type {Map<string, string>} */
const spellings = new Map();

/** Stores the spelling of a topic. @param {number} streamId @param {string} topic @returns {string} its key */
export function noteTopic(streamId, topic) {
  const key = topicKey(streamId, topic);
  spellings.set(key, topic);
  return key;
}

/** The topic of a key, in the stored spelling. @param {string} key @returns {{ streamId: number, topic: string }} */
export function topicOfKey(key) {
  const [, streamId, ...rest] = key.split("/");
  return { streamId: Number(streamId), topic: spellings.get(key) ?? rest.join("/") };
}

/** The conversation that a reply to a message goes to. @param {Self} store @param {Message} message @returns {import("./outbox.js").Destination} */
export const destinationOf = (store, message) =>
  message.type === "stream"
    ? { type: "stream", to: [Number(message.stream_id)], topic: message.subject }
    : { type: "direct", to: otherIds(store, recipientIds(message)), topic: "" };

/** The conversation that a message is in. @param {Self} store @param {Message} message */
export function conversationKey(store, message) {
  if (message.type === "stream") return topicKey(Number(message.stream_id), message.subject);
  return directKey(store, recipientIds(message));
}

/** The people who got a direct message, oneself included. @param {Message} message @returns {number[]} */
export function recipientIds(message) {
  return Array.isArray(message.display_recipient) ? message.display_recipient.map((user) => user.id) : [];
}
