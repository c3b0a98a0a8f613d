/**
 * The conversation of a message as text for its notification. Pure.
 * @module
 */

import { t } from "../lib/words.js";
import { channelOf } from "../store/channels.js";
import { recipientIds } from "../store/conversations.js";
import { namesOf } from "./sidebar_items.js";
import { topicName } from "./title.js";

/** The most characters of names in the title of a notification. */
const MOST_NAMES = 50;

/** The conversation of a message for the title of its notification. If there are many people, their number.
 * @param {import("../store/store.js").Store} store @param {import("../../types/api.js").Message} message */
export function noticePlace(store, message) {
  if (message.type === "stream") return `#${channelOf(store, Number(message.stream_id)).name} > ${topicName(store, message.subject)}`;
  const others = recipientIds(message).filter((id) => id !== store.selfId && id !== message.sender_id);
  if (others.length === 0) return t("to you");
  const place = t("to you and {names}", { names: namesOf(store, others) });
  if (place.length <= MOST_NAMES) return place;
  return t({ one: "to you and one more", other: "to you and {count} others" }, { count: others.length });
}
