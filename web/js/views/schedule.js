/**
 * Sending later, reminders, and saved texts.
 * @module
 */

import { del, post } from "../api/client.js";
import { createReminder, scheduleMessage } from "../api/endpoints.js";
import { h, iconButton } from "../lib/dom.js";
import { fullTime, localInputValue } from "../lib/time.js";
import { actionRow, field } from "./parts.js";
import { ask, showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../store/outbox.js").Destination} Destination */

/** Times that are often meant. @returns {[string, Date][]} */
export function commonTimes() {
  const now = new Date();
  const at = (/** @type {number} */ days, /** @type {number} */ hour) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
  const untilMonday = (8 - now.getDay()) % 7 || 7;
  /** @type {[string, Date][]} */
  const times = [
    ["In an hour", new Date(now.getTime() + 3_600_000)],
    ["This evening", at(0, 18)],
    ["Tomorrow at 9", at(1, 9)],
    ["Monday at 9", at(untilMonday, 9)],
  ];
  return times.filter(([, time]) => time.getTime() > now.getTime() + 5 * 60_000);
}

/** Asks for a time. @param {App} app @param {string} title @param {(seconds: number) => Promise<unknown>} choose Returns undefined to stay open. @param {HTMLElement} [more] */
export function chooseTime(app, title, choose, more) {
  const is24 = Boolean(app.store.setting("twenty_four_hour_time"));
  showDialog(title, (close) => {
    const done = async (/** @type {Date} */ time) => {
      if ((await choose(Math.floor(time.getTime() / 1000))) !== undefined) close();
    };
    const input = h("input", {
      type: "datetime-local",
      value: localInputValue(new Date(Date.now() + 3_600_000)),
      min: localInputValue(new Date()),
      required: true,
    });
    return [
      more ?? null,
      h(
        "div",
        { class: "choices" },
        ...commonTimes().map(([label, time]) =>
          h(
            "button",
            { type: "button", class: "button", onclick: () => void done(time) },
            label,
            h("small", null, fullTime(time.getTime() / 1000, is24)),
          ),
        ),
      ),
      h(
        "form",
        {
          class: "form",
          onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            void done(new Date(input.value));
          },
        },
        field("Another time", input),
        h("div", { class: "dialog__buttons" }, h("button", { type: "submit", class: "button button--primary" }, "Choose this time")),
      ),
    ];
  });
}

/** @param {App} app @param {{ destination: Destination, content: string, onDone: () => void }} message */
export function showSchedule(app, { destination: { type, to, topic }, content, onDone }) {
  chooseTime(app, "Send later", async (seconds) => {
    const where = type === "stream" ? { type: "channel", to: to[0], topic } : { type: "direct", to };
    const reply = await app.session.attempt(scheduleMessage({ ...where, content, scheduled_delivery_timestamp: seconds }));
    if (reply) {
      onDone();
      app.session.tell("The message will be sent then. It is under Scheduled.");
    }
    return reply;
  });
}

/** @param {App} app @param {import("../../types/api.js").Message} message */
export function showReminder(app, message) {
  const note = h("input", { type: "text", maxlength: app.store.state.max_reminder_note_length ?? 500, placeholder: "Optional" });
  chooseTime(
    app,
    "Remind me of this message",
    async (seconds) => {
      const reply = await app.session.attempt(
        createReminder({ message_id: message.id, scheduled_delivery_timestamp: seconds, ...(note.value ? { note: note.value } : {}) }),
      );
      if (reply) app.session.tell("You will be reminded.");
      return reply;
    },
    field("Note", note),
  );
}

/** Texts that were saved, to be inserted again. @param {App} app @param {import("../../types/app.js").Editor} editor */
export function showSnippets(app, editor) {
  const { store, session } = app;
  /** @param {any} snippet @param {() => void} close */
  function snippetRow(snippet, close) {
    const insert = () => {
      close();
      editor.insertBlock(snippet.content);
    };
    const remove = async (/** @type {Event} */ event) => {
      const row = /** @type {HTMLElement} */ (event.currentTarget).closest("li");
      if (await session.attempt(del(`/saved_snippets/${snippet.id}`))) row?.remove();
    };
    return actionRow(
      insert,
      [h("strong", null, snippet.title), h("span", { class: "muted" }, snippet.content.slice(0, 80))],
      iconButton("trash", `Delete ${snippet.title}`, { onclick: remove }),
    );
  }

  showDialog("Saved texts", (close) => [
    h(
      "ul",
      { class: "rows" },
      (store.state.saved_snippets ?? []).map((/** @type {any} */ snippet) => snippetRow(snippet, close)),
    ),
    h(
      "div",
      { class: "dialog__buttons" },
      h(
        "button",
        {
          type: "button",
          class: "button",
          disabled: editor.isEmpty(),
          onclick: async () => {
            const title = await ask("Save what is written", "", { label: "Title" });
            if (title && (await session.attempt(post("/saved_snippets", { title, content: editor.value() })))) close();
          },
        },
        "Save what is written",
      ),
    ),
  ]);
}
