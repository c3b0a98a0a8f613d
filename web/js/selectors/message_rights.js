/**
 * Permissions of the user for a message, as the server checks them. Pure.
 * @module
 */

import { channelOf } from "../store/channels.js";
import { includesSelf, may, mayIn } from "../store/lists.js";
import { userOf } from "../store/users.js";
import { mayAdminister } from "./group_settings.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../../types/api.js").Message} Message */

/** Whether the user may delete a message now. @param {Store} store @param {Message} message */
export function mayDelete(store, message) {
  const channel = message.type === "stream" ? store.channels.get(Number(message.stream_id)) : undefined;
  if (mayIn(store, "can_delete_any_message_group", channel)) return true;
  const isOwn = [message.sender_id, userOf(store, message.sender_id).bot_owner_id].includes(store.selfId);
  const limit = store.state.realm_message_content_delete_limit_seconds;
  return isOwn && mayIn(store, "can_delete_own_message_group", channel) && (!limit || store.now() - message.timestamp <= limit);
}

/** Whether the user may move messages of a channel to another topic, and to another channel. Resolving a topic is another permission.
 * @param {Store} store @param {number} streamId
 * @param {{ to?: number, timestamp?: number }} [move] `to`: the channel that they would go to; `timestamp`: that of the message, UNIX
 *   seconds, where the time limits count.
 * @returns {{ topic: boolean, channel: boolean }} */
export function moveRights(store, streamId, { to = streamId, timestamp } = {}) {
  const isGiven = (/** @type {number} */ id, /** @type {"within" | "out_of"} */ kind) => {
    const channel = channelOf(store, id);
    const setting = `can_move_messages_${kind}_channel_group`;
    return mayAdminister(store, channel) || includesSelf(store, "stream", setting, channel[setting]);
  };
  const isInTime = (/** @type {number | null | undefined} */ limit) =>
    timestamp === undefined || store.state.is_moderator === true || !limit || store.now() - timestamp <= limit;
  const { realm_move_messages_within_stream_limit_seconds: within, realm_move_messages_between_streams_limit_seconds: between } =
    store.state;
  const isOpen = !channelOf(store, streamId).is_archived;
  return {
    topic:
      isOpen &&
      isInTime(within) &&
      (may(store, "can_move_messages_between_topics_group") || [streamId, to].some((id) => isGiven(id, "within"))),
    channel: isOpen && isInTime(between) && (may(store, "can_move_messages_between_channels_group") || isGiven(streamId, "out_of")),
  };
}

/** Whether the user may move a message now. @param {Store} store @param {Message} message */
export function mayMove(store, message) {
  if (message.type !== "stream") return false;
  const { topic, channel } = moveRights(store, Number(message.stream_id), { timestamp: message.timestamp });
  return topic || channel;
}
