/**
 * Alerts by the user's settings: the title of the page, notifications and sounds.
 * @module
 */

import { effect } from "../lib/signal.js";
import { throttle } from "../lib/timing.js";
import { t } from "../lib/words.js";
import { claim, hasFocus, isBrowserFocused, isVisible } from "../platform/lifecycle.js";
import { bridge, closeWhere, show } from "../platform/notifications.js";
import { conversationTerms } from "../selectors/narrow.js";
import { noticePlace, titleCount } from "../selectors/title.js";
import { channelOf, FOLLOWED, isTopicMuted, MUTED, policyOf } from "../store/channels.js";
import { conversationKey } from "../store/conversations.js";
import { unreadCount } from "../store/unread.js";
import { userOf } from "../store/users.js";
import { textOf } from "./message_content.js";
import { ownPath } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Message} Message */

/** How often the title is set, at most, in milliseconds: in a busy organization the count changes with each message. */
const TITLE_INTERVAL = 500;

/** How often notifications of what is read are looked for, at most, in milliseconds. */
const CLOSE_INTERVAL = 1000;

/** Whether a message is shown and heard, by the user's settings. @param {import("../store/store.js").Store} store @param {Message} message
 * @returns {{ shows: boolean, sounds: boolean }} */
export function alertsFor(store, message) {
  const none = { shows: false, sounds: false };
  const set = (/** @type {keyof import("../../types/api.js").UserSettings} */ name) => Boolean(store.setting(name));
  if (message.sender_id === store.selfId || message.flags.includes("read") || store.mutedUsers.has(message.sender_id)) return none;
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

/** @param {App & { viewName: (route: import("../../types/app.js").Route) => string }} app */
export function startAlerts(app) {
  const { store, session } = app;
  /** How many messages a conversation was notified of since the window had the focus, or the conversation was read. @type {Map<string, number>} */
  const notified = new Map();

  /** @param {Message} message */
  async function alert(message) {
    const { shows, sounds } = alertsFor(store, message);
    const key = conversationKey(store, message);
    const isSeen = document.hasFocus() && !document.hidden && app.timeline?.conversation === key;
    if (isSeen || !(shows || sounds)) return;
    const isFocused = document.hasFocus() && !document.hidden;
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
  session.onMessage(alert);
  // The edit adds a mention or an alert word. What was shown and heard before is not repeated.
  session.onEdit((before, message) => {
    const { shows, sounds } = alertsFor(store, before);
    if (!shows && !sounds) void alert(message);
  });

  effect(() => {
    if (hasFocus.value && isVisible.value) {
      void closeWhere(() => true);
      notified.clear();
    }
  });

  // Read elsewhere.
  const closeRead = throttle(() => {
    const isRead = (/** @type {string} */ key) => unreadCount(store, key) === 0;
    for (const key of [...notified.keys()].filter(isRead)) notified.delete(key);
    void closeWhere(isRead);
  }, CLOSE_INTERVAL);
  effect(() => {
    store.on("unread");
    closeRead();
  });

  let title = "";
  const showTitle = throttle(() => {
    document.title = title;
  }, TITLE_INTERVAL);
  effect(() => {
    for (const area of /** @type {const} */ (["unread", "settings", "realm", "channels", "users"])) store.on(area);
    const count = titleCount(store);
    title = `${count > 0 ? `(${count}) ` : ""}${app.viewName(app.route.value)} - ${store.state.realm_name} - teamchat`;
    showTitle();
  });

  effect(() => {
    store.on("realm");
    bridge()?.send_event?.("realm_name", store.state.realm_name);
    bridge()?.send_event?.("realm_icon_url", store.state.realm_icon_url);
  });
}
