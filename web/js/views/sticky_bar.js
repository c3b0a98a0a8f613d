/**
 * The bar that stays above the messages of views with several conversations, and names the conversation of the first visible message.
 * @module
 */

import { closest, fill, h } from "../lib/dom.js";
import { conversationKey } from "../store/conversations.js";
import { recipientBar } from "./message_row.js";

/** @param {import("../../types/app.js").App} app @param {HTMLElement} scroller @param {HTMLElement} list */
export function createStickyBar(app, scroller, list) {
  const { store } = app;
  const element = h("div", { class: "timeline__sticky", hidden: true });
  element.addEventListener("click", (event) => {
    const message = store.messages.byId.get(Number(element.dataset.id));
    if (message && closest(event, "[data-action=reply]")) app.composer.replyTo(message);
  });
  let shown = "";

  /** @param {HTMLElement | undefined} row The first on the screen. */
  function update(row) {
    const message = store.messages.byId.get(Number(row?.dataset.id));
    const edge = scroller.getBoundingClientRect().top;
    const own = row?.querySelector(".recipient-bar");
    const isOwnSeen = own !== null && own !== undefined && own.getBoundingClientRect().top >= edge;
    element.hidden = !message || isOwnSeen || scroller.scrollTop <= 0 || row === list.firstElementChild;
    if (element.hidden || !message) return;
    const key = `${conversationKey(store, message)} ${message.rev}`;
    if (key === shown) return;
    shown = key;
    element.dataset.id = String(message.id);
    fill(element, recipientBar(app, message));
  }

  return { element, update };
}
