/**
 * Links to channels and topics in the syntax of messages. Pure.
 * @module
 */

import { channelTerms, fragmentOf, topicTerms } from "./narrow.js";
import { topicName } from "./title.js";

/** @typedef {import("../store/store.js").Store} Store */

/** Names that would break the link syntax. */
const UNLINKABLE = /[`>*&[\]]|\$\$/;

/** @param {Store} store @param {import("../../types/api.js").Channel} channel @param {string} [topic] */
export function channelLink(store, channel, topic) {
  const label = topic === undefined ? `#${channel.name}` : `#${channel.name} > ${topicName(store, topic)}`;
  if (!UNLINKABLE.test(channel.name) && !UNLINKABLE.test(topic ?? ""))
    return topic === undefined ? `#**${channel.name}**` : `#**${channel.name}>${topic}**`;
  const terms = topic === undefined ? channelTerms(channel.stream_id) : topicTerms(channel.stream_id, topic);
  return `[${label.replace(/[[\]*`$&>]/g, (char) => `&#${char.charCodeAt(0)};`)}](#${fragmentOf(store, terms)})`;
}
