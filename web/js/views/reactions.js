/**
 * Reactions below a message, and adding and removing reactions.
 * @module
 */

import { addReaction, removeReaction } from "../api/endpoints.js";
import { h, icon } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { userOf } from "../store/users.js";
import { emojiElement } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {{ emoji_name: string, emoji_code: string, reaction_type: string }} Emoji */

/** @param {App} app @param {Message} message */
export function reactionsElement(app, message) {
  const { store } = app;
  /** @type {Map<string, { emoji: Emoji, userIds: number[] }>} */
  const groups = new Map();
  for (const reaction of message.reactions) {
    const key = `${reaction.reaction_type}/${reaction.emoji_code}`;
    const group = groups.get(key) ?? { emoji: reaction, userIds: [] };
    group.userIds.push(reaction.user_id);
    groups.set(key, group);
  }
  const showsNames = store.setting("display_emoji_reaction_users") && message.reactions.length <= 3;
  return h(
    "div",
    { class: "reactions" },
    [...groups.values()].map(({ emoji, userIds }) => {
      const names = userIds.map((id) => (id === store.selfId ? t("You") : userOf(store, id).full_name)).join(", ");
      const isOwn = userIds.includes(store.selfId);
      return h(
        "button",
        {
          type: "button",
          class: "reaction",
          "aria-pressed": String(isOwn),
          title: `${names}: :${emoji.emoji_name}:`,
          "aria-label": `${emoji.emoji_name.replaceAll("_", " ")} ${showsNames ? names : `${userIds.length}: ${names}`}`,
          onclick: () => void toggleReaction(app, message, emoji),
        },
        emojiElement(store, emoji),
        " ",
        h("span", { class: "reaction__count" }, showsNames ? names : String(userIds.length)),
      );
    }),
    h(
      "button",
      {
        type: "button",
        class: "reaction reaction--add",
        "aria-label": t("Add a reaction"),
        title: t("Add a reaction"),
        dataset: { action: "react" },
      },
      icon("smile"),
    ),
  );
}

/** @param {App} app @param {Message} message As it was when the emoji were shown. @param {Emoji} emoji */
export function toggleReaction(app, message, { emoji_name, emoji_code, reaction_type }) {
  const { reactions } = app.store.messages.byId.get(message.id) ?? message;
  const isOwn = reactions.some(
    (one) => one.user_id === app.store.selfId && one.emoji_code === emoji_code && one.reaction_type === reaction_type,
  );
  const params = { emoji_name, emoji_code, reaction_type };
  return app.session.attempt(isOwn ? removeReaction(message.id, params) : addReaction(message.id, params));
}
