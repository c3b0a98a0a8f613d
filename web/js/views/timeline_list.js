/**
 * The rows of a timeline: messages, and behind them those that are being sent.
 * @module
 */

import { keyedList } from "../lib/keyed_list.js";
import { differOnlyInReading, isSameRow } from "../selectors/timeline_rows.js";
import { isSameDestination } from "../store/drafts.js";
import { carryOver, errorRow, messageRow, outgoingRow } from "./message_row.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../selectors/timeline_rows.js").Row} Row */
/** @typedef {import("../store/outbox.js").OutgoingMessage} OutgoingMessage */
/** @typedef {{ row: Row, epoch: number } | { outgoing: OutgoingMessage, state: string }} Item `epoch` counts changes of what all rows show. */

/** @param {Item} one @param {Item} other */
function isSameItem(one, other) {
  if ("row" in one && "row" in other) return isSameRow(one.row, other.row) && one.epoch === other.epoch;
  return "outgoing" in one && "outgoing" in other && one.state === other.state;
}

/** @param {App} app @param {HTMLElement} list @param {import("../store/messages.js").Range} range */
export function timelineList(app, list, range) {
  /** @param {Item} item */
  const create = (item) => ("row" in item ? messageRow(app, item.row, range.matches.get(item.row.id)) : outgoingRow(app, item.outgoing));
  return keyedList(list, {
    key: (/** @type {Item} */ item) => ("row" in item ? item.row.id : item.outgoing.localId),
    create,
    update(old, item, before) {
      if (isSameItem(item, before)) return old;
      if ("row" in item && "row" in before && item.epoch === before.epoch && differOnlyInReading(item.row, before.row)) {
        old.toggleAttribute("data-unread", item.row.isUnread);
        return old;
      }
      const next = create(item);
      carryOver(old, next);
      return next;
    },
    replacement(item, old) {
      const next = "row" in item ? errorRow(item.row.id, item.row.isUnread) : errorRow(item.outgoing.localId, false);
      if (old) carryOver(old, next);
      return next;
    },
  });
}

/** Sets the position of each row and their number, for screen readers. @param {HTMLElement} list @param {boolean} isWhole Whether all messages are there. */
export function numberRows(list, isWhole) {
  // A feed without articles is none.
  const role = list.childElementCount > 0 ? "feed" : "group";
  if (list.role !== role) list.role = role;
  const size = String(isWhole ? list.childElementCount : -1);
  for (const [index, row] of [...list.children].entries()) {
    if (row.ariaPosInSet !== String(index + 1)) row.ariaPosInSet = String(index + 1);
    if (row.ariaSetSize !== size) row.ariaSetSize = size;
  }
}

/** The messages that are being sent to a conversation. @param {App} app @param {import("../store/outbox.js").Destination | null} conversation @returns {OutgoingMessage[]} */
export function outgoingTo({ session, store }, conversation) {
  return session.outbox.items.filter(
    ({ destination, sentId }) => isSameDestination(destination, conversation) && !(sentId && store.messages.byId.has(sentId)),
  );
}

/** Begins edits again that were left, with their rows, and those that another tab has begun. @param {App} app @param {import("../../types/app.js").Timeline} timeline */
export function createEditResumption(app, timeline) {
  const { session, store } = app;
  /** @type {Set<string>} */
  const resumed = new Set();
  return () => {
    for (const key of resumed) if (!session.edits.texts.has(key)) resumed.delete(key);
    for (const key of session.edits.texts.keys()) {
      const message = store.messages.byId.get(Number(key));
      const row = timeline.rowOf(Number(key));
      if (!row) resumed.delete(key);
      if (!message || !row || resumed.has(key) || row.querySelector(".editor-form")) continue;
      resumed.add(key);
      // Not as the user opens it: keys are for what has the focus.
      void import("./message_dialogs.js")
        .then(({ editMessage }) => editMessage(app, message, timeline, { isResumed: true }))
        .catch(() => resumed.delete(key));
    }
  };
}
