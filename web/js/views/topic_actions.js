/**
 * What one can do with a topic, and with a channel from lists: mute, follow, resolve, mark as read, pin.
 * @module
 */

import { deleteTopic, getMessages, unsubscribe, updateMessage, updateSubscription, updateUserTopic } from "../api/endpoints.js";
import { go } from "../platform/router.js";
import { fragmentOf, topicsFragment } from "../selectors/narrow.js";
import { channelOf, FOLLOWED, INHERIT, MUTED, policyOf, UNMUTED } from "../store/channels.js";
import { topicKey } from "../store/conversations.js";
import { may } from "../store/lists.js";
import { ask, confirm, showMenu } from "./popover.js";
import { joinChannel } from "./subscription_notice.js";

/** @typedef {import("../../types/app.js").App} App */

/** @param {App} app @param {number} streamId @param {string} topic @param {number} policy */
export async function setTopicPolicy(app, streamId, topic, policy) {
  const { session, store } = app;
  const words = ["The topic is as its channel again.", "The topic is muted.", "The topic is unmuted.", "You follow the topic."];
  const before = policyOf(store, streamId, topic);
  const undo = () => session.attempt(updateUserTopic(streamId, topic, before));
  if (await session.attempt(updateUserTopic(streamId, topic, policy)))
    session.tell(words[policy], false, { label: "Undo", run: () => void undo() });
}

/** Some message of a topic, by which the whole topic is moved. @param {App} app @param {number} streamId @param {string} topic */
async function someMessage({ session }, streamId, topic) {
  const narrow = [
    { operator: "channel", operand: streamId },
    { operator: "topic", operand: topic },
  ];
  const reply = await session.attempt(getMessages({ narrow, anchor: "newest", num_before: 1, num_after: 0 }));
  return reply?.messages[0]?.id;
}

/** @param {App} app @param {number} streamId @param {string} topic */
export async function toggleResolved(app, streamId, topic) {
  const id = await someMessage(app, streamId, topic);
  if (!id) return;
  const next = topic.startsWith("✔ ") ? topic.replace(/^✔ [ ✔]*/, "") : `✔ ${topic}`;
  await app.session.attempt(updateMessage(id, { topic: next, propagate_mode: "change_all", send_notification_to_old_thread: false }));
}

/** @param {App} app @param {number} streamId @param {string} topic */
export async function renameTopic(app, streamId, topic) {
  const next = await ask("Rename topic", topic, { maxlength: app.store.state.max_topic_length, action: "Rename" });
  if (next === null || next === topic) return;
  const id = await someMessage(app, streamId, topic);
  if (id)
    await app.session.attempt(
      updateMessage(id, {
        topic: next,
        propagate_mode: "change_all",
        send_notification_to_old_thread: false,
        send_notification_to_new_thread: true,
      }),
    );
}

/** @param {App} app @param {number} streamId @param {string} topic @param {Element} opener @param {{ x: number, y: number }} [at] */
export function showTopicMenu(app, streamId, topic, opener, at) {
  const { store, session } = app;
  const policy = policyOf(store, streamId, topic);
  const isMutedChannel = channelOf(store, streamId).is_muted;
  const terms = [
    { operator: "channel", operand: streamId },
    { operator: "topic", operand: topic },
  ];
  showMenu(
    opener,
    [
      {
        label: policy === FOLLOWED ? "Unfollow" : "Follow",
        icon: "follow",
        run: () => void setTopicPolicy(app, streamId, topic, policy === FOLLOWED ? INHERIT : FOLLOWED),
      },
      isMutedChannel
        ? {
            label: policy === UNMUTED ? "Mute again" : "Unmute",
            icon: "bell",
            run: () => void setTopicPolicy(app, streamId, topic, policy === UNMUTED ? INHERIT : UNMUTED),
          }
        : {
            label: policy === MUTED ? "Unmute" : "Mute",
            icon: "mute",
            run: () => void setTopicPolicy(app, streamId, topic, policy === MUTED ? INHERIT : MUTED),
          },
      {
        label: "Mark as read",
        icon: "check",
        run: () => void session.markNarrowRead(terms, store.unread.get(topicKey(streamId, topic)) ?? []),
      },
      topic !== "" && {
        label: topic.startsWith("✔ ") ? "Mark as unresolved" : "Mark as resolved",
        icon: "check",
        run: () => void toggleResolved(app, streamId, topic),
      },
      { label: "Rename", icon: "edit", run: () => void renameTopic(app, streamId, topic) },
      { label: "Copy link", icon: "link", run: () => void app.copy(`${location.origin}/#${fragmentOf(store, terms)}`, "Link copied.") },
      store.state.is_admin &&
        may(store, "can_delete_any_message_group") && {
          label: "Delete topic",
          icon: "trash",
          isDanger: true,
          run: async () => {
            if (
              !(await confirm("Delete this topic?", `All messages of “${topic}” will be gone for everybody.`, "Delete", { isDanger: true }))
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
    `Actions on the topic ${topic}`,
    at,
  );
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
      { label: "Channel settings", icon: "settings", run: () => go(`channels/${streamId}/${encodeURIComponent(channel.name)}/general`) },
      {
        label: "Mark as read",
        icon: "check",
        run: () => void session.attempt(session.markNarrow([{ operator: "channel", operand: streamId }], "add")),
      },
      channel.subscribed && {
        label: channel.pin_to_top ? "Unpin" : "Pin to top",
        icon: "pin",
        run: () => set("pin_to_top", !channel.pin_to_top),
      },
      channel.subscribed && {
        label: channel.is_muted ? "Unmute" : "Mute",
        icon: channel.is_muted ? "bell" : "mute",
        run: () => set("is_muted", !channel.is_muted),
      },
      { label: "List of topics", icon: "list", run: () => go(topicsFragment(store, streamId)) },
      !channel.is_archived && {
        label: "New topic",
        icon: "plus",
        run: () => app.composer.open({ type: "stream", to: [streamId], topic: "" }),
      },
      {
        label: "Copy link",
        icon: "link",
        run: () => void app.copy(`${location.origin}/#${fragmentOf(store, [{ operator: "channel", operand: streamId }])}`, "Link copied."),
      },
      !channel.subscribed && !channel.is_archived && { label: "Subscribe", icon: "plus", run: () => void joinChannel(app, streamId) },
      channel.subscribed && {
        label: "Unsubscribe",
        icon: "logout",
        isDanger: true,
        run: async () => {
          const isCut = channel.invite_only;
          if (
            isCut &&
            !(await confirm(`Leave #${channel.name}?`, "It is private: somebody has to add you again.", "Leave", { isDanger: true }))
          )
            return;
          await session.attempt(unsubscribe({ subscriptions: [channel.name] }));
        },
      },
    ],
    `Actions on ${channel.name}`,
    at,
  );
}
