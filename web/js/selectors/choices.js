/**
 * Choices of channels, topics and people that match a text. Pure.
 * @module
 */

import { t } from "../lib/words.js";
import { channelOf, openChannels } from "../store/channels.js";
import { ownGroups } from "../store/lists.js";
import { channelPreference, ranked, withinLast } from "./ranking.js";
import { topicName } from "./title.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../../types/api.js").Channel} Channel */
/** @typedef {import("../../types/api.js").User} User */
/** @typedef {{ topic: string, label: string, isNew: boolean }} TopicChoice */

/** The most choices of a list. */
const MAX = 50;

/** Channels whose name matches: those of the user before others, pinned ones first.
 * @param {Store} store @param {string} query @param {(channel: Channel) => boolean} [isWanted] By default, the channels of the user. @returns {Channel[]} */
export function channelChoices(store, query, isWanted = (channel) => channel.subscribed) {
  const channels = openChannels(store)
    .filter(isWanted)
    .sort((a, b) => a.name.localeCompare(b.name));
  return ranked(channels, query, (channel) => [channel.name], channelPreference).slice(0, MAX);
}

/** Topics of a channel that match, the latest first, and then the text itself, if no topic has this name.
 * @param {Store} store @param {number | null} streamId @param {string} query @returns {TopicChoice[]} */
export function topicChoices(store, streamId, query) {
  const known = streamId === null ? [] : (store.topics.get(streamId) ?? []).map(({ name }) => name);
  const wanted = query.trim();
  const found = wanted === "" ? known : ranked(known, wanted, (name) => [topicName(store, name)]);
  const choices = found.slice(0, MAX).map((topic) => ({ topic, label: topicName(store, topic), isNew: false }));
  const isKnown = known.some((name) => name.toLowerCase() === wanted.toLowerCase());
  return wanted === "" || isKnown ? choices : [...choices, { topic: wanted, label: wanted, isNew: true }];
}

/** People whose name or email address matches. @param {Store} store @param {string} query
 * @param {{ without: number[], withBots: boolean }} how @returns {User[]} */
export function userChoices(store, query, { without, withBots }) {
  const users = [...store.users.values()].filter(
    (user) => user.is_active !== false && !without.includes(user.user_id) && (withBots || !user.is_bot),
  );
  const isBot = (/** @type {User} */ user) => Number(user.is_bot);
  return ranked(users, query, (user) => [user.full_name, user.delivery_email], isBot).slice(0, 8);
}

/** @typedef {{ label: string, detail: string, user?: User, group?: import("../../types/api.js").UserGroup, channel?: Channel }} MemberChoice */

/** People, and all people of a group or channel at once. @param {Store} store @param {string} query @param {number[]} without @param {boolean} withGroups
 * @returns {MemberChoice[]} */
export function memberChoices(store, query, without, withGroups = true) {
  const people = userChoices(store, query, { without, withBots: true }).map((user) => {
    return { label: user.full_name, detail: user.delivery_email ?? "", user };
  });
  const own = ownGroups(store).filter((group) => group.members.length > 0);
  const groups = ranked(withGroups ? own : [], query, ({ name }) => [name]).slice(0, 4);
  const channels = channelChoices(store, query.replace(/^#/, "")).slice(0, 4);
  /** @type {MemberChoice[]} */
  const all = [
    ...people,
    ...groups.map((group) => ({
      label: group.name,
      detail: t({ one: "Group, {count} member", other: "Group, {count} members" }, { count: group.members.length }),
      group,
    })),
    ...channels.map((channel) => ({
      label: `#${channel.name}`,
      detail: t({ one: "Channel, {count} member", other: "Channel, {count} members" }, { count: channel.subscriber_count ?? 0 }),
      channel,
    })),
  ];
  return withinLast(all, query.replace(/^#/, ""));
}

/** The name of a channel in a field; nothing for none. @param {Store} store @param {number | null} id */
export const channelText = (store, id) => (id === null ? "" : channelOf(store, id).name);
