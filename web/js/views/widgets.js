/**
 * Polls, lists of tasks, and choices of bots: messages that are made of submessages.
 * @module
 */

import { submessage } from "../api/endpoints.js";
import { h, iconButton } from "../lib/dom.js";
import { asList, asObject, asText, parseJson } from "../lib/parse.js";
import { t } from "../lib/words.js";
import { userOf } from "../store/users.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Message} Message */

/** @param {App} app @param {Message} message @returns {HTMLElement | null} */
export function widgetElement(app, message) {
  const [first, ...rest] = message.submessages.toSorted((a, b) => a.id - b.id);
  const definition = parseJson(first.content);
  if (first.sender_id !== message.sender_id || !definition) return null;
  const events = rest.map(({ sender_id, content }) => ({ sender: sender_id, data: parseJson(content) })).filter(({ data }) => data);
  const extra = asObject(definition.extra_data);
  if (definition.widget_type === "poll") return poll(app, message, extra, events);
  if (definition.widget_type === "todo") return todo(app, message, extra, events);
  if (definition.widget_type === "zform") return zform(app, message, extra);
  return null;
}

/** @typedef {{ sender: number, data: any }} WidgetEvent */

/** @param {Record<string, any>} extra @param {WidgetEvent[]} events @param {number} author */
export function pollState(extra, events, author) {
  let question = asText(extra.question);
  /** @type {Map<string, { text: string, votes: Set<number> }>} */
  const options = new Map();
  /** @type {Set<string>} */
  const texts = new Set();
  /** @param {string} key @param {string} text */
  const add = (key, text) => {
    if (!text) return;
    texts.add(text);
    options.set(key, { text, votes: new Set() });
  };
  for (const [index, text] of asList(extra.options).entries()) add(`canned,${index}`, asText(text));
  for (const { sender, data } of events) {
    if (data.type === "question" && sender === author) question = asText(data.question);
    else if (data.type === "new_option" && Number.isSafeInteger(data.idx) && !texts.has(asText(data.option)))
      add(`${sender},${data.idx}`, asText(data.option));
    else if (data.type === "vote") options.get(data.key)?.votes[data.vote === 1 ? "add" : "delete"](sender);
  }
  return { question, options };
}

/** @param {Record<string, any>} extra @param {WidgetEvent[]} events @param {number} author */
export function todoState(extra, events, author) {
  let title = asText(extra.task_list_title);
  /** @type {Map<string, { task: string, desc: string, isDone: boolean }>} */
  const tasks = new Map();
  /** @type {Set<string>} */
  const texts = new Set();
  /** @param {string} key @param {Record<string, any>} entry @param {boolean} isDone */
  const add = (key, entry, isDone) => {
    const task = asText(entry.task);
    if (!task) return;
    texts.add(task);
    tasks.set(key, { task, desc: asText(entry.desc), isDone });
  };
  for (const [index, entry] of asList(extra.tasks).entries()) add(`${index},canned`, asObject(entry), false);
  for (const { sender, data } of events) {
    const known = tasks.get(data.key);
    if (data.type === "new_task_list_title" && sender === author) title = asText(data.title);
    else if (data.type === "new_task" && Number.isSafeInteger(data.key) && !texts.has(asText(data.task)))
      add(`${data.key},${sender}`, data, data.completed === true);
    else if (data.type === "strike" && known) known.isDone = !known.isDone;
  }
  return { title: title || t("Task list"), tasks };
}

/** The choices that a bot offers. @param {Record<string, any>} extra */
export const choicesState = (extra) => ({
  heading: asText(extra.heading),
  choices: asList(extra.choices)
    .map(asObject)
    .map(({ short_name, long_name, reply }) => ({ short_name: asText(short_name), long_name: asText(long_name), reply: asText(reply) }))
    .filter(({ reply }) => reply),
});

/** The next number of one's own entries. @param {Iterable<string>} keys @param {(key: string) => string[]} split Number and owner. @param {number} self */
function nextIndex(keys, split, self) {
  let next = 1;
  for (const key of keys) {
    const [index, owner] = split(key);
    if (owner === String(self)) next = Math.max(next, Number(index) + 1);
  }
  return next;
}

/** @param {string} label @param {(text: string) => Promise<unknown>} add Returns undefined if it failed. */
function addForm(label, add) {
  const input = h("input", { type: "text", placeholder: label, "aria-label": label, required: true });
  return h(
    "form",
    {
      class: "widget__add",
      onsubmit: async (/** @type {Event} */ event) => {
        event.preventDefault();
        const text = input.value.trim();
        input.value = "";
        if (text && (await add(text)) === undefined && input.value === "") input.value = text;
      },
    },
    input,
    h("button", { type: "submit", class: "button button--small" }, t("Add")),
  );
}

/** The title of a widget, which the sender of the message can change.
 * @param {App} app @param {Message} message @param {string} title @param {string} label @param {() => unknown} change */
const titleLine = ({ store }, message, title, label, change) =>
  h(
    "div",
    { class: "widget__title" },
    title,
    message.sender_id === store.selfId && iconButton("edit", label, { onclick: () => void change() }),
  );

/** @param {App} app @param {Message} message @param {Record<string, any>} extra @param {WidgetEvent[]} events */
function poll(app, message, extra, events) {
  const { store } = app;
  const { question, options } = pollState(extra, events, message.sender_id);
  const send = (/** @type {unknown} */ data) => app.session.attempt(submessage(message.id, data));
  return h(
    "div",
    { class: "widget" },
    titleLine(app, message, question || t("Poll"), t("Change the question"), () =>
      app.ask(t("Question"), question, { save: (next) => (next ? send({ type: "question", question: next }) : null) }),
    ),
    h(
      "ul",
      { class: "widget__list" },
      [...options].map(([key, { text, votes }]) => {
        const isOwn = votes.has(store.selfId);
        const names = [...votes].map((id) => userOf(store, id).full_name).join(", ");
        return h(
          "li",
          null,
          h(
            "button",
            {
              type: "button",
              class: "widget__vote",
              "aria-pressed": String(isOwn),
              "aria-label": t("Vote for {option}: {count}", { option: text, count: votes.size }),
              onclick: () => send({ type: "vote", key, vote: isOwn ? -1 : 1 }),
            },
            String(votes.size),
          ),
          h("span", null, text),
          names && h("span", { class: "widget__names" }, names),
        );
      }),
    ),
    addForm(t("New option"), (option) =>
      send({
        type: "new_option",
        idx: nextIndex(options.keys(), (key) => key.split(",").reverse(), store.selfId),
        option,
      }),
    ),
  );
}

/** @param {App} app @param {Message} message @param {Record<string, any>} extra @param {WidgetEvent[]} events */
function todo(app, message, extra, events) {
  const { store } = app;
  const { title, tasks } = todoState(extra, events, message.sender_id);
  const send = (/** @type {unknown} */ data) => app.session.attempt(submessage(message.id, data));
  return h(
    "div",
    { class: "widget" },
    titleLine(app, message, title, t("Rename"), () =>
      app.ask(t("Title"), title, { save: (next) => (next ? send({ type: "new_task_list_title", title: next }) : null) }),
    ),
    h(
      "ul",
      { class: "widget__list" },
      [...tasks].map(([key, { task, desc, isDone }]) => {
        const strike = async () => {
          if ((await send({ type: "strike", key })) === undefined) box.checked = isDone;
        };
        const box = h("input", { type: "checkbox", checked: isDone, onchange: strike });
        return h(
          "li",
          null,
          h("label", { class: "checkbox" }, box, h("span", { class: isDone ? "is-done" : null }, task)),
          desc && h("span", { class: "widget__names" }, desc),
        );
      }),
    ),
    addForm(t("New task"), (task) =>
      send({
        type: "new_task",
        key: nextIndex(tasks.keys(), (key) => key.split(","), store.selfId),
        task,
        desc: "",
        completed: false,
      }),
    ),
  );
}

/** @param {App} app @param {Message} message @param {Record<string, any>} extra */
function zform(app, message, extra) {
  const { heading, choices } = choicesState(extra);
  return h(
    "div",
    { class: "widget" },
    h("div", { class: "widget__title" }, heading),
    h(
      "ul",
      { class: "widget__list" },
      choices.map(({ short_name, long_name, reply }) =>
        h(
          "li",
          null,
          // The reply, which need not be what the name says, is a message of the person who presses the button.
          h(
            "button",
            { type: "button", class: "button button--small", title: reply, onclick: () => app.sendTo(message, reply) },
            short_name,
          ),
          h("span", null, long_name),
        ),
      ),
    ),
  );
}
