/**
 * Editing, moving and deleting messages; their source, history and readers.
 * @module
 */

import { deleteMessage, getMessage, messageHistory, readReceipts, updateMessage } from "../api/endpoints.js";
import { fill, h } from "../lib/dom.js";
import { fullTime } from "../lib/time.js";
import { channelOf } from "../store/channels.js";
import { userOf } from "../store/users.js";
import { createEditor } from "./editor.js";
import { contentElement } from "./message_content.js";
import { avatar, checkbox, field, select } from "./parts.js";
import { confirm, showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Message} Message */

/** Edits the content in the row. What is written is kept until it is saved or given up.
 * @param {App} app @param {Message} message @param {import("../../types/app.js").Timeline | null} timeline @param {{ isResumed?: boolean }} [how] */
export async function editMessage(app, message, timeline, { isResumed = false } = {}) {
  const { session } = app;
  const key = String(message.id);
  const reply = await session.attempt(getMessage(message.id, false));
  const row = timeline?.rowOf(message.id);
  const content = row?.querySelector(".content");
  if (!reply || !(content instanceof HTMLElement) || row?.querySelector(".editor")) return;
  // The row may have been drawn anew since.
  const close = () => {
    session.edits.set(key, null);
    const [around, before] = [form.closest(".message-row"), form.previousElementSibling];
    form.remove();
    if (before instanceof HTMLElement) before.hidden = false;
    if (around instanceof HTMLElement) around.focus({ preventScroll: true });
  };
  const save = async () => {
    const text = editor.value();
    if (text.trim() === reply.message.content.trim()) return close();
    const done = await session.attempt(updateMessage(message.id, { content: text }));
    if (done) close();
  };
  const editor = createEditor(app, {
    label: "Edit message",
    value: session.edits.texts.get(key) ?? reply.message.content,
    onSend: () => void save(),
    onInput: () => session.edits.set(key, editor.value() === reply.message.content ? null : editor.value()),
    channel: message.stream_id ?? null,
    isChannel: message.type === "stream",
    isEdit: true,
  });
  const form = h(
    "div",
    { class: "editor-form" },
    editor.element,
    h(
      "div",
      { class: "dialog__buttons" },
      h("button", { type: "button", class: "button", onclick: close }, "Cancel"),
      h("button", { type: "button", class: "button button--primary", onclick: () => void save() }, "Save"),
    ),
  );
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.stopPropagation();
    event.preventDefault();
    close();
  });
  content.hidden = true;
  content.after(form);
  if (!isResumed) editor.focus();
}

/** @param {App} app @param {Message} message */
export async function showSource(app, message) {
  const reply = await app.session.attempt(getMessage(message.id, false));
  if (!reply) return;
  const text = h("textarea", { class: "source", readonly: true, rows: 10, "aria-label": "Source" }, reply.message.content);
  showDialog("Source of the message", () => [
    text,
    h(
      "div",
      { class: "dialog__buttons" },
      h("button", { type: "button", class: "button", onclick: () => void app.copy(reply.message.content, "Copied.") }, "Copy"),
    ),
  ]);
}

/** Moves messages to another topic or channel. @param {App} app @param {Message} message */
export function showMove(app, message) {
  const { store, session } = app;
  const channels = [...store.channels.values()]
    .filter((channel) => !channel.is_archived && (channel.subscribed || channel.stream_id === message.stream_id))
    .sort((a, b) => a.name.localeCompare(b.name));
  const channel = select(
    channels.map(({ stream_id, name }) => [stream_id, name]),
    message.stream_id,
    (id) => session.needTopics(Number(id)),
  );
  const topic = h("input", {
    type: "text",
    value: message.subject,
    maxlength: store.state.max_topic_length ?? 60,
    list: "move-topics",
    autofocus: true,
  });
  const topics = h(
    "datalist",
    { id: "move-topics" },
    (store.topics.get(Number(message.stream_id)) ?? []).map(({ name }) => h("option", { value: name })),
  );
  const scope = select(
    [
      ["change_one", "Only this message"],
      ["change_later", "This message and all later ones"],
      ["change_all", "All messages of the topic"],
    ],
    "change_later",
  );
  let notifiesOld = false;
  let notifiesNew = true;
  showDialog("Move messages", (close) => [
    h(
      "form",
      {
        class: "form",
        onsubmit: async (/** @type {Event} */ event) => {
          event.preventDefault();
          const isOtherChannel = Number(channel.value) !== message.stream_id;
          const done = await session.attempt(
            updateMessage(message.id, {
              ...(topic.value.trim() !== message.subject || !isOtherChannel ? { topic: topic.value.trim() } : {}),
              ...(isOtherChannel ? { stream_id: Number(channel.value) } : {}),
              propagate_mode: scope.value,
              send_notification_to_old_thread: notifiesOld,
              send_notification_to_new_thread: notifiesNew,
            }),
          );
          if (done) {
            close();
            session.tell("The messages have been moved.");
          }
        },
      },
      field("Channel", channel),
      field("Topic", topic),
      topics,
      field("What to move", scope),
      checkbox("Leave a notice in the old topic", notifiesOld, (is) => {
        notifiesOld = is;
      }),
      checkbox("Leave a notice in the new topic", notifiesNew, (is) => {
        notifiesNew = is;
      }),
      h(
        "div",
        { class: "dialog__buttons" },
        h("button", { type: "button", class: "button", onclick: close }, "Cancel"),
        h("button", { type: "submit", class: "button button--primary" }, "Move"),
      ),
    ),
  ]);
}

/** @param {App} app @param {Message} message */
export async function confirmDelete({ session }, message) {
  if (await confirm("Delete this message?", "It will be gone for everybody, and cannot be brought back.", "Delete", { isDanger: true })) {
    await session.attempt(deleteMessage(message.id));
  }
}

/** Shows the versions of a message, with what changed. @param {App} app @param {Message} message */
export async function showHistory(app, message) {
  const reply = await app.session.attempt(messageHistory(message.id));
  if (!reply) return;
  const is24 = Boolean(app.store.setting("twenty_four_hour_time"));
  const versions = reply.message_history.toReversed();
  showDialog(
    "Edit history",
    () =>
      versions.map((/** @type {any} */ version, /** @type {number} */ index) => {
        const who = version.user_id ? userOf(app.store, version.user_id).full_name : "Somebody";
        const isFirst = index === versions.length - 1;
        const moved = [
          version.prev_stream && `moved from #${channelOf(app.store, version.prev_stream).name}`,
          version.prev_topic !== undefined && `topic changed from “${version.prev_topic}” to “${version.topic}”`,
        ]
          .filter(Boolean)
          .join(", ");
        return h(
          "section",
          { class: "version" },
          h("h3", null, `${who}, ${fullTime(version.timestamp, is24)}`, isFirst && " (first version)"),
          moved && h("p", { class: "muted" }, moved),
          contentElement(app, version.content_html_diff ?? version.rendered_content, null),
        );
      }),
    { class: "dialog--wide" },
  );
}

/** @param {App} app @param {Message} message */
export async function showReceipts(app, message) {
  const body = h("div", null, "Loading…");
  showDialog("Who has read this", () => [body]);
  const reply = await app.session.attempt(readReceipts(message.id));
  if (!reply) return fill(body, "This cannot be shown.");
  const users = reply.user_ids
    .map((/** @type {number} */ id) => userOf(app.store, id))
    .sort((/** @type {any} */ a, /** @type {any} */ b) => a.full_name.localeCompare(b.full_name));
  fill(
    body,
    users.length === 0
      ? h("p", null, "Nobody has read it yet.")
      : h(
          "ul",
          { class: "people-list" },
          users.map((/** @type {any} */ user) => h("li", null, avatar(user, 24), user.full_name)),
        ),
  );
}
