/**
 * The text in the composer: its recipient, its draft, and the conversation that is open. The draft is saved soon after each change, and
 * follows the text if the recipient changes or the conversation moves.
 * @module
 */

import { debounce } from "../lib/timing.js";
import { draftKey, isSameDestination } from "./drafts.js";

/** @typedef {import("./outbox.js").Destination} Destination */

/** How long after a change the draft is saved in the browser, and on the server, in milliseconds. */
const SAVE_DELAY = 300;
const SYNC_DELAY = 3000;

/** @param {{ drafts: () => Pick<import("./drafts.js").Drafts, "get" | "set" | "all" | "textOf" | "keyOf" | "freeKey" | "removeKey">, text: () => string, now: () => number, onSaved?: () => void }} how
 *   `text`: what is in the box. */
export function createComposition({ drafts, text, now, onSaved = () => {} }) {
  /** @type {Destination | null} */
  let destination = null;
  /** The conversation that is open. @type {Destination | null} */
  let shown = null;
  /** The key of the draft, if the text is saved. The conversation may have another draft. @type {string | null} */
  let key = null;
  /** The text of the draft as it was last read or saved here. */
  let known = "";
  /** Counts the texts that were opened. */
  let opened = 0;

  /** The text of the draft, if another tab or device has changed it; empty if it was sent or deleted there, or if another tab has
   * logged out. Undefined if nothing has changed it. */
  function changedElsewhere() {
    if (!destination || key === null) return undefined;
    const kept = drafts().textOf(key);
    if ((kept ?? "") === known) return undefined;
    // Another device has a newer draft, and what was kept here is beside it now: the text in the box goes on there.
    const copy = drafts().keyOf(destination, known);
    if (copy === undefined) return kept ?? (hasMoved() ? undefined : "");
    key = copy;
    return undefined;
  }

  /** Whether another conversation has the draft: it has moved, and the event is still to come. */
  function hasMoved() {
    const all = drafts().all();
    return all.some(({ content }) => content === known);
  }

  /** Saves the text as a draft: as a second one if the draft was changed elsewhere, unless the text is the earlier one.
   * @param {boolean} sync Whether it is sent to the server now. */
  function save(sync) {
    const content = text();
    const isOther = changedElsewhere() !== undefined;
    if (destination && !(isOther && content === known)) {
      const place = key === null || isOther ? drafts().freeKey(destination, now()) : key;
      key = drafts().set(destination, content, now(), sync, place) ? place : null;
      known = content;
    }
    onSaved();
  }
  function removeDraft() {
    if (key !== null && changedElsewhere() === undefined) drafts().removeKey(key);
    key = null;
  }
  const saveSoon = debounce(() => save(false), SAVE_DELAY);
  const syncSoon = debounce(() => save(true), SYNC_DELAY);
  const cancel = () => {
    saveSoon.cancel();
    syncSoon.cancel();
  };

  return {
    get destination() {
      return destination;
    },
    get shown() {
      return shown;
    },
    /** Another number once another text is in the box, and the same one after its conversation has moved. */
    get opened() {
      return opened;
    },
    /** Whether the text is for the conversation that is open. */
    isHere: () => isSameDestination(destination, shown),
    save,
    /** The text changed. */
    changed() {
      saveSoon();
      syncSoon();
    },
    /** Writes to another from now on. @param {Destination | null} next @param {string} [content] What is written there, if not its draft.
     * @returns {string} the text */
    open(next, content) {
      if (destination) {
        cancel();
        save(true);
      }
      destination = next;
      opened += 1;
      const draft = (next && drafts().get(next)?.content) ?? "";
      const result = content ?? draft;
      key = next && draft && result === draft ? draftKey(next) : null;
      known = draft;
      return result;
    },
    /** The recipient changed, and the text goes with it. @param {Partial<Destination>} changes */
    change(changes) {
      if (!destination) return;
      removeDraft();
      destination = { ...destination, ...changes };
      saveSoon();
    },
    /** What was written is on its way. Where it was for another conversation than the one that is open, nothing is written any more.
     * @param {Destination} to @param {() => void} empty Empties the box. */
    sent(to, empty) {
      removeDraft();
      empty();
      cancel();
      onSaved();
      if (!isSameDestination(to, shown)) destination = null;
    },
    /** The text stays a draft of its conversation, and nothing is written any more. */
    leave() {
      cancel();
      if (destination) save(true);
      destination = null;
    },
    /** Another conversation is open.
     * @param {Destination | null} next @param {boolean} isWriting Whether the focus is in the box.
     * @returns {boolean} whether one writes on: it was opened for this conversation, or is for another on purpose */
    show(next, isWriting) {
      const isElsewhere = destination !== null && !isSameDestination(destination, shown);
      shown = next;
      return isSameDestination(destination, next) || (isElsewhere && isWriting);
    },
    /** Takes over the draft from another tab or device, if nothing was changed here. @returns {string | null} the text for the box */
    follow() {
      const kept = changedElsewhere();
      if (kept === undefined || text() !== known) return null;
      cancel();
      known = kept;
      return kept;
    },
    /** A conversation moved. @param {Destination} from @param {Destination} to @param {Map<string, string>} places Where its drafts are now.
     * @returns {boolean} whether it is the one that is written to */
    moved(from, to, places) {
      const goes = isSameDestination(destination, from);
      if (isSameDestination(shown, from)) shown = to;
      if (goes) destination = to;
      // Another tab may have moved it before.
      if (goes && key !== null) key = places.get(key) ?? drafts().keyOf(to, known) ?? key;
      return goes;
    },
  };
}
