/**
 * Announces new messages of the open conversation to screen readers, politely. Nothing else of the timeline is announced.
 * @module
 */

import { h } from "../lib/dom.js";
import { conversationKey } from "../store/conversations.js";
import { userOf } from "../store/users.js";
import { textOf } from "./message_content.js";

/** The most messages that wait for the screen reader. */
const KEPT = 5;

/** @param {import("../../types/app.js").App} app */
export function createAnnouncer(app) {
  const element = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  const { store, session } = app;
  session.onMessage((message) => {
    if (message.sender_id === store.selfId || store.mutedUsers.has(message.sender_id)) return;
    if (!app.timeline?.conversation || app.timeline.conversation !== conversationKey(store, message)) return;
    // A message that follows at once does not take the place of one that has not been said yet.
    element.append(h("p", null, `${userOf(store, message.sender_id).full_name}: ${textOf(message.content)}`));
    if (element.childElementCount > KEPT) element.firstElementChild?.remove();
  });
  return { element };
}
