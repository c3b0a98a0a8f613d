/**
 * Tells screen readers of new messages in the open conversation: politely, and nothing else of the timeline.
 * @module
 */

import { h } from "../lib/dom.js";
import { conversationKey } from "../store/conversations.js";
import { userOf } from "../store/users.js";
import { textOf } from "./message_content.js";

/** @param {import("../../types/app.js").App} app */
export function createAnnouncer(app) {
  const element = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  const { store, session } = app;
  session.onMessage((message) => {
    if (message.sender_id === store.selfId || !app.timeline?.conversation || app.timeline.conversation !== conversationKey(store, message))
      return;
    element.textContent = `${userOf(store, message.sender_id).full_name}: ${textOf(message.content)}`;
  });
  return { element };
}
