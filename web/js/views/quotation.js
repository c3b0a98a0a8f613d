/**
 * Links to messages, and quotations of them.
 * @module
 */

import { getMessage } from "../api/endpoints.js";
import { fenced } from "../lib/text_edits_on_demand.js";
import { messageFragment } from "../selectors/narrow.js";
import { userOf } from "../store/users.js";
import { markdownOf } from "./paste.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Message} Message */

/** @param {App} app @param {Message} message */
export const linkTo = ({ store }, message) => `${location.origin}/#${messageFragment(store, message)}`;

/** What is selected within an element; null if nothing is. @param {Element | null} element */
function selectedPart(element) {
  const selection = getSelection();
  if (!selection || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  return element?.contains(range.commonAncestorContainer) ? range.cloneContents() : null;
}

/** The quotation of a message, or of what is selected of it, as the published clients write it. @param {App} app @param {Message} message @returns {Promise<string>} */
export async function quotation(app, message) {
  const selected = selectedPart(document.getElementById(`content-${message.id}`));
  const markdown = selected && markdownOf(selected);
  const content = markdown || (await getMessage(message.id, false)).message.content;
  const sender = userOf(app.store, message.sender_id);
  return `@_**${sender.full_name}|${sender.user_id}** [said](${linkTo(app, message)}):\n${fenced(content, "quote")}`;
}
