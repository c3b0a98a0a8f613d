/**
 * Channels, subscriptions, topics and their visibility.
 * @module
 */

import { computedOf } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { noteTopic, topicKey } from "./conversations.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("../../types/api.js").State} State */
/** @typedef {import("../../types/api.js").Event} Event */
/** @typedef {import("../../types/api.js").Channel} Channel */

/** Policies of `user_topics`. */
export const INHERIT = 0;
export const MUTED = 1;
export const UNMUTED = 2;
export const FOLLOWED = 3;

/** Members of a subscription that a channel without one lacks. */
const DEFAULTS = { subscribed: false, color: "#76ce90", pin_to_top: false, is_muted: false };

/** @param {Store} store @param {State} state */
export function resetChannels(store, state) {
  store.channels = new Map();
  for (const channel of state.never_subscribed ?? []) store.channels.set(channel.stream_id, { ...DEFAULTS, ...channel });
  for (const channel of state.unsubscribed ?? []) store.channels.set(channel.stream_id, { ...DEFAULTS, ...channel, subscribed: false });
  for (const channel of state.subscriptions ?? []) store.channels.set(channel.stream_id, { ...DEFAULTS, ...channel, subscribed: true });
  store.userTopics = new Map();
  for (const topic of state.user_topics ?? []) {
    store.userTopics.set(noteTopic(topic.stream_id, topic.topic_name), topic.visibility_policy);
  }
}

/** @param {Store} store @param {number} id @returns {Channel} A stand-in for a channel that cannot be seen. */
export function channelOf(store, id) {
  const found = store.channels.get(id);
  if (found) return found;
  const nothing = { name: t("unknown channel"), description: "", rendered_description: "", invite_only: true };
  return { ...DEFAULTS, ...nothing, stream_id: id, is_web_public: false, is_archived: false };
}

/** @param {Store} store @param {string} name @returns {Channel | undefined} */
export function channelByName(store, name) {
  const wanted = name.toLowerCase();
  return [...store.channels.values()].find((channel) => channel.name.toLowerCase() === wanted);
}

/** The channels that are not archived. @param {Store} store @returns {Channel[]} */
export const openChannels = (store) => [...store.channels.values()].filter((channel) => !channel.is_archived);

/** The channels of the user, by name. @param {Store} store @returns {Channel[]} */
export const subscribedChannels = (store) =>
  openChannels(store)
    .filter((channel) => channel.subscribed)
    .sort((a, b) => a.name.localeCompare(b.name));

/** @param {Store} store @param {number} streamId @param {string} topic @returns {number} */
export const policyOf = (store, streamId, topic) => store.userTopics.get(topicKey(streamId, topic)) ?? INHERIT;

/** Whether a topic is dimmed and does not count. @param {Store} store @param {number} streamId @param {string} topic */
export const isTopicMuted = (store, streamId, topic) => isMutedBy(policyOf(store, streamId, topic), channelOf(store, streamId));

/** The same, by the policy of the topic. @param {number} policy @param {Channel} channel @returns {boolean} */
export const isMutedBy = (policy, channel) => policy === MUTED || (channel.is_muted === true && policy !== UNMUTED && policy !== FOLLOWED);

/** The policy of a topic once it is muted, or unmuted if it was. @param {Store} store @param {number} streamId @param {string} topic */
export function toggledMute(store, streamId, topic) {
  const policy = policyOf(store, streamId, topic);
  if (channelOf(store, streamId).is_muted) return policy === UNMUTED || policy === FOLLOWED ? INHERIT : UNMUTED;
  return policy === MUTED ? INHERIT : MUTED;
}

/** Whether the topics of a channel are known, and none of them can have gone since. @param {Store} store @param {number} streamId */
export const hasTopics = (store, streamId) => store.topics.has(streamId) && !store.outdatedTopics.has(streamId);

/** Topics of a channel may have gone: those that are known are shown until they were fetched again.
 * @param {Store} store @param {number} streamId */
export function outdateTopics(store, streamId) {
  if (store.channels.has(streamId)) store.outdatedTopics.add(streamId);
  else store.topics.delete(streamId);
}

/** The channels with topics that have a policy. */
const withPolicies = computedOf((/** @type {Store} */ store) => {
  store.on("userTopics");
  return new Set([...store.userTopics.keys()].map((key) => Number(key.split("/")[1])));
});

/** The topic that a click on a channel opens: the latest one that is not muted, if its topics are known. In a muted channel, unmuted and
 * followed topics come first. @param {Store} store @param {number} streamId @returns {string | undefined} */
export function topTopic(store, streamId) {
  const topics = (hasTopics(store, streamId) && store.topics.get(streamId)) || [];
  // In a large organization, this is asked for each channel after each message.
  if (!withPolicies(store).has(streamId)) return topics[0]?.name;
  const top =
    topics.find(({ name }) => !isTopicMuted(store, streamId, name)) ??
    topics.find(({ name }) => policyOf(store, streamId, name) !== MUTED) ??
    topics[0];
  return top?.name;
}

/** @type {Record<string, (store: Store, event: Event) => void>} */
export const channelReducers = {
  stream(store, event) {
    if (event.op === "create") {
      for (const channel of event.streams) {
        store.channels.set(channel.stream_id, { ...DEFAULTS, ...store.channels.get(channel.stream_id), ...channel });
      }
    } else if (event.op === "delete") {
      const ids = event.stream_ids ?? event.streams.map((/** @type {Channel} */ channel) => channel.stream_id);
      for (const id of ids) store.channels.delete(id);
    } else {
      const channel = store.channels.get(event.stream_id);
      if (!channel) return;
      /** @type {Channel} */
      const next = { ...channel, [event.property]: event.value };
      for (const name of ["rendered_description", "history_public_to_subscribers", "is_web_public"]) {
        if (name in event) next[name] = event[name];
      }
      store.channels.set(event.stream_id, next);
      // Links and bars name the channel.
      if (event.property === "name") store.touch("rows");
    }
    store.touch("channels");
  },

  subscription(store, event) {
    if (event.op === "add") {
      for (const { subscribers: _subscribers, ...channel } of event.subscriptions) {
        store.channels.set(channel.stream_id, { ...DEFAULTS, ...store.channels.get(channel.stream_id), ...channel, subscribed: true });
        store.joined.add(channel.stream_id);
      }
    } else if (event.op === "remove") {
      for (const { stream_id } of event.subscriptions) {
        const channel = store.channels.get(stream_id);
        if (channel) store.channels.set(stream_id, { ...channel, subscribed: false });
      }
    } else if (event.op === "update") {
      const channel = store.channels.get(event.stream_id);
      if (channel) store.channels.set(event.stream_id, { ...channel, [event.property]: event.value });
    }
    followSubscribers(store, event);
    if (!event.op?.startsWith("peer_")) store.touch("channels", "unread");
  },

  user_topic(store, { stream_id, topic_name, visibility_policy }) {
    const key = noteTopic(stream_id, topic_name);
    if (visibility_policy === INHERIT) store.userTopics.delete(key);
    else store.userTopics.set(key, visibility_policy);
    store.touch("userTopics", "unread");
  },
};

/** Keeps the people of channels up to date. The same events once more change nothing. @param {Store} store @param {Event} event About a subscription. */
export function followSubscribers(store, { op, stream_ids, user_ids, subscriptions }) {
  if (op === "peer_add" || op === "peer_remove") changeSubscribers(store, stream_ids, user_ids, op === "peer_add");
  if (op !== "add" && op !== "remove") return;
  const ids = subscriptions.map((/** @type {Channel} */ { stream_id }) => stream_id);
  changeSubscribers(store, ids, [store.selfId], op === "add");
}

/** People came to channels, or left them. @param {Store} store @param {number[]} streamIds @param {number[]} userIds @param {boolean} isAdded */
function changeSubscribers(store, streamIds, userIds, isAdded) {
  for (const id of streamIds) {
    const known = store.subscribers.get(id);
    if (!known) continue;
    const next = new Set(known);
    for (const userId of userIds) next[isAdded ? "add" : "delete"](userId);
    store.subscribers.set(id, next);
  }
  store.touch("subscribers");
}

/** Notes the newest message of a topic. @param {Store} store @param {number} streamId @param {string} name @param {number} id */
export function bumpTopic(store, streamId, name, id) {
  const topics = store.topics.get(streamId);
  if (!topics) return;
  const at = topics.findIndex((topic) => topic.name.toLowerCase() === name.toLowerCase());
  const [topic] = at < 0 ? [{ name, max_id: id }] : topics.splice(at, 1);
  topic.max_id = Math.max(topic.max_id, id);
  const place = topics.findIndex((other) => other.max_id < topic.max_id);
  topics.splice(place < 0 ? topics.length : place, 0, topic);
  store.touch("topics");
}
