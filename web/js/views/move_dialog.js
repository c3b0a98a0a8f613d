/**
 * Moving messages, or a whole topic, to another topic or channel.
 * @module
 */

import { updateMessage } from "../api/endpoints_on_demand.js";
import { h } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { moveRights } from "../selectors/message_rights.js";
import { checkbox, field, form, submit } from "./form_parts.js";
import { button, select } from "./parts.js";
import { channelChooser, pickerField, topicChooser } from "./pickers.js";
import { showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Message} Message */

/** Moves messages to another topic or channel, as far as the user may. @param {App} app @param {Message} message
 * @param {"change_later" | "change_all"} [mode] What is proposed. */
export function showMove(app, message, mode = "change_later") {
  const { session } = app;
  const own = Number(message.stream_id);
  // Of a whole topic the oldest message decides, which the server knows.
  const timestamp = mode === "change_all" ? undefined : message.timestamp;
  const rights = (/** @type {number} */ to) => moveRights(app.store, own, { to, timestamp });
  const { topic: mayRename, channel: mayLeave } = rights(own);
  if (!mayRename && !mayLeave) return;
  const channel = channelChooser(app, {
    chosen: own,
    isWanted: ({ subscribed, stream_id }) => subscribed || stream_id === own,
    onChange: (id) => {
      topic.input.disabled = !rights(id).topic;
      topic.input.value = topicThere();
      topic.input.focus();
    },
  });
  const topic = topicChooser(app, { value: message.subject, streamId: channel.id });
  /** The new topic: the same one where it cannot be changed, whatever was written for another channel. */
  const topicThere = () => (topic.input.disabled ? message.subject : topic.value());
  topic.input.disabled = !mayRename;
  (mayRename ? topic : channel).input.autofocus = true;
  const scope = select(
    [
      ["change_one", t("Only this message")],
      ["change_later", t("This message and all later ones")],
      ["change_all", t("All messages of the topic")],
    ],
    mode,
  );
  let notifiesOld = false;
  let notifiesNew = true;
  showDialog(t("Move messages"), (close) => [
    form(
      async () => {
        const isOtherChannel = channel.id() !== own;
        const name = topicThere().trim();
        // Nothing would move.
        if (name === message.subject && !isOtherChannel) return close();
        const done = await session.attempt(
          updateMessage(message.id, {
            ...(name !== message.subject || !isOtherChannel ? { topic: name } : {}),
            ...(isOtherChannel ? { stream_id: channel.id() } : {}),
            propagate_mode: scope.value,
            send_notification_to_old_thread: notifiesOld,
            send_notification_to_new_thread: notifiesNew,
          }),
        );
        if (!done) return;
        close();
        session.tell(t("The messages have been moved."));
      },
      mayLeave && pickerField(t("Channel"), channel),
      pickerField(t("Topic"), topic),
      field(t("What to move"), scope),
      checkbox(t("Leave a notice in the old topic"), notifiesOld, (is) => {
        notifiesOld = is;
      }),
      checkbox(t("Leave a notice in the new topic"), notifiesNew, (is) => {
        notifiesNew = is;
      }),
      h("div", { class: "dialog__buttons" }, button(t("Cancel"), close), submit(t("Move"))),
    ),
  ]);
}
