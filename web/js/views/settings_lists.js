/**
 * The lists among one's own settings: alert words, uploaded files, topics, muted people.
 * @module
 */

import * as api from "../api/endpoints.js";
import { h, iconButton } from "../lib/dom.js";
import { topicName } from "../selectors/title.js";
import { channelOf } from "../store/channels.js";
import { userOf } from "../store/users.js";
import { later } from "./account.js";
import { button, lineForm, live, row, rows, select } from "./parts.js";
import { confirm } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../lib/dom.js").Child} Child */

/** @param {App} app @returns {Child[]} */
export function alertWords({ store, session }) {
  const input = h("input", { type: "text", "aria-label": "New alert word", maxlength: 100, required: true });
  const add = async () => {
    if (await session.attempt(api.addAlertWords([input.value.trim()]))) input.value = "";
  };
  return [
    h("p", { class: "muted" }, "Messages with one of these words are treated as if they mentioned you."),
    lineForm(add, h("div", { class: "grow" }, input), h("button", { type: "submit", class: "button button--primary" }, "Add")),
    live(() => {
      store.on("settings");
      return rows(
        (store.state.alert_words ?? []).map((/** @type {string} */ word) =>
          row(word, null, iconButton("trash", `Remove ${word}`, { onclick: () => void session.attempt(api.removeAlertWords([word])) })),
        ),
      );
    }),
  ];
}

/** @param {App} app @returns {Child[]} */
export function uploadedFiles(app) {
  return [
    later(app, api.attachments(), ({ attachments, upload_space_used: used }) => [
      h("p", { class: "muted" }, `${attachments.length} files, ${(used / 1024 / 1024).toFixed(1)} MiB used by everybody.`),
      rows(
        attachments.map((/** @type {any} */ file) => {
          const remove = async () => {
            if (!(await confirm(`Delete ${file.name}?`, "Messages that link to it will lead nowhere.", "Delete", { isDanger: true })))
              return;
            if (await app.session.attempt(api.deleteAttachment(file.id))) element.remove();
          };
          const element = row(
            h("a", { href: `/user_uploads/${file.path_id}`, target: "_blank", rel: "noopener noreferrer" }, file.name),
            `${Math.ceil(file.size / 1024)} KiB, in ${file.messages.length} messages`,
            iconButton("trash", `Delete ${file.name}`, { onclick: () => void remove() }),
          );
          return element;
        }),
      ),
    ]),
  ];
}

/** @type {[number, string][]} */
const POLICIES = [
  [0, "As the channel"],
  [1, "Muted"],
  [2, "Unmuted"],
  [3, "Followed"],
];

/** @param {App} app @returns {Child[]} */
export function topics({ store, session }) {
  return [
    live(() => {
      store.on("userTopics");
      return rows(
        [...store.userTopics].map(([key, policy]) => {
          const [, streamId, ...rest] = key.split("/");
          const topic = rest.join("/");
          const change = (/** @type {string} */ value) => void session.attempt(api.updateUserTopic(Number(streamId), topic, Number(value)));
          return row(
            `#${channelOf(store, Number(streamId)).name} › ${topicName(store, topic)}`,
            null,
            select(POLICIES, policy, change, { label: `Visibility of ${topic}` }),
          );
        }),
        "You follow, mute or unmute no topic by itself.",
      );
    }),
  ];
}

/** @param {App} app @returns {Child[]} */
export function mutedUsers({ store, session }) {
  return [
    live(() => {
      store.on("users");
      return rows(
        [...store.mutedUsers].map((id) =>
          row(
            userOf(store, id).full_name,
            null,
            button("Unmute", () => session.attempt(api.muteUser(id, false)), "small"),
          ),
        ),
        "You have muted nobody.",
      );
    }),
  ];
}
