/**
 * Commands for a message, which its keys, its toolbar and its menu share.
 * @module
 */

import { updateFlags } from "../api/endpoints.js";
import { conversationTerms } from "../selectors/narrow.js";
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

/** @param {App} app @param {Message} message @param {"starred" | "collapsed"} flag */
export const toggleFlag = ({ session }, { id, flags }, flag) =>
  session.attempt(updateFlags([id], flags.includes(flag) ? "remove" : "add", flag));

/** @param {App} app @param {Message} message @param {Timeline | null} timeline */
export async function markUnreadFrom({ session }, message, timeline) {
  timeline?.block();
  const terms = timeline ? timeline.terms.filter(({ operator }) => operator !== "near") : conversationTerms(session.store, message);
  await session.attempt(session.markNarrow(terms, "remove", message.id));
}
