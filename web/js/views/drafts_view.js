/**
 * Lists of messages that are not sent: drafts, scheduled messages and reminders.
 * @module
 */

import { deleteReminder, deleteScheduled, scheduleMessage } from "../api/endpoints_on_demand.js";
import { fill, focusedIndex, h, icon, iconButton } from "../lib/dom.js";
import { effect } from "../lib/signal.js";
import { fullTime, relativeTime } from "../lib/time.js";
import { t } from "../lib/words.js";
import { namesOf } from "../selectors/sidebar_items.js";
import { topicName } from "../selectors/title.js";
import { channelOf } from "../store/channels.js";
import { actionRow } from "./form_parts.js";
import { textOf } from "./message_content.js";
import { showNewTime } from "./on_demand.js";
import { keepFocus } from "./parts.js";
import { showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../store/outbox.js").Destination} Destination */

/** @param {App} app @param {Destination} destination */
function placeName({ store }, { type, to, topic }) {
  if (type === "direct") return to.length > 0 ? t("To {names}", { names: namesOf(store, to) }) : t("No recipients yet");
  return `#${to.length > 0 ? channelOf(store, to[0]).name : "…"} › ${topicName(store, topic)}`;
}

/** @param {HTMLElement} list */
function arrowKeys(list) {
  list.addEventListener("keydown", (event) => {
    const rows = /** @type {HTMLElement[]} */ ([...list.querySelectorAll(".row__main")]);
    const at = focusedIndex(rows);
    if (event.key === "ArrowDown" || event.key === "j") rows[Math.min(at + 1, rows.length - 1)]?.focus();
    else if (event.key === "ArrowUp" || event.key === "k") rows[Math.max(at - 1, 0)]?.focus();
    else if ((event.key === "Delete" || event.key === "Backspace") && at >= 0)
      /** @type {HTMLElement | null} */ (rows[at].parentElement?.querySelector(".icon-button:last-of-type"))?.click();
    else return;
    event.preventDefault();
  });
}

/** A dialog with a list that is drawn again when the values that `items` reads have changed. @param {string} title @param {() => import("../lib/dom.js").Child} items @param {() => void} onClose */
function showList(title, items, onClose) {
  const list = h("ul", { class: "rows" });
  arrowKeys(list);
  const body = () => {
    effect(() => {
      const next = items();
      keepFocus(list, () => fill(list, next));
    });
    return [list];
  };
  return showDialog(title, body, { onClose });
}

/** The content of an empty list. @param {keyof import("../lib/icons.js")["icons"]} iconName @param {string} text */
const empty = (iconName, text) => h("li", { class: "empty" }, icon(iconName), h("p", null, text));

/** The text of a row. @param {string} title @param {string} content @param {string} when @param {string} [look] */
const rowText = (title, content, when, look = "muted") => [
  h("strong", null, title),
  h("span", { class: "row__text" }, content.slice(0, 200)),
  h("span", { class: look }, when),
];

/** @type {import("./overlays.js").ShowOverlay} */
export function showDrafts(app, _parts, onClose) {
  const { store, session } = app;
  const dialog = showList(
    t("Drafts"),
    () => {
      store.on("drafts");
      const drafts = session.drafts.all();
      if (drafts.length === 0) return empty("draft", t("There are no drafts."));
      return drafts.map(({ key, destination, content, timestamp }) => {
        const write = () => {
          app.composer.open(null);
          session.drafts.promote(key);
          dialog.close();
          app.goConversation(destination);
          app.composer.open(destination, { content });
        };
        const remove = () => {
          session.drafts.removeKey(key);
          store.touch("drafts");
          const back = () => {
            session.drafts.set(destination, content, timestamp, true, session.drafts.freeKey(destination, timestamp));
            store.touch("drafts");
          };
          session.tell(t("The draft is deleted."), { label: t("Undo"), run: back });
        };
        const when = relativeTime(timestamp, store.is24Hours);
        return actionRow(
          write,
          rowText(placeName(app, destination), content, when),
          iconButton("trash", t("Delete the draft"), { onclick: remove }),
        );
      });
    },
    onClose,
  );
  return dialog;
}

/** @type {import("./overlays.js").ShowOverlay} */
export function showScheduled(app, _parts, onClose) {
  const { store, session } = app;
  const timeOf = (/** @type {{ scheduled_delivery_timestamp: number }} */ { scheduled_delivery_timestamp }) =>
    fullTime(scheduled_delivery_timestamp, store.is24Hours);

  /** @param {import("../../types/api.js").ScheduledMessage} message */
  function messageRow(message) {
    const { scheduled_message_id: id, content, failed, to, topic } = message;
    /** @type {Destination} */
    const destination = { type: message.type === "stream" ? "stream" : "direct", to: [to].flat(), topic: topic ?? "" };
    const takeBack = async () => {
      if (!(await session.attempt(deleteScheduled(id)))) return;
      dialog.close();
      app.goConversation(destination);
      app.composer.open(destination, { content });
    };
    const remove = async () => {
      if (!(await session.attempt(deleteScheduled(id)))) return;
      const where = message.type === "stream" ? { type: "channel", to, topic } : { type: "direct", to };
      const again = scheduleMessage.bind(null, { ...where, content, scheduled_delivery_timestamp: message.scheduled_delivery_timestamp });
      session.tell(t("It will not be sent."), failed ? undefined : { label: t("Undo"), run: () => void session.attempt(again()) });
    };
    const [when, look] = failed ? [t("It could not be sent."), "error-text"] : [t("To be sent {time}", { time: timeOf(message) }), "muted"];
    return actionRow(
      takeBack,
      rowText(placeName(app, destination), content, when, look),
      [
        iconButton("clock", t("Another time"), { onclick: () => void showNewTime(app, id) }),
        iconButton("trash", t("Delete"), { onclick: () => void remove() }),
      ],
      t("Take back and edit"),
    );
  }

  /** @param {import("../../types/api.js").Reminder} reminder */
  function reminderRow(reminder) {
    const show = () => {
      dialog.close();
      app.goNarrow([{ operator: "near", operand: reminder.reminder_target_message_id }]);
    };
    return actionRow(
      show,
      rowText(t("Reminder"), textOf(reminder.rendered_content), timeOf(reminder)),
      iconButton("trash", t("Delete the reminder"), { onclick: () => void session.attempt(deleteReminder(reminder.reminder_id)) }),
    );
  }

  const dialog = showList(
    t("Scheduled"),
    () => {
      store.on("scheduled");
      const scheduled = (store.state.scheduled_messages ?? []).toSorted(
        (a, b) => a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp,
      );
      const reminders = store.state.reminders ?? [];
      if (scheduled.length + reminders.length === 0) return empty("clock", t("Nothing is scheduled."));
      return [scheduled.map(messageRow), reminders.map(reminderRow)];
    },
    onClose,
  );
  return dialog;
}
