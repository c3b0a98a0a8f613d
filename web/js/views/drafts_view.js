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

/** @type {import("./overlays.js").ShowOverlay} */
export function showDrafts(app, _parts, onClose) {
  const { store, session } = app;
  const list = h("ul", { class: "rows" });
  arrowKeys(list);
  const end = scope(() =>
    effect(() => {
      store.on("drafts");
      const drafts = session.drafts.all();
      fill(
        list,
        drafts.length === 0 && h("li", { class: "empty" }, icon("draft"), h("p", null, "There are no drafts.")),
        drafts.map((draft) =>
          h(
            "li",
            { class: "row" },
            h(
              "button",
              {
                type: "button",
                class: "row__main",
                onclick: () => {
                  dialog.close();
                  app.goConversation(draft.destination);
                  app.composer.open(draft.destination, { content: draft.content });
                },
              },
              h("strong", null, placeName(app, draft.destination)),
              h("span", { class: "row__text" }, draft.content.slice(0, 200)),
              h("span", { class: "muted" }, relativeTime(draft.timestamp, Boolean(store.setting("twenty_four_hour_time")))),
            ),
            iconButton("trash", "Delete the draft", {
              onclick: () => {
                session.drafts.remove(draft.destination);
                store.touch("drafts");
              },
            }),
          ),
        ),
      );
    }),
  );
  const dialog = showDialog("Drafts", () => [list], {
    onClose: () => {
      end();
      onClose();
    },
  });
  return dialog;
}

/** @type {import("./overlays.js").ShowOverlay} */
export function showScheduled(app, _parts, onClose) {
  const { store, session } = app;
  const list = h("ul", { class: "rows" });
  arrowKeys(list);
  const is24 = Boolean(store.setting("twenty_four_hour_time"));
  const end = scope(() =>
    effect(() => {
      store.on("scheduled");
      const scheduled = (store.state.scheduled_messages ?? []).toSorted(
        (/** @type {any} */ a, /** @type {any} */ b) => a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp,
      );
      const reminders = store.state.reminders ?? [];
      fill(
        list,
        scheduled.length + reminders.length === 0 && h("li", { class: "empty" }, icon("clock"), h("p", null, "Nothing is scheduled.")),
        scheduled.map((/** @type {any} */ message) => {
          /** @type {Destination} */
          const destination =
            message.type === "stream"
              ? { type: "stream", to: [message.to], topic: message.topic }
              : { type: "direct", to: message.to, topic: "" };
          return h(
            "li",
            { class: "row" },
            h(
              "button",
              {
                type: "button",
                class: "row__main",
                title: "Take back and edit",
                onclick: async () => {
                  if (!(await session.attempt(deleteScheduled(message.scheduled_message_id)))) return;
                  dialog.close();
                  app.goConversation(destination);
                  app.composer.open(destination, { content: message.content });
                },
              },
              h("strong", null, placeName(app, destination)),
              h("span", { class: "row__text" }, message.content.slice(0, 200)),
              h(
                "span",
                { class: message.failed ? "error-text" : "muted" },
                message.failed ? "It could not be sent." : `To be sent ${fullTime(message.scheduled_delivery_timestamp, is24)}`,
              ),
            ),
            iconButton("trash", "Delete", { onclick: () => void session.attempt(deleteScheduled(message.scheduled_message_id)) }),
          );
        }),
        reminders.map((/** @type {any} */ reminder) =>
          h(
            "li",
            { class: "row" },
            h(
              "button",
              {
                type: "button",
                class: "row__main",
                onclick: () => {
                  dialog.close();
                  app.goNarrow([{ operator: "id", operand: reminder.reminder_target_message_id }]);
                },
              },
              h("strong", null, "Reminder"),
              h("span", { class: "row__text" }, reminder.content.slice(0, 200)),
              h("span", { class: "muted" }, fullTime(reminder.scheduled_delivery_timestamp, is24)),
            ),
            iconButton("trash", "Delete the reminder", { onclick: () => void session.attempt(deleteReminder(reminder.reminder_id)) }),
          ),
        ),
      );
    }),
  );
  const dialog = showDialog("Scheduled", () => [list], {
    onClose: () => {
      end();
      onClose();
    },
  });
  return dialog;
}
