/**
 * Events: which function changes the store for which type. State and events together are the same as a later state.
 * @module
 */

import { bumpTopic, channelReducers } from "./channels.js";
import { conversationKey, directKey, otherIds, recipientIds, topicKey } from "./conversations.js";
import { listReducers } from "./lists.js";
import { addUnread, moveUnread, removeUnread, restoreUnread } from "./unread.js";
import { setTyping, userReducers } from "./users.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("../../types/api.js").Event} Event */
/** @typedef {import("../../types/api.js").Message} Message */

/** What the store cannot decide by itself.
 * @typedef {{ matches: (range: import("./messages.js").Range, message: Message) => boolean | null,
 *   onMessage?: (message: Message, event: Event) => void }} Context
 *   `matches`: whether a narrow shows a message; null if only the server knows. */

/** Applies events in their order: an error in one does not keep the others from being applied.
 * @param {Store} store @param {Event[]} events @param {Context} context */
export function applyEvents(store, events, context) {
  for (const event of events) {
    try {
      const reduce = messageReducers[event.type] ?? userReducers[event.type] ?? channelReducers[event.type] ?? listReducers[event.type];
      reduce?.(store, event, context);
    } catch (error) {
      console.error("an event could not be applied", event, error);
    }
  }
}

/** @type {Record<string, (store: Store, event: Event, context: Context) => void>} */
const messageReducers = {
  message(store, event, context) {
    /** @type {Message} */
    const message = { ...event.message, flags: event.flags, rev: 1 };
    const key = conversationKey(store, message);
    let isShown = false;
    for (const range of store.messages.ranges.values()) {
      if (!range.isLoaded || range.ids.includes(message.id)) continue;
      const matches = context.matches(range, message);
      if (matches === false) continue;
      if (matches === null || !range.hasNewest) {
        range.hasNewest = false;
        range.bump();
        continue;
      }
      isShown = true;
      store.messages.byId.set(message.id, message);
      range.ids.push(message.id);
      range.bump();
    }
    if (!isShown) store.messages.byId.set(message.id, message);
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
    if (event.content !== undefined || event.rendering_only) {
      store.messages.update(event.message_id, (message) => ({
        content: event.rendered_content ?? message.content,
        ...(event.rendering_only ? {} : { last_edit_timestamp: event.edit_timestamp }),
        ...(event.is_me_message === undefined ? {} : { is_me_message: event.is_me_message }),
        ...(event.flags ? { flags: event.flags } : {}),
      }));
    }
    if (event.new_stream_id === undefined && event.subject === undefined) return;
    const ids = event.message_ids;
    const before = { stream: event.stream_id, topic: event.orig_subject };
    const stream = event.new_stream_id ?? event.stream_id;
    store.messages.updateAll(ids, (message) => ({
      stream_id: stream,
      subject: event.subject ?? message.subject,
      display_recipient: store.channels.get(stream)?.name ?? message.display_recipient,
      last_moved_timestamp: event.edit_timestamp,
    }));
    moveUnread(store, ids, stream, event.subject ?? before.topic);
    store.topics.delete(before.stream);
    store.topics.delete(stream);
    // Runs are compared anew with what they show: messages may have left, and others may have arrived in between.
    /** @type {Set<number>} */
    const gone = new Set();
    for (const range of store.messages.ranges.values()) {
      for (const id of ids) {
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
    store.touch("topics", "recents");
  },

  delete_message(store, event) {
    const ids = event.message_ids ?? [event.message_id];
    store.messages.delete(ids);
    removeUnread(store, ids);
    for (const id of ids) store.starred.delete(id);
    if (event.message_type === "stream") store.topics.delete(event.stream_id);
    store.touch("topics", "recents", "starred");
  },

  update_message_flags(store, event) {
    const { flag, op } = event;
    const ids = event.all ? [...store.messages.byId.keys()] : event.messages;
    store.messages.updateAll(ids, ({ flags }) => ({
      flags: op === "add" ? [...new Set([...flags, flag])] : flags.filter((other) => other !== flag),
    }));
    if (flag === "read" && op === "add") removeUnread(store, event.all ? [...store.unreadOf.keys()] : ids);
    if (flag === "read" && op === "remove") restoreUnread(store, event.message_details ?? {});
    if (flag === "starred") {
      for (const id of ids) store.starred[op === "add" ? "add" : "delete"](id);
      store.touch("starred");
    }
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
