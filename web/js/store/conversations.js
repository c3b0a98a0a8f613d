/**
 * Conversations: the keys under which the store has what belongs to a topic or to a group of people.
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

/** What the names of resolved topics begin with. */
const RESOLVED = "✔ ";

/** @param {string} topic */
export const isResolvedTopic = (topic) => topic.startsWith(RESOLVED);

/** The name of a topic without the mark of resolved ones. @param {string} topic */
export const plainTopic = (topic) => (isResolvedTopic(topic) ? topic.slice(RESOLVED.length) : topic);

/** The name that a topic gets when it is resolved, or no longer is. @param {string} topic */
export const toggledResolved = (topic) => (isResolvedTopic(topic) ? topic.replace(/^✔ [ ✔]*/, "") : RESOLVED + topic);

/** Topics as people write them, by key. @type {Map<string, string>} */
const spellings = new Map();

/** Notes how a topic is written. @param {number} streamId @param {string} topic @returns {string} its key */
export function noteTopic(streamId, topic) {
  const key = topicKey(streamId, topic);
  spellings.set(key, topic);
  return key;
}

/** A topic as it was noted. @param {string} key @returns {{ streamId: number, topic: string }} */
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
