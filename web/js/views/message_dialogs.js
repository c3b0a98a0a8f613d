/**
 * Editing and reporting messages; their source, history and readers.
 * @module
 */

import { ApiError } from "../api/client.js";
import { getMessage } from "../api/endpoints.js";
import { messageHistory, readReceipts, reportMessage, updateMessage } from "../api/endpoints_on_demand.js";
import { h } from "../lib/dom.js";
import { distinct } from "../lib/signal.js";
import { fullTime } from "../lib/time.js";
import { t } from "../lib/words.js";
import { holdKeys, isComposing } from "../platform/keyboard.js";
import { topicName } from "../selectors/title.js";
import { channelOf } from "../store/channels.js";
import { userOf } from "../store/users.js";
import { createEditor, isSureWithout } from "./editor.js";
import { field, form, submitButton } from "./form_parts.js";
import { contentElement } from "./message_content.js";
import { avatar, button, select } from "./parts.js";
import { confirm, showDialog } from "./popover.js";
import { later } from "./replies.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Message} Message */

/** The SHA-256 of a text, in hexadecimal digits. Over plain http from another machine browsers have none. @param {string} text */
async function digestOf(text) {
  const bytes = await globalThis.crypto.subtle?.digest("SHA-256", new TextEncoder().encode(text));
  return bytes && Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Asks before an edit takes the place of one that was made meanwhile. @param {unknown} error @param {() => Promise<unknown>} replace */
async function replaceOther(error, replace) {
  if (!(error instanceof ApiError && error.code === "EXPECTATION_MISMATCH")) throw error;
  const words = t("This message was edited elsewhere since you opened it. Your text would replace that edit.");
  return (await confirm(t("Replace the other edit?"), words, t("Save"))) ? replace() : undefined;
}

/** Edits the content in the row. What is written is kept until it is saved or given up.
 * @param {App} app @param {Message} message @param {import("../../types/app.js").Timeline | null} timeline @param {{ isResumed?: boolean }} [how] */
export async function editMessage(app, message, timeline, { isResumed = false } = {}) {
  const { session } = app;
  const key = String(message.id);
  const asked = session.attempt(getMessage(message.id, false));
  const reply = await (isResumed ? asked : holdKeys(asked));
  const row = timeline?.rowOf(message.id);
  const content = row?.querySelector(".content");
  // Another tab may have ended it meanwhile.
  if (isResumed && !session.edits.texts.has(key)) return;
  if (!reply || !(content instanceof HTMLElement) || row?.querySelector(".editor")) return;
  /** Shows the content again. The row may have been drawn again since. */
  const remove = () => {
    const [around, before] = [form.closest(".message-row"), form.previousElementSibling];
    const isElsewhere = document.activeElement !== document.body && !form.contains(document.activeElement);
    form.remove();
    if (before instanceof HTMLElement) before.hidden = false;
    if (around instanceof HTMLElement && !isElsewhere) around.focus({ preventScroll: true });
  };
  const close = () => {
    session.edits.set(key, null);
    remove();
  };
  const finish = () => {
    session.uploads.giveUpFailed(editor.value());
    close();
  };
  const saveOnce = async () => {
    const written = editor.value();
    if (!form.isConnected) return;
    if (editor.isUploading()) return session.tellError(t("Please wait until the files are uploaded."));
    if (!(await isSureWithout(app, written, t("Save")))) return;
    const text = session.uploads.withoutFailed(written);
    if (text.trim() === reply.message.content.trim()) return finish();
    const prev_content_sha256 = await digestOf(reply.message.content);
    const edit = updateMessage(message.id, { content: text, ...(prev_content_sha256 ? { prev_content_sha256 } : {}) });
    const done = await session.attempt(edit.catch((error) => replaceOther(error, () => updateMessage(message.id, { content: text }))));
    if (!done) return;
    // What was written during the request is another edit, of the text as the server trims it.
    reply.message.content = text.replace(/^\n+|\s+$/g, "");
    if (editor.value() === written) finish();
  };
  /** One request after the other: each replaces the text of the one before. */
  let saved = Promise.resolve();
  const save = () => {
    saved = saved.then(saveOnce);
  };
  const discard = () => {
    const text = editor.value();
    close();
    if (text === reply.message.content) return;
    const undo = () => {
      session.edits.set(key, text);
      void editMessage(app, message, app.timeline);
    };
    session.tell(t("The edit is discarded."), { label: t("Undo"), run: undo });
  };
  let isFollowing = false;
  const editor = createEditor(app, {
    label: t("Edit message"),
    value: session.edits.texts.get(key) ?? reply.message.content,
    onSend: save,
    onInput: () => isFollowing || session.edits.set(key, editor.value() === reply.message.content ? null : editor.value()),
    channel: message.stream_id ?? null,
    isChannel: message.type === "stream",
    isEdit: true,
  });
  const form = h(
    "div",
    { class: "editor-form" },
    editor.element,
    h("div", { class: "dialog__buttons" }, button(t("Cancel"), discard), button(t("Save"), save, "primary")),
  );
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || isComposing(event)) return;
    event.stopPropagation();
    event.preventDefault();
    discard();
  });
  // Another tab has changed edits: what it writes is shown, and an edit that ended there ends here.
  form.addEventListener("follow", () => {
    const text = session.edits.texts.get(key);
    if ((text ?? reply.message.content) === editor.value()) return;
    if (text === undefined) return remove();
    isFollowing = true;
    editor.setValue(text);
    isFollowing = false;
  });
  content.hidden = true;
  content.after(form);
  if (!isResumed) editor.focus();
}

/** Listens to the changes of a message that is shown. For the scope of a dialog. @param {App} app @param {number} id */
function changesOf({ store, timeline }, id) {
  const revision = distinct(() => {
    timeline?.range.version.value;
    return store.messages.byId.get(id)?.rev;
  });
  return () => void revision.value;
}

/** @param {App} app @param {Message} message */
export function showSource(app, message) {
  const source = () =>
    later(
      app,
      () => getMessage(message.id, false),
      ({ message: { content } }) => [
        h("textarea", { class: "source", readonly: true, rows: 10, "aria-label": t("Source") }, content),
        h(
          "div",
          { class: "dialog__buttons" },
          button(t("Copy"), () => app.copy(content, t("Copied."))),
        ),
      ],
      changesOf(app, message.id),
    );
  showDialog(t("Source of the message"), () => [source()]);
}

/** What may be wrong with a message. @type {() => [string, string][]} */
const reportTypes = () => [
  ["spam", t("Spam")],
  ["harassment", t("Harassment")],
  ["inappropriate", t("It does not belong here")],
  ["norms", t("It breaks our rules")],
  ["other", t("Something else")],
];

/** Reports a message to the moderators. @param {App} app @param {Message} message */
export function showReport({ session }, message) {
  const description = h("textarea", { rows: 3, maxlength: 1000 });
  const type = select(reportTypes(), "other", () => {
    description.required = type.value === "other";
  });
  description.required = true;
  showDialog(
    t("Report to the moderators"),
    (close) => [
      form(
        async () => {
          const params = { report_type: type.value, ...(description.value.trim() ? { description: description.value.trim() } : {}) };
          if (!(await session.attempt(reportMessage(message.id, params)))) return;
          close();
          session.tell(t("The moderators have been notified."));
        },
        field(t("What is wrong with it?"), type),
        field(t("Describe the problem"), description),
        submitButton(t("Report")),
      ),
    ],
    { class: "dialog--small" },
  );
}

/** Shows the versions of a message, with what changed. @param {App} app @param {Message} message */
export function showHistory(app, message) {
  /** @param {Awaited<ReturnType<typeof messageHistory>>} reply */
  const render = ({ message_history: history }) =>
    history.toReversed().map((version, index) => {
      const who = version.user_id ? userOf(app.store, version.user_id).full_name : t("Someone");
      const isFirst = index === history.length - 1;
      const moved = [
        version.prev_stream && t("moved from #{channel}", { channel: channelOf(app.store, version.prev_stream).name }),
        version.prev_topic !== undefined &&
          t("topic changed from “{old}” to “{topic}”", {
            old: topicName(app.store, version.prev_topic),
            topic: topicName(app.store, version.topic ?? ""),
          }),
      ]
        .filter(Boolean)
        .join(", ");
      return h(
        "section",
        { class: "version" },
        h("h3", null, `${who}, ${fullTime(version.timestamp, app.store.is24Hours)}`, isFirst && [" ", t("(first version)")]),
        moved && h("p", { class: "muted" }, moved),
        contentElement(app, version.content_html_diff ?? version.rendered_content, null),
      );
    });
  const versions = () => later(app, () => messageHistory(message.id), render, changesOf(app, message.id));
  showDialog(t("Edit history"), () => [versions()], { class: "dialog--wide" });
}

/** @param {App} app @param {Message} message */
export function showReceipts(app, message) {
  /** @param {Awaited<ReturnType<typeof readReceipts>>} reply */
  const render = ({ user_ids: ids }) => {
    const users = ids.map((id) => userOf(app.store, id)).sort((a, b) => a.full_name.localeCompare(b.full_name));
    if (users.length === 0) return h("p", null, t("No one has read it yet."));
    return h(
      "ul",
      { class: "people-list" },
      users.map((user) => h("li", null, avatar(user, 24), user.full_name)),
    );
  };
  // Reading has no event for others, but those who react to a message have read it.
  const readers = () => later(app, () => readReceipts(message.id), render, changesOf(app, message.id));
  showDialog(t("Who has read this"), () => [readers()]);
}
