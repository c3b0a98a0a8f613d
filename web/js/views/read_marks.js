/**
 * Marking messages as read that were on the screen while the window had the focus, if the user's setting allows it in the view. Otherwise,
 * a line with a button says that they are not marked.
 * @module
 */

import { h } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { isDialogOpen } from "../platform/keyboard.js";
import { hasFocus, isVisible } from "../platform/lifecycle.js";
import { canMarkAsRead } from "../selectors/narrow.js";
import { button } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */

/** @param {App} app @param {{ terms: import("../../types/api.js").Term[], range: import("../store/messages.js").Range, list: HTMLElement,
 *   scroller: HTMLElement, isAtNewest: () => boolean }} timeline */
export function createReadMarks({ store, session }, { terms, range, list, scroller, isAtNewest }) {
  let isBlocked = false;

  const markAll = () => session.markRead(range.ids.filter((id) => !store.messages.byId.get(id)?.flags.includes("read")));
  const notice = h(
    "div",
    { class: "timeline__notice", hidden: true },
    t("Messages are not marked as read here."),
    " ",
    button(t("Mark as read"), markAll, "small"),
  );

  const isMarking = () => !isBlocked && canMarkAsRead(terms, store.setting("web_mark_read_on_scroll_policy") ?? 1);

  function updateNotice() {
    notice.hidden = isMarking() || list.querySelector("[data-unread]") === null;
  }

  return {
    notice,
    /** Marks what is on the screen or above it; at the newest message, everything. */
    markSeen() {
      if (isMarking() && isVisible.peek() && hasFocus.peek() && !isDialogOpen()) {
        if (isAtNewest()) {
          markAll();
        } else {
          const edge = scroller.getBoundingClientRect().bottom;
          const seen = [...list.querySelectorAll("[data-unread]")].filter((row) => row.getBoundingClientRect().bottom <= edge);
          session.markRead(seen.map((row) => Number(/** @type {HTMLElement} */ (row).dataset.id)));
        }
      }
      updateNotice();
    },
    /** Keeps messages unread until the view is left. */
    block() {
      isBlocked = true;
      updateNotice();
    },
    isBlocked: () => isBlocked,
  };
}
