/**
 * Following messages that have moved: those of the open conversation, and the message of a link.
 * @module
 */

import { ApiError } from "../api/client.js";
import { getMessage } from "../api/endpoints.js";
import { h } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { conversationTerms, isPlace, matches, topicsFragment, topicTerms } from "../selectors/narrow.js";
import { plainTopicName, topicName } from "../selectors/title.js";
import { channelOf, hasTopics } from "../store/channels.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {import("../../types/api.js").Message} Message */

/** @param {App} app @param {{ terms: Term[], kind: import("../selectors/narrow.js").NarrowKind, range: import("../store/messages.js").Range,
 *   isOpen: () => boolean }} timeline */
export function createFollowing(app, { terms, kind, range, isOpen }) {
  const { store, session } = app;
  /** The messages that were shown last: if all of them move, their new conversation is opened. @type {number[]} */
  let lastShown = [];

  /** Goes where a message of this conversation is now. @param {Message} message @param {Term[]} [place] The term of the link that led here. @returns {boolean} */
  function to(message, place = []) {
    const isThere = terms.every((term) => !["channel", "topic"].includes(term.operator) || matches(store, [term], message) !== false);
    if (isThere || message.type !== "stream") return false;
    const now = app.composer.destinationOf(message);
    if (kind.kind === "topic" && place.length === 0) session.moved({ type: "stream", to: [kind.streamId], topic: kind.topic }, now);
    const [channel, topic] = topicTerms(now.to[0], now.topic);
    app.follow([channel, ...(kind.kind === "topic" ? [topic] : []), ...place]);
    return true;
  }

  return {
    /** The conversation moved, or what is left of it was deleted: goes with its messages. @returns {boolean} */
    all() {
      if (range.ids.length > 0) lastShown = range.ids;
      if (range.ids.length > 0 || kind.kind !== "topic") return false;
      const message = lastShown.map((id) => store.messages.byId.get(id)).findLast((one) => one?.type === "stream");
      return message !== undefined && to(message);
    },
    /** A link to a message leads to where the message is now. @returns {Promise<boolean>} */
    async link() {
      const place = terms.find(isPlace);
      const id = Number(place?.operand);
      const isAlone = terms.every(isPlace);
      const isChannel = kind.kind === "topic" || kind.kind === "channel";
      if (!place || !(isChannel || isAlone) || (isChannel && range.isLoaded && !range.isStale && range.ids.includes(id))) return false;
      try {
        const { message } = await getMessage(id);
        if (isOpen() && isAlone) app.follow([...conversationTerms(store, message), place]);
        return isOpen() && (isAlone || to(message, [place]));
      } catch (error) {
        // Deleted, or not for this user.
        if (error instanceof ApiError && !error.isTransient) return false;
        throw error;
      }
    },
    /** The conversation has no messages any more: it may have moved without an event. @param {number | undefined} known One that it had. @returns {Promise<boolean>} */
    async missed(known) {
      if (range.ids.length > 0 || known === undefined || kind.kind !== "topic") return false;
      const reply = await getMessage(known).catch(() => null);
      return reply !== null && isOpen() && to(reply.message);
    },
  };
}

/** A topic without messages: a link may name it as it was before it was renamed or moved. Leads to the topic that was resolved, or
 * is no longer, and otherwise to all topics. @param {App} app @param {{ streamId: number, topic: string }} place */
export function emptyTopic(app, { streamId, topic }) {
  const { store } = app;
  const plain = plainTopicName(store, topic).toLowerCase();
  // An outdated list may have this topic itself.
  const topics = hasTopics(store, streamId) ? store.topics.get(streamId) : [];
  const other = topics?.find(({ name }) => plainTopicName(store, name).toLowerCase() === plain);
  const terms = other && topicTerms(streamId, other.name);
  return h(
    "div",
    { class: "empty" },
    h("p", null, t("There are no messages in this topic. If it had some, they were moved or deleted.")),
    h(
      "p",
      { class: "choices" },
      h(
        "a",
        { class: "button", href: `#${terms ? app.fragmentOf(terms) : topicsFragment(store, streamId)}` },
        other ? topicName(store, other.name) : t("Topics of #{channel}", { channel: channelOf(store, streamId).name }),
      ),
    ),
  );
}
