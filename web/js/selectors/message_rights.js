/**
 * What the user may do with a message, as the server decides. Pure.
 * @module
 */

import { mayIn } from "../store/lists.js";
import { userOf } from "../store/users.js";

/** Whether the user may delete a message now. @param {import("../store/store.js").Store} store @param {import("../../types/api.js").Message} message */
export function mayDelete(store, message) {
  const channel = message.type === "stream" ? store.channels.get(Number(message.stream_id)) : undefined;
  if (mayIn(store, "can_delete_any_message_group", channel)) return true;
  const isOwn = [message.sender_id, userOf(store, message.sender_id).bot_owner_id].includes(store.selfId);
  const limit = store.state.realm_message_content_delete_limit_seconds;
  return isOwn && mayIn(store, "can_delete_own_message_group", channel) && (!limit || store.now() - message.timestamp <= limit);
}
