/**
 * The lists among one's own settings: alert words, uploaded files, topics, muted people.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { h, iconButton } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { topicName } from "../selectors/title.js";
import { channelOf } from "../store/channels.js";
import { topicOfKey } from "../store/conversations.js";
import { userOf } from "../store/users.js";
import { lineForm, live, row, rowButton, rows, submit } from "./form_parts.js";
import { select } from "./parts.js";
import { confirm } from "./popover.js";
import { later } from "./replies.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../lib/dom.js").Child} Child */

/** @param {App} app @returns {Child[]} */
export function alertWords({ store, session }) {
  const input = h("input", { type: "text", "aria-label": t("New alert word"), maxlength: 100, required: true });
  const add = async () => {
    if (await session.attempt(api.addAlertWords([input.value.trim()]))) input.value = "";
  };
  const removeWord = async (/** @type {string} */ word) => {
    if (!(await session.attempt(api.removeAlertWords([word])))) return;
    session.tell(t("“{word}” is removed.", { word }), {
      label: t("Undo"),
      run: () => void session.attempt(api.addAlertWords([word])),
    });
  };
  return [
    h("p", { class: "muted" }, t("Messages that contain one of these words notify you like a mention.")),
    lineForm(add, h("div", { class: "grow" }, input), submit(t("Add"))),
    live(() => {
      store.on("settings");
      return rows(
        (store.state.alert_words ?? []).map((word) =>
          row(word, null, iconButton("trash", t("Remove {name}", { name: word }), { onclick: () => void removeWord(word) })),
        ),
      );
    }),
  ];
}

/** @param {App} app @returns {Child[]} */
export function uploadedFiles(app) {
  return [
    later(
      app,
      api.attachments,
      ({ attachments, upload_space_used: used }) => [
        h(
          "p",
          { class: "muted" },
          t(
            { one: "{count} file, {size} MiB used in total.", other: "{count} files, {size} MiB used in total." },
            { count: attachments.length, size: Math.round((used / 1024 / 1024) * 10) / 10 },
          ),
        ),
        rows(
          attachments.map((file) => {
            const remove = async () => {
              if (
                !(await confirm(t("Delete {name}?", { name: file.name }), t("Links to it in messages will stop working."), t("Delete"), {
                  isDanger: true,
                }))
              )
                return;
              await app.session.attempt(api.deleteAttachment(file.id));
            };
            return row(
              h("a", { href: `/user_uploads/${file.path_id}`, target: "_blank", rel: "noopener noreferrer" }, file.name),
              t(
                { one: "{size} KiB, in {count} message", other: "{size} KiB, in {count} messages" },
                { size: Math.ceil(file.size / 1024), count: file.messages.length },
              ),
              iconButton("trash", t("Delete {name}", { name: file.name }), { onclick: () => void remove() }),
            );
          }),
        ),
      ],
      () => app.store.on("attachments"),
    ),
  ];
}

/** @type {() => [number, string][]} */
const topicPolicies = () => [
  [0, t("Same as the channel")],
  [1, t("Muted")],
  [2, t("Unmuted")],
  [3, t("Followed")],
];

/** @param {App} app @returns {Child[]} */
export function topics({ store, session }) {
  return [
    live(() => {
      store.on("userTopics");
      return rows(
        [...store.userTopics].map(([key, policy]) => {
          const { streamId, topic } = topicOfKey(key);
          const change = (/** @type {string} */ value) => void session.attempt(api.updateUserTopic(streamId, topic, Number(value)));
          return row(
            `#${channelOf(store, streamId).name} › ${topicName(store, topic)}`,
            null,
            select(topicPolicies(), policy, change, { label: t("Visibility of {topic}", { topic: topicName(store, topic) }) }),
          );
        }),
        t("You have not followed, muted or unmuted any topics."),
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
            rowButton(t("Unmute"), userOf(store, id).full_name, () => session.attempt(api.muteUser(id, false))),
          ),
        ),
        t("You have not muted anyone."),
      );
    }),
  ];
}
