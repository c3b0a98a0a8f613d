/**
 * Commands for a message, which its keys, its toolbar and its menu share.
 * @module
 */

import { getMessage, updateFlags } from "../api/endpoints.js";
import { fenced } from "../lib/text_edits.js";
import { conversationTerms, messageFragment } from "../selectors/narrow.js";
import { userOf } from "../store/users.js";
import { opensOnDemand } from "./loading.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/app.js").Timeline} Timeline */
/** @typedef {import("../../types/api.js").Message} Message */

export const editMessage = opensOnDemand(async () => (await import("./message_dialogs.js")).editMessage);
export const showSource = opensOnDemand(async () => (await import("./message_dialogs.js")).showSource);
export const showMove = opensOnDemand(async () => (await import("./move_dialog.js")).showMove);
export const showReport = opensOnDemand(async () => (await import("./message_dialogs.js")).showReport);
export const showHistory = opensOnDemand(async () => (await import("./message_dialogs.js")).showHistory);
export const showReceipts = opensOnDemand(async () => (await import("./message_dialogs.js")).showReceipts);

/** @param {App} app @param {Message} message */
export const canEdit = ({ store }, message) => {
  if (message.sender_id !== store.selfId || store.state.realm_allow_message_editing === false || message.submessages?.length > 0)
    return false;
  const limit = store.state.realm_message_content_edit_limit_seconds;
  return !limit || store.now() - message.timestamp < limit;
};

/** Whether the organization shows what messages were before. @param {App} app */
export const hasHistory = ({ store }) => store.state.realm_message_edit_history_visibility_policy !== "none";

/** @param {App} app @param {Message} message */
export function toggleStar({ session }, message) {
  return session.attempt(updateFlags([message.id], message.flags.includes("starred") ? "remove" : "add", "starred"));
}

/** @param {App} app @param {Message} message @param {Timeline | null} timeline */
export async function markUnreadFrom({ session }, message, timeline) {
  timeline?.block();
  const terms = timeline ? timeline.terms.filter(({ operator }) => operator !== "near") : conversationTerms(session.store, message);
  await session.attempt(session.markNarrow(terms, "remove", message.id));
}

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
  const markdown = selected && (await import("./paste.js")).markdownOf(selected);
  const content = markdown || (await getMessage(message.id, false)).message.content;
  const sender = userOf(app.store, message.sender_id);
  return `@_**${sender.full_name}|${sender.user_id}** [said](${linkTo(app, message)}):\n${fenced(content, "quote")}`;
}

/** @param {App} app @param {Message} message */
export const linkTo = ({ store }, message) => `${location.origin}/#${messageFragment(store, message)}`;
