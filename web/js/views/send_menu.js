/**
 * The menu beside the send button: send later, save as a draft, insert saved texts or widgets, and the action of Enter.
 * @module
 */

import { updateSettings } from "../api/endpoints.js";
import { t } from "../lib/words.js";
import { showMenu } from "./popover.js";
import { showSchedule, showSnippets } from "./schedule.js";
import { showWidgetForm } from "./widget_dialog.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../store/outbox.js").Destination} Destination */

/** @param {App} app @param {Element} opener
 * @param {{ editor: import("../../types/app.js").Editor, checked: () => Promise<{ destination: Destination, content: string } | null>,
 *   sent: (to: Destination) => unknown, keep: () => void }} how `keep`: keeps the text as a draft. */
export function showSendMenu(app, opener, { editor, checked, sent, keep }) {
  const { store, session } = app;
  showMenu(
    opener,
    [
      {
        label: t("Send later"),
        icon: "clock",
        run: async () => {
          const message = await checked();
          if (message) showSchedule(app, { ...message, onDone: () => sent(message.destination) });
        },
      },
      { label: t("Save as draft"), icon: "draft", run: keep },
      { label: t("Insert a saved text"), icon: "copy", key: "Ctrl+'", run: () => showSnippets(app, editor) },
      editor.isEmpty() && {
        label: t("Poll"),
        icon: "poll",
        run: () => showWidgetForm(editor, "poll"),
      },
      editor.isEmpty() && {
        label: t("List of tasks"),
        icon: "todo",
        run: () => showWidgetForm(editor, "todo"),
      },
      {
        label: t("Enter sends"),
        icon: "keyboard",
        checked: Boolean(store.setting("enter_sends")),
        run: () => void session.attempt(updateSettings({ enter_sends: !store.setting("enter_sends") })),
      },
    ],
    t("More ways to send"),
  );
}
