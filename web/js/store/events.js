/**
 * Events: the functions that change the store, by type. A state that events have updated is the same as a later state.
 * @module
 */

import { bumpTopic, channelOf, channelReducers, FOLLOWED, isMutedBy, isTopicMuted, outdateTopics, policyOf } from "./channels.js";
import { conversationKey, directKey, otherIds, recipientIds, topicKey } from "./conversations.js";
import { listReducers } from "./lists.js";
import { addUnread, moveUnread, removeUnread, restoreUnread, updateMention } from "./unread.js";
import { setTyping, userReducers } from "./users.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("../../types/api.js").Event} Event */
/** @typedef {import("../../types/api.js").Message} Message */

/** Decisions that need more than the store.
 * @typedef {{ matches: (range: import("./messages.js").Range, message: Message) => boolean | null,
 *   onMessage?: (message: Message, event: Event) => void, onEdit?: (message: Message) => void,
 *   onMuting?: (streamId: number, topic?: string) => void }} Context
 *   `matches`: whether a narrow shows a message; null if only the server knows. `onEdit`: a known message was edited, and has a flag that it did not have, such as that of a mention.
 *   `onMuting`: a topic, or a channel, is muted or no longer; or messages are in another topic, which is muted where the former one was not, or
 *   the reverse. */

/** @typedef {(store: Store, event: Event, context: Context) => void} Reducer */

/** Applies events in their order.
 * @param {Store} store @param {Event[]} events @param {Context} context */
export function applyEvents(store, events, context) {
  applyEach(events, (event) => {
    changeMessages(store, event, context);
    const reduce = messageReducers[event.type] ?? channelReducers[event.type] ?? stateReducers[event.type];
    reduce?.(store, event, context);
  });
  store.messages.tidy();
}

/** @type {Record<string, (store: Store, event: Event) => void>} */
const stateReducers = { ...userReducers, ...listReducers };

/** Applies events of some types again to a reply, which may be older than they are. They are types of which the last event says
 * everything. @param {Store} store @param {Event[]} events @param {string[]} types */
export const applyLatest = (store, events, types) =>
  applyEach(
    events.filter(({ type }) => types.includes(type)),
    (event) => stateReducers[event.type]?.(store, event),
  );

/** Applies events again to the messages of a reply, which may be older than they are: those that came while it was on its way, in
 * their order. @param {Store} store @param {Event[]} events @param {Context} context */
export const applyAgain = (store, events, context) => applyEach(events, (event) => changeMessages(store, event, context));

/** An error in one event does not keep the others from being applied. @param {Event[]} events @param {(event: Event) => void} apply */
function applyEach(events, apply) {
  for (const event of events) {
    try {
      apply(event);
    } catch (error) {
      console.error("an event could not be applied", event, error);
    }
  }
}

/** @type {Reducer} */
const changeMessages = (store, event, context) => messageChanges[event.type]?.(store, event, context);

/** Compares runs with the server again whose narrow has one of some terms: other messages have what the term says.
 * @param {Store} store @param {string[]} terms Such as `is:starred`. */
function expire(store, ...terms) {
  for (const range of store.messages.ranges.values()) {
    if (range.isLoaded && range.terms.some(({ operator, operand }) => terms.includes(`${operator}:${operand}`))) range.markStale();
  }
}

/** Whether messages of a channel leave their topic, come to one, or are deleted. @param {Event} event @param {number} streamId */
export const movesOrDeletes = (event, streamId) =>
  (event.type === "delete_message" || (event.type === "update_message" && isMove(event))) &&
  (event.stream_id === streamId || event.new_stream_id === streamId);

/** How events change messages, and the runs that they belong to. The same events once more change nothing.
 * @type {Record<string, Reducer>} */
const messageChanges = {
  message(store, event) {
    const { id } = event.message;
    store.messages.byId.set(id, { ...event.message, flags: event.flags, rev: (store.messages.byId.get(id)?.rev ?? 0) + 1 });
  },

  update_message(store, event, context) {
    // The event has all flags but the one that no edit changes.
    if (event.content !== undefined || event.rendering_only) {
      const before = store.messages.byId.get(event.message_id);
      store.messages.update(event.message_id, (message) => ({
        content: event.rendered_content ?? message.content,
        ...(event.rendering_only ? {} : { last_edit_timestamp: event.edit_timestamp }),
        ...(event.is_me_message === undefined ? {} : { is_me_message: event.is_me_message }),
        ...(event.flags ? { flags: [...event.flags, ...message.flags.filter((flag) => flag === "historical")] } : {}),
      }));
      // What a search has found in the message was in its former text.
      for (const range of store.messages.ranges.values()) range.matches.delete(event.message_id);
      const message = store.messages.byId.get(event.message_id);
      if (before && message?.flags.some((flag) => !before.flags.includes(flag))) context.onEdit?.(message);
      // An edit may also take a mention out.
      const flags = /** @type {string[]} */ ([...(before?.flags ?? []), ...(event.flags ?? [])]);
      if (flags.some((flag) => flag.endsWith("mentioned"))) expire(store, "is:mentioned");
      if (flags.includes("has_alert_word")) expire(store, "is:alerted");
    }
    if (!isMove(event)) return;
    const stream = event.new_stream_id ?? event.stream_id;
    store.messages.updateAll(event.message_ids, (message) => ({
      stream_id: stream,
      subject: event.subject ?? message.subject,
      display_recipient: store.channels.get(stream)?.name ?? message.display_recipient,
      last_moved_timestamp: event.edit_timestamp,
    }));
    // Runs are compared again with what they show: messages may have left, and others may have arrived in between.
    /** @type {Set<number>} */
    const gone = new Set();
    /** @type {number[]} */
    const unknown = event.message_ids.filter((/** @type {number} */ id) => !store.messages.byId.has(id));
    // What is not said of them is as in most messages.
    const place = { stream_id: stream, subject: event.subject ?? event.orig_subject };
    const standIn = /** @type {Message} */ ({ id: unknown[0], type: "stream", ...place, flags: ["read"], sender_id: 0 });
    for (const range of store.messages.ranges.values()) {
      if (unknown.some((id) => range.spans(id)) && context.matches(range, standIn)) range.isStale = true;
      for (const id of event.message_ids) {
        const message = store.messages.byId.get(id);
        if (!message) continue;
        const matches = context.matches(range, message);
        if (matches === false && range.ids.includes(id)) gone.add(id);
        else if (matches !== false && !range.ids.includes(id)) range.isStale = true;
      }
      range.remove(gone);
      gone.clear();
      if (range.isStale) range.bump();
    }
  },

  delete_message(store, event) {
    store.messages.delete(deletedIds(event));
  },

  update_message_flags(store, { flag, op, all, messages }) {
    store.messages.updateAll(all ? [...store.messages.byId.keys()] : messages, ({ flags }) => ({
      flags: op === "add" ? [...new Set([...flags, flag])] : flags.filter((/** @type {string} */ other) => other !== flag),
    }));
    if (flag === "starred") expire(store, "is:starred");
  },

  user_topic(store, { stream_id, topic_name, visibility_policy: policy }, context) {
    const [before, channel] = [policyOf(store, stream_id, topic_name), channelOf(store, stream_id)];
    if ((before === FOLLOWED) !== (policy === FOLLOWED)) expire(store, "is:followed");
    if (isMutedBy(before, channel) === isMutedBy(policy, channel)) return;
    expire(store, "in:home", "is:muted");
    context.onMuting?.(stream_id, topic_name);
  },

  subscription(store, { op, property, stream_id }, context) {
    if (op === "add" || op === "remove" || property === "is_muted") expire(store, "in:home", "is:muted");
    if (property === "is_muted") context.onMuting?.(stream_id);
  },

  reaction(store, event) {
    const { emoji_name, emoji_code, reaction_type, user_id } = event;
    store.messages.update(event.message_id, ({ reactions }) => {
      const others = reactions.filter(
        (other) => other.user_id !== user_id || other.emoji_code !== emoji_code || other.reaction_type !== reaction_type,
      );
      return { reactions: event.op === "add" ? [...others, { emoji_name, emoji_code, reaction_type, user_id }] : others };
    });
  },

  submessage(store, event) {
    const { message_id, submessage_id: id, sender_id, msg_type, content } = event;
    store.messages.update(message_id, ({ submessages }) => {
      const isKnown = submessages.some((other) => other.id === id);
      return { submessages: isKnown ? submessages : [...submessages, { id, message_id, sender_id, msg_type, content }] };
    });
  },
};

/** @param {Event} event */
const isMove = (event) => event.new_stream_id !== undefined || event.subject !== undefined;

/** The messages that an event deletes. @param {Event} event @returns {number[]} */
export const deletedIds = (event) => event.message_ids ?? [event.message_id];

/** Changes by events about messages besides the messages. @type {Record<string, Reducer>} */
const messageReducers = {
  message(store, event, context) {
    const message = /** @type {Message} */ (store.messages.byId.get(event.message.id));
    const key = conversationKey(store, message);
    for (const range of store.messages.ranges.values()) {
      if (!range.isLoaded || range.ids.includes(message.id)) continue;
      const matches = context.matches(range, message);
      if (matches === false) continue;
      if (matches === null || !range.hasNewest) {
        range.hasNewest = false;
        range.bump();
        continue;
      }
      range.push(message.id);
      range.bump();
    }
    if (!event.flags.includes("read")) addUnread(store, key, message, event.flags);
    if (message.type === "stream") {
      bumpTopic(store, Number(message.stream_id), message.subject, message.id);
    } else {
      const others = otherIds(store, recipientIds(message));
      store.directs.set(key, { user_ids: others, max_id: message.id });
      store.touch("recents");
    }
    setTyping(store, key, message.sender_id, false);
    store.state.max_message_id = Math.max(store.state.max_message_id ?? 0, message.id);
    context.onMessage?.(message, event);
  },

  update_message(store, event, context) {
    if (event.flags) updateMention(store, event.message_id, event.flags, event.stream_id);
    if (!isMove(event)) return;
    const stream = event.new_stream_id ?? event.stream_id;
    const topic = event.subject ?? event.orig_subject;
    moveUnread(store, event.message_ids, stream, topic);
    const wasMuted = isTopicMuted(store, event.stream_id, event.orig_subject);
    if (wasMuted !== isTopicMuted(store, stream, topic)) context.onMuting?.(stream, topic);
    for (const id of [event.stream_id, stream]) outdateTopics(store, id);
    store.touch("topics", "recents");
  },

  delete_message(store, event) {
    const ids = deletedIds(event);
    removeUnread(store, ids);
    for (const id of ids) store.starred.delete(id);
    if (event.message_type === "stream") outdateTopics(store, event.stream_id);
    store.touch("topics", "recents", "starred");
  },

  update_message_flags(store, { flag, op, all, messages, message_details }) {
    if (flag === "read" && op === "add") removeUnread(store, all ? [...store.unreadOf.keys()] : messages);
    if (flag === "read" && op === "remove") restoreUnread(store, message_details ?? {});
    if (flag === "starred") {
      for (const id of all ? store.messages.byId.keys() : messages) store.starred[op === "add" ? "add" : "delete"](id);
      store.touch("starred");
    }
  },

  typing(store, event) {
    const isChannel = event.message_type === "stream";
    const key = isChannel
      ? topicKey(event.stream_id, event.topic)
      : directKey(
          store,
          event.recipients.map((/** @type {{ user_id: number }} */ user) => user.user_id),
        );
    const id = event.sender?.user_id ?? event.sender_id;
    if (id !== store.selfId) setTyping(store, key, id, event.op === "start");
  },
};
