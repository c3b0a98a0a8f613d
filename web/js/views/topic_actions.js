/**
 * Actions on topics and channels, and their menus: mute, follow, resolve, mark as read, move, pin.
 * @module
 */

import { getMessages, subscribe } from "../api/endpoints.js";
import { deleteTopic, unsubscribe, updateMessage, updateSubscription, updateUserTopic } from "../api/endpoints_on_demand.js";
import { t } from "../lib/words.js";
import { go } from "../platform/router.js";
import { moveRights } from "../selectors/message_rights.js";
import { channelTerms, fragmentOf, narrowKey, topicsFragment, topicTerms } from "../selectors/narrow.js";
import { topicName } from "../selectors/title.js";
import { mayResolve } from "../selectors/writing.js";
import { channelOf, FOLLOWED, INHERIT, isTopicMuted, policyOf, toggledMute } from "../store/channels.js";
import { isResolvedTopic, toggledResolved, topicKey } from "../store/conversations.js";
import { may } from "../store/lists.js";
import { unreadOfChannel } from "../store/unread.js";
import { ask, confirm, showMenu } from "./popover.js";
import { joinChannel } from "./subscription_notice.js";

/** @typedef {import("../../types/app.js").App} App */

/** @param {App} app @param {number} streamId @param {string} topic @param {number} policy */
export async function setTopicPolicy(app, streamId, topic, policy) {
  const { session, store } = app;
  const words = [
    t("The topic follows its channel's setting again."),
    t("The topic is muted."),
    t("The topic is unmuted."),
    t("You follow the topic."),
  ];
  const before = policyOf(store, streamId, topic);
  const undo = () => session.attempt(updateUserTopic(streamId, topic, before));
  if (await session.attempt(updateUserTopic(streamId, topic, policy)))
    session.tell(words[policy], { label: t("Undo"), run: () => void undo() });
}

/** Some message of a topic. Null if it has none, undefined if that is not known. @param {App} app @param {number} streamId @param {string} topic */
async function someMessage({ session }, streamId, topic) {
  const narrow = topicTerms(streamId, topic);
  const reply = await session.attempt(getMessages({ narrow, anchor: "newest", num_before: 1, num_after: 0 }));
  return reply && (reply.messages[0] ?? null);
}

/** A message of a topic by which the whole topic is changed. Says why, if there is none. @param {App} app @param {number} streamId @param {string} topic */
async function messageToChange(app, streamId, topic) {
  const message = await someMessage(app, streamId, topic);
  if (message === null) app.session.tellError(t("There are no messages in this topic. If it had some, they were moved or deleted."));
  return message ?? undefined;
}

/** @param {App} app @param {number} streamId @param {string} topic */
async function moveTopic(app, streamId, topic) {
  const message = await messageToChange(app, streamId, topic);
  if (message) (await import("./move_dialog.js")).showMove(app, message, "change_all");
}

/** @param {App} app @param {import("../../types/api.js").Term[]} terms The topic. */
async function markTopicUnread({ session, timeline }, terms) {
  // What shows it would mark it as read again.
  if (timeline && (timeline.kind.kind !== "topic" || narrowKey(timeline.terms) === narrowKey(terms))) timeline.block();
  await session.attempt(session.markNarrow(terms, "remove"));
}

/** Copies a link that leads to the topic also after it is renamed or moved, by one of its messages.
 * @param {App} app @param {number} streamId @param {string} topic */
async function copyTopicLink(app, streamId, topic) {
  const message = await someMessage(app, streamId, topic);
  const terms = [...topicTerms(streamId, topic), ...(message ? [{ operator: "with", operand: message.id }] : [])];
  await app.copy(`${location.origin}/#${fragmentOf(app.store, terms)}`, t("Link copied."));
}

/** @param {App} app @param {number} streamId @param {string} topic */
export async function toggleResolved(app, streamId, topic) {
  const message = await messageToChange(app, streamId, topic);
  if (!message) return;
  const change = { topic: toggledResolved(topic), propagate_mode: "change_all", send_notification_to_old_thread: false };
  await app.session.attempt(updateMessage(message.id, change));
}

/** @param {App} app @param {number} streamId @param {string} topic */
async function renameTopic(app, streamId, topic) {
  const save = async (/** @type {string} */ next) => {
    if (next === topic) return null;
    const message = await messageToChange(app, streamId, topic);
    const change = {
      topic: next,
      propagate_mode: "change_all",
      send_notification_to_old_thread: false,
      send_notification_to_new_thread: true,
    };
    return message && app.session.attempt(updateMessage(message.id, change));
  };
  await ask(t("Rename topic"), topic, { maxlength: app.store.state.max_topic_length, action: t("Rename"), save });
}

/** @param {App} app @param {number} streamId @param {string} topic @param {Element} opener @param {{ x: number, y: number }} [at] */
export function showTopicMenu(app, streamId, topic, opener, at) {
  const { store, session } = app;
  const policy = policyOf(store, streamId, topic);
  const isMuted = isTopicMuted(store, streamId, topic);
  const unread = store.unread.get(topicKey(streamId, topic));
  const rights = moveRights(store, streamId);
  const terms = topicTerms(streamId, topic);
  const name = topicName(store, topic);
  showMenu(
    opener,
    [
      {
        label: policy === FOLLOWED ? t("Unfollow") : t("Follow"),
        icon: "follow",
        run: () => void setTopicPolicy(app, streamId, topic, policy === FOLLOWED ? INHERIT : FOLLOWED),
      },
      {
        label: isMuted ? t("Unmute") : t("Mute"),
        icon: isMuted ? "bell" : "mute",
        run: () => void setTopicPolicy(app, streamId, topic, toggledMute(store, streamId, topic)),
      },
      unread
        ? { label: t("Mark as read"), icon: "check", run: () => void session.markNarrowRead(terms, unread) }
        : { label: t("Mark as unread"), icon: "mail", run: () => void markTopicUnread(app, terms) },
      topic !== "" &&
        mayResolve(store, streamId) && {
          label: isResolvedTopic(topic) ? t("Mark as unresolved") : t("Mark as resolved"),
          icon: "check",
          run: () => void toggleResolved(app, streamId, topic),
        },
      rights.topic && { label: t("Rename"), icon: "edit", run: () => void renameTopic(app, streamId, topic) },
      (rights.topic || rights.channel) && { label: t("Move messages"), icon: "move", run: () => void moveTopic(app, streamId, topic) },
      {
        label: t("Copy link"),
        icon: "link",
        run: () => void copyTopicLink(app, streamId, topic),
      },
      store.state.is_admin &&
        may(store, "can_delete_any_message_group") && {
          label: t("Delete topic"),
          icon: "trash",
          isDanger: true,
          run: async () => {
            if (
              !(await confirm(
                t("Delete this topic?"),
                t("All messages in “{topic}” will be deleted for everyone.", { topic: name }),
                t("Delete"),
                {
                  isDanger: true,
                },
              ))
            )
              return;
            let isComplete = false;
            while (!isComplete) {
              const reply = await session.attempt(deleteTopic(streamId, topic));
              if (!reply) return;
              isComplete = reply.complete !== false;
            }
          },
        },
    ],
    t("Actions on the topic {topic}", { topic: name }),
    at,
  );
}

/** Leaves a channel, and offers to take that back; asks before leaving one to which only others can add the user again.
 * @param {App} app @param {number} streamId */
export async function leaveChannel({ store, session }, streamId) {
  const { name, invite_only: isCut } = channelOf(store, streamId);
  const words = t("This channel is private. To return, someone must add you again.");
  if (isCut && !(await confirm(t("Leave #{name}?", { name }), words, t("Leave"), { isDanger: true }))) return;
  if (!(await session.attempt(unsubscribe({ subscriptions: [name] })))) return;
  const back = () => void session.attempt(subscribe({ subscriptions: [{ name: channelOf(store, streamId).name }] }));
  session.tell(t("You left #{channel}.", { channel: name }), isCut ? undefined : { label: t("Undo"), run: back });
}

/** @param {App} app @param {number} streamId @param {Element} opener @param {{ x: number, y: number }} [at] */
export function showChannelMenu(app, streamId, opener, at) {
  const { store, session } = app;
  const channel = channelOf(store, streamId);
  /** @param {string} property @param {unknown} value */
  const set = (property, value) => void session.attempt(updateSubscription(streamId, property, value));
  showMenu(
    opener,
    [
      { label: t("Channel settings"), icon: "settings", run: () => go(`channels/${streamId}/${encodeURIComponent(channel.name)}/general`) },
      {
        label: t("Mark as read"),
        icon: "check",
        run: () => void session.markNarrowRead(channelTerms(streamId), unreadOfChannel(store, streamId)),
      },
      channel.subscribed && {
        label: channel.pin_to_top ? t("Unpin") : t("Pin to top"),
        icon: "pin",
        run: () => set("pin_to_top", !channel.pin_to_top),
      },
      channel.subscribed && {
        label: channel.is_muted ? t("Unmute") : t("Mute"),
        icon: channel.is_muted ? "bell" : "mute",
        run: async () => {
          const [next, undo] = [!channel.is_muted, () => set("is_muted", channel.is_muted)];
          if (await session.attempt(updateSubscription(streamId, "is_muted", next)))
            session.tell(
              next ? t("#{channel} is muted.", { channel: channel.name }) : t("#{channel} is unmuted.", { channel: channel.name }),
              { label: t("Undo"), run: undo },
            );
        },
      },
      { label: t("List of topics"), icon: "list", run: () => go(topicsFragment(store, streamId)) },
      !channel.is_archived && {
        label: t("New topic"),
        icon: "plus",
        run: () => app.composer.open({ type: "stream", to: [streamId], topic: "" }),
      },
      {
        label: t("Copy link"),
        icon: "link",
        run: () => void app.copy(`${location.origin}/#${fragmentOf(store, channelTerms(streamId))}`, t("Link copied.")),
      },
      !channel.subscribed && !channel.is_archived && { label: t("Subscribe"), icon: "plus", run: () => void joinChannel(app, streamId) },
      channel.subscribed && {
        label: t("Unsubscribe"),
        icon: "logout",
        isDanger: true,
        run: () => leaveChannel(app, streamId),
      },
    ],
    t("Actions on {name}", { name: channel.name }),
    at,
  );
}

/** @param {App} app @param {Element} opener */
export function showAddMenu(app, opener) {
  const mayCreate = may(app.store, "can_create_public_channel_group") || may(app.store, "can_create_private_channel_group");
  showMenu(
    opener,
    [
      { label: t("Browse channels"), icon: "list", run: () => app.goFragment("channels/all") },
      mayCreate && { label: t("Create a channel"), icon: "plus", run: () => app.goFragment("channels/new") },
    ],
    t("Add channels"),
  );
}
