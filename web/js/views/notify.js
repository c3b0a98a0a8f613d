/**
 * Notifications and sounds for messages that arrive.
 * @module
 */

import { t } from "../lib/words.js";
import { isBrowserFocused } from "../platform/lifecycle.js";
import { claim, show } from "../platform/show_notification.js";
import { conversationTerms } from "../selectors/narrow.js";
import { noticePlace } from "../selectors/notice_place.js";
import { channelOf, FOLLOWED, isTopicMuted, MUTED, policyOf } from "../store/channels.js";
import { conversationKey } from "../store/conversations.js";
import { userOf } from "../store/users.js";
import { textOf } from "./message_content.js";
import { ownPath } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Message} Message */

/** Whether such a message is shown and heard, by the user's settings. @param {import("../store/store.js").Store} store @param {Message} message
 * @returns {{ shows: boolean, sounds: boolean }} */
function alertsFor(store, message) {
  const none = { shows: false, sounds: false };
  const set = (/** @type {keyof import("../../types/api.js").UserSettings} */ name) => Boolean(store.setting(name));
  if (store.mutedUsers.has(message.sender_id)) return none;
  const isDirect = message.flags.includes("mentioned");
  const isWildcard = message.flags.includes("stream_wildcard_mentioned") || message.flags.includes("topic_wildcard_mentioned");
  const isChannel = message.type === "stream";
  const streamId = Number(message.stream_id);
  const policy = isChannel ? policyOf(store, streamId, message.subject) : 0;
  const isFollowed = policy === FOLLOWED;
  if (isChannel && !isDirect && !isFollowed && (isTopicMuted(store, streamId, message.subject) || policy === MUTED)) return none;
  const channel = isChannel ? channelOf(store, streamId) : null;
  const wildcard =
    isWildcard &&
    ((channel?.wildcard_mentions_notify ?? set("wildcard_mentions_notify")) ||
      (isFollowed && set("enable_followed_topic_wildcard_mentions_notify")));
  const personal = !isChannel || isDirect || wildcard || message.flags.includes("has_alert_word");
  const shows =
    (isChannel && Boolean(channel?.desktop_notifications ?? set("enable_stream_desktop_notifications"))) ||
    (isFollowed && set("enable_followed_topic_desktop_notifications")) ||
    (personal && set("enable_desktop_notifications"));
  const sounds =
    (isChannel && Boolean(channel?.audible_notifications ?? set("enable_stream_audible_notifications"))) ||
    (isFollowed && set("enable_followed_topic_audible_notifications")) ||
    (personal && set("enable_sounds"));
  return { shows, sounds: sounds && store.setting("notification_sound") !== "none" };
}

/** Shows a notification and plays a sound for an unread message of another person, as the settings say, once, unless it is on the screen.
 * @param {App} app @param {Message} message @param {Set<number>} alerted The ids of messages for which this was done, added to here.
 * @param {Map<string, number>} notified Of how many messages of each conversation, counted on here. */
export async function notify(app, message, alerted, notified) {
  const { store } = app;
  const { shows, sounds } = alertsFor(store, message);
  const key = conversationKey(store, message);
  const isFocused = document.hasFocus() && !document.hidden;
  if (!(shows || sounds) || alerted.has(message.id)) return;
  alerted.add(message.id);
  if (isFocused && app.timeline?.conversation === key) return;
  // The tab with the focus notifies, or else the first one: several may have the message.
  if (!isFocused && (isBrowserFocused() || !(await claim(`message/${message.id}`)))) return;
  if (sounds) void import("../platform/sound.js").then(({ playSound }) => playSound()).catch(() => {});
  if (!shows || isFocused) return;
  const count = (notified.get(key) ?? 0) + 1;
  notified.set(key, count);
  const sender = userOf(store, message.sender_id);
  const place = noticePlace(store, message);
  const isPrivate = message.type === "private" && store.setting("pm_content_in_desktop_notifications") === false;
  void show({
    title:
      count > 1
        ? t(
            { one: "{count} message from {name} ({place})", other: "{count} messages from {name} ({place})" },
            { count, name: sender.full_name, place },
          )
        : `${sender.full_name} (${place})`,
    body: isPrivate ? t("New direct message from {name}", { name: sender.full_name }) : textOf(message.content).slice(0, 200),
    icon: sender.avatar_url ? ownPath(sender.avatar_url) : null,
    tag: key,
    id: message.id,
    fragment: app.fragmentOf([...conversationTerms(store, message), { operator: "with", operand: message.id }]),
  });
}
