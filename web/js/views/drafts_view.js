/**
 * Lists of what is not sent: drafts, and what is sent later.
 * @module
 */

import { deleteReminder, deleteScheduled } from "../api/endpoints.js";
import { fill, h, icon, iconButton } from "../lib/dom.js";
import { effect, scope } from "../lib/signal.js";
import { fullTime, relativeTime } from "../lib/time.js";
import { namesOf } from "../selectors/sidebar_items.js";
import { topicName } from "../selectors/title.js";
import { channelOf } from "../store/channels.js";
import { actionRow } from "./parts.js";
import { showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../store/outbox.js").Destination} Destination */

/** @param {App} app @param {Destination} destination */
function placeName({ store }, { type, to, topic }) {
  if (type === "direct") return `To ${to.length > 0 ? namesOf(store, to) : "nobody yet"}`;
  return `#${to.length > 0 ? channelOf(store, to[0]).name : "…"} › ${topicName(store, topic)}`;
}

/** @param {HTMLElement} list */
function arrowKeys(list) {
  list.addEventListener("keydown", (event) => {
    const rows = /** @type {HTMLElement[]} */ ([...list.querySelectorAll(".row__main")]);
    const at = rows.indexOf(/** @type {any} */ (document.activeElement));
    if (event.key === "ArrowDown" || event.key === "j") rows[Math.min(at + 1, rows.length - 1)]?.focus();
    else if (event.key === "ArrowUp" || event.key === "k") rows[Math.max(at - 1, 0)]?.focus();
    else if ((event.key === "Delete" || event.key === "Backspace") && at >= 0)
      /** @type {HTMLElement | null} */ (rows[at].parentElement?.querySelector(".icon-button"))?.click();
    else return;
    event.preventDefault();
  });
}

/** A dialog with a list that is drawn anew when what `items` reads has changed. @param {string} title @param {() => import("../lib/dom.js").Child} items @param {() => void} onClose */
function showList(title, items, onClose) {
  const list = h("ul", { class: "rows" });
  arrowKeys(list);
  const end = scope(() => effect(() => fill(list, items())));
  return showDialog(title, () => [list], {
    onClose: () => {
      end();
      onClose();
    },
  });
}

/** The icon of what is missing, and a sentence. @param {keyof import("../lib/icons.js")["icons"]} iconName @param {string} text */
const empty = (iconName, text) => h("li", { class: "empty" }, icon(iconName), h("p", null, text));

/** What a row says. @param {string} title @param {string} content @param {string} when @param {string} [look] */
const rowText = (title, content, when, look = "muted") => [
  h("strong", null, title),
  h("span", { class: "row__text" }, content.slice(0, 200)),
  h("span", { class: look }, when),
];

/** @type {import("./overlays.js").ShowOverlay} */
export function showDrafts(app, _parts, onClose) {
  const { store, session } = app;
  const dialog = showList(
    "Drafts",
    () => {
      store.on("drafts");
      const drafts = session.drafts.all();
      if (drafts.length === 0) return empty("draft", "There are no drafts.");
      return drafts.map(({ key, destination, content, timestamp }) => {
        const write = () => {
          session.drafts.promote(key);
          dialog.close();
          app.goConversation(destination);
          app.composer.open(destination, { content });
        };
        const remove = () => {
          session.drafts.removeKey(key);
          store.touch("drafts");
        };
        const when = relativeTime(timestamp, Boolean(store.setting("twenty_four_hour_time")));
        return actionRow(
          write,
          rowText(placeName(app, destination), content, when),
          iconButton("trash", "Delete the draft", { onclick: remove }),
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
  const is24 = Boolean(store.setting("twenty_four_hour_time"));
  const timeOf = (/** @type {any} */ { scheduled_delivery_timestamp }) => fullTime(scheduled_delivery_timestamp, is24);

  /** @param {any} message */
  function messageRow(message) {
    const { scheduled_message_id: id, content, failed, to, topic } = message;
    /** @type {Destination} */
    const destination = message.type === "stream" ? { type: "stream", to: [to], topic } : { type: "direct", to, topic: "" };
    const takeBack = async () => {
      if (!(await session.attempt(deleteScheduled(id)))) return;
      dialog.close();
      app.goConversation(destination);
      app.composer.open(destination, { content });
    };
    const [when, look] = failed ? ["It could not be sent.", "error-text"] : [`To be sent ${timeOf(message)}`, "muted"];
    return actionRow(
      takeBack,
      rowText(placeName(app, destination), content, when, look),
      iconButton("trash", "Delete", { onclick: () => void session.attempt(deleteScheduled(id)) }),
      "Take back and edit",
    );
  }

  /** @param {any} reminder */
  function reminderRow(reminder) {
    const show = () => {
      dialog.close();
      app.goNarrow([{ operator: "id", operand: reminder.reminder_target_message_id }]);
    };
    return actionRow(
      show,
      rowText("Reminder", reminder.content, timeOf(reminder)),
      iconButton("trash", "Delete the reminder", { onclick: () => void session.attempt(deleteReminder(reminder.reminder_id)) }),
    );
  }

  const dialog = showList(
    "Scheduled",
    () => {
      store.on("scheduled");
      const scheduled = (store.state.scheduled_messages ?? []).toSorted(
        (/** @type {any} */ a, /** @type {any} */ b) => a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp,
      );
      const reminders = store.state.reminders ?? [];
      if (scheduled.length + reminders.length === 0) return empty("clock", "Nothing is scheduled.");
      return [scheduled.map(messageRow), reminders.map(reminderRow)];
    },
    onClose,
  );
  return dialog;
}
