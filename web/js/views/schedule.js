/**
 * Sending later, reminders, and saved texts.
 * @module
 */

import { createReminder, createSnippet, deleteSnippet, editScheduled, scheduleMessage, updateSnippet } from "../api/endpoints_on_demand.js";
import { h, iconButton } from "../lib/dom.js";
import { fullTime } from "../lib/time.js";
import { localInputValue } from "../lib/time_on_demand.js";
import { t } from "../lib/words.js";
import { actionRow, field, form, live, rows, submit, submitButton } from "./form_parts.js";
import { button, onceAtATime } from "./parts.js";
import { showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../store/outbox.js").Destination} Destination */

/** Common times. @returns {[string, Date][]} */
function commonTimes() {
  const now = new Date();
  const at = (/** @type {number} */ days, /** @type {number} */ hour) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
  const untilMonday = (8 - now.getDay()) % 7 || 7;
  /** @type {[string, Date][]} */
  const times = [
    [t("In an hour"), new Date(now.getTime() + 3_600_000)],
    [t("This evening"), at(0, 18)],
    [t("Tomorrow at 9"), at(1, 9)],
    [t("Monday at 9"), at(untilMonday, 9)],
  ];
  return times.filter(([, time]) => time.getTime() > now.getTime() + 5 * 60_000);
}

/** Asks for a time. @param {App} app @param {string} title @param {(seconds: number) => Promise<unknown>} choose Returns undefined to stay open. @param {HTMLElement} [more] */
export function chooseTime(app, title, choose, more) {
  showDialog(title, (close) => {
    const done = onceAtATime(async (/** @type {Date} */ time) => {
      if ((await choose(Math.floor(time.getTime() / 1000))) !== undefined) close();
    });
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
          button([label, h("small", null, fullTime(time.getTime() / 1000, app.store.is24Hours))], () => done(time)),
        ),
      ),
      form(
        () => done(new Date(input.value)),
        field(t("Another time"), input),
        h("div", { class: "dialog__buttons" }, submit(t("Choose this time"))),
      ),
    ];
  });
}

/** @param {App} app @param {{ destination: Destination, content: string, onDone: () => void }} message */
export function showSchedule(app, { destination: { type, to, topic }, content, onDone }) {
  chooseTime(app, t("Send later"), async (seconds) => {
    const where = type === "stream" ? { type: "channel", to: to[0], topic } : { type: "direct", to };
    const reply = await app.session.attempt(scheduleMessage({ ...where, content, scheduled_delivery_timestamp: seconds }));
    if (reply) {
      onDone();
      app.session.tell(t("The message will be sent then. It is under Scheduled."));
    }
    return reply;
  });
}

/** @param {App} app @param {import("../../types/api.js").Message} message */
export function showReminder(app, message) {
  const note = h("input", { type: "text", maxlength: app.store.state.max_reminder_note_length ?? 500, placeholder: t("Optional") });
  chooseTime(
    app,
    t("Remind me of this message"),
    async (seconds) => {
      const reply = await app.session.attempt(
        createReminder({ message_id: message.id, scheduled_delivery_timestamp: seconds, ...(note.value ? { note: note.value } : {}) }),
      );
      if (reply) app.session.tell(t("You will be reminded."));
      return reply;
    },
    field(t("Note"), note),
  );
}

/** Changes the time of a scheduled message. @param {App} app @param {number} id */
export function showNewTime(app, id) {
  chooseTime(app, t("Another time"), async (seconds) => {
    const reply = await app.session.attempt(editScheduled(id, { scheduled_delivery_timestamp: seconds }));
    if (reply) app.session.tell(t("The message will be sent then."));
    return reply;
  });
}

/** Edits a saved text. @param {App} app @param {import("../../types/api.js").Snippet | null} snippet Null for a new one. @param {string} [text] */
function editSnippet({ session }, snippet, text = snippet?.content ?? "") {
  const title = h("input", { type: "text", required: true, maxlength: 60, value: snippet?.title ?? "" });
  const content = h("textarea", { rows: 6, required: true, maxlength: 10_000, dir: "auto", value: text });
  const save = async (/** @type {() => void} */ close) => {
    const params = { title: title.value.trim(), content: content.value };
    if (await session.attempt(snippet ? updateSnippet(snippet.id, params) : createSnippet(params))) close();
  };
  showDialog(
    snippet ? t("Edit {name}", { name: snippet.title }) : t("Save a text"),
    (close) => [form(() => save(close), field(t("Title"), title), field(t("Text"), content, t("Markdown.")), submitButton(t("Save")))],
    { class: "dialog--small" },
  );
}

/** Shows the saved texts, which can be inserted. @param {App} app @param {import("../../types/app.js").Editor} editor */
export function showSnippets(app, editor) {
  const { store, session } = app;
  /** @param {import("../../types/api.js").Snippet} snippet @param {() => void} close */
  function snippetRow(snippet, close) {
    const { id, title, content } = snippet;
    const insert = () => {
      close();
      editor.insertBlock(content);
    };
    const remove = async () => {
      if (!(await session.attempt(deleteSnippet(id)))) return;
      session.tell(t("“{title}” is deleted.", { title }), {
        label: t("Undo"),
        run: () => void session.attempt(createSnippet({ title, content })),
      });
    };
    return actionRow(
      insert,
      [h("strong", { dir: "auto" }, title), h("span", { class: "muted", dir: "auto" }, content.slice(0, 80))],
      [
        iconButton("edit", t("Edit {name}", { name: title }), { onclick: () => editSnippet(app, snippet) }),
        iconButton("trash", t("Delete {name}", { name: title }), { onclick: () => void remove() }),
      ],
    );
  }

  showDialog(t("Saved texts"), (close) => [
    live(() => {
      store.on("settings");
      const texts = store.state.saved_snippets ?? [];
      return rows(
        texts.map((snippet) => snippetRow(snippet, close)),
        t("There are none yet."),
      );
    }),
    h(
      "div",
      { class: "dialog__buttons" },
      button(t("Save what is written"), () => editSnippet(app, null, editor.value()), "", { disabled: editor.isEmpty() }),
    ),
  ]);
}
