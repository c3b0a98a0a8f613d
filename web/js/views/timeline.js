/**
 * The timeline of a narrow: a window of real rows over a run of messages, which moves as one scrolls.
 * @module
 */

import { fill, h, icon } from "../lib/dom.js";
import { keyedList } from "../lib/keyed_list.js";
import { effect, onEnd, untracked } from "../lib/signal.js";
import { hasFocus, isVisible } from "../platform/lifecycle.js";
import { conversationTerms, kindOf, narrowKey, operandOf } from "../selectors/narrow.js";
import { isSameRow, timelineRows } from "../selectors/timeline_rows.js";
import { directKey, topicKey } from "../store/conversations.js";
import { draftKey } from "../store/drafts.js";
import { attachActions } from "./message_actions.js";
import { carryOver, errorRow, messageRow, outgoingRow } from "./message_row.js";
import { createMessageWindow } from "./message_window.js";
import { createReadMarks } from "./read_marks.js";
import { createRowSelection } from "./row_selection.js";
import { createScrollAnchor } from "./scroll_anchor.js";
import { showTypists } from "./typing_notices.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../selectors/timeline_rows.js").Row} Row */
/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {import("../store/outbox.js").OutgoingMessage} OutgoingMessage */
/** @typedef {import("../../types/app.js").Timeline} Timeline */

/** What is said where there are no messages with a flag. @type {Record<string, string>} */
const NONE_YET = {
  mentioned: "Messages that mention you appear here.",
  starred: "Messages that you star appear here. Nobody else sees which.",
};

/** Where each narrow was left. @type {Map<string, { id: number, fraction: number } | "end">} */
const places = new Map();

/** @param {App} app @param {Term[]} terms @returns {Timeline} */
export function createTimeline(app, terms) {
  const { store, session } = app;
  const key = narrowKey(terms);
  const kind = kindOf(terms);
  const range = store.messages.range(
    key,
    terms.filter(({ operator }) => operator !== "near"),
  );
  const near = operandOf(terms, "near");
  const conversation =
    kind.kind === "topic" ? topicKey(kind.streamId, kind.topic) : kind.kind === "dm" ? directKey(store, kind.userIds) : null;

  const list = h("div", { class: "timeline__list", role: "feed", "aria-label": "Messages" });
  const top = h("div", { class: "timeline__top" });
  const typing = h("div", { class: "timeline__typing", "aria-live": "off" });
  const jump = h(
    "button",
    { type: "button", class: "timeline__jump", hidden: true, onclick: () => void toNewest() },
    icon("chevron"),
    h("span", null, "Newest"),
  );
  const scroller = h("div", { class: "timeline__scroller", tabindex: "-1" }, top, list, typing);
  const anchor = createScrollAnchor(scroller, list);

  /** @type {number | null} */
  let firstUnread = null;
  let isReady = false;
  let epoch = 0;
  /** @type {Set<number>} */
  const revealed = new Set();

  /** @typedef {{ row: Row, epoch: number } | { outgoing: OutgoingMessage, state: string }} Item */
  const items = keyedList(list, {
    key: (/** @type {Item} */ item) => ("row" in item ? item.row.id : item.outgoing.localId),
    create: (item) => ("row" in item ? messageRow(app, item.row, range.matches.get(item.row.id)) : outgoingRow(app, item.outgoing)),
    update(old, item, before) {
      const isSame =
        "row" in item && "row" in before
          ? isSameRow(item.row, before.row) && item.epoch === before.epoch
          : "outgoing" in item && "outgoing" in before && item.state === before.state;
      if (isSame) return old;
      const next = "row" in item ? messageRow(app, item.row, range.matches.get(item.row.id)) : outgoingRow(app, item.outgoing);
      carryOver(old, next);
      return next;
    },
    replacement(item, old) {
      const next = "row" in item ? errorRow(item.row.id, item.row.isUnread) : errorRow(item.outgoing.localId, false);
      if (old) carryOver(old, next);
      return next;
    },
  });

  const shown = createMessageWindow(range);
  const selection = createRowSelection(scroller, list, { rowOf: (id) => items.get(id), anchor, onScroll: afterScroll });
  const readMarks = createReadMarks(app, { terms, range, list, scroller, isAtNewest: () => shown.hasNewest() && anchor.isAtEnd() });
  const element = h("section", { class: "timeline", "aria-label": "Conversation" }, scroller, readMarks.notice, jump);

  /** @returns {OutgoingMessage[]} */
  function outgoing() {
    if (!shown.hasNewest() || !conversation) return [];
    const mine =
      kind.kind === "topic"
        ? draftKey({ type: "stream", to: [kind.streamId], topic: kind.topic })
        : kind.kind === "dm"
          ? draftKey({ type: "direct", to: kind.userIds, topic: "" })
          : "";
    return session.outbox.items.filter(
      (item) => draftKey(item.destination) === mine && !(item.sentId && store.messages.byId.has(item.sentId)),
    );
  }

  /** The newest message that was shown: if all left, it tells where to. */
  let newestShown = 0;

  /** The conversation moved as a whole: goes with it. @returns {boolean} */
  function followMove() {
    if (range.ids.length > 0) newestShown = range.ids.at(-1) ?? 0;
    const message = store.messages.byId.get(newestShown);
    if (range.ids.length > 0 || !message || kind.kind !== "topic" || message.type !== "stream") return false;
    if (message.stream_id === kind.streamId && message.subject.toLowerCase() === kind.topic.toLowerCase()) return false;
    app.goNarrow(conversationTerms(store, message));
    return true;
  }

  function render() {
    if (followMove()) return;
    if (shown.isLong() && anchor.isAtEnd()) shown.toNewest();
    const isMixed = kind.kind !== "topic" && kind.kind !== "dm";
    const rows = timelineRows(store, shown.ids(), { isMixed, firstUnread, revealed });
    anchor.setFollows(shown.hasNewest());
    anchor.preserve(() => {
      items.set([...rows.map((row) => ({ row, epoch })), ...outgoing().map((item) => ({ outgoing: item, state: item.state }))]);
      fill(top, topContent(rows.length === 0));
    });
    list.setAttribute("aria-busy", String(!range.isLoaded));
    if (isReady) afterScroll();
  }

  /** @param {boolean} isEmpty */
  function topContent(isEmpty) {
    if (!range.isLoaded) return h("p", { class: "timeline__hint" }, "Loading…");
    if (isEmpty && range.hasOldest && range.hasNewest) return h("p", { class: "timeline__hint" }, emptyText());
    if (shown.hasOldest()) return conversation ? h("p", { class: "timeline__hint" }, "This is the beginning of this conversation.") : null;
    return h("p", { class: "timeline__hint" }, "Loading older messages…");
  }

  function emptyText() {
    if (kind.kind === "dm") return "There are no messages here yet. Write the first one below.";
    if (kind.kind === "topic" || kind.kind === "channel") return "There are no messages here yet. Begin the conversation below.";
    if (terms.some(({ operator }) => operator === "search")) return "Nothing was found.";
    const [{ operator, operand, negated }] = terms;
    return (terms.length === 1 && operator === "is" && !negated && NONE_YET[String(operand)]) || "There are no messages here.";
  }

  /** Moves the window or fetches further messages where an end of the rows is near; updates what depends on the place. */
  function afterScroll() {
    if (!isReady || !range.isLoaded) return;
    const room = scroller.clientHeight * 2;
    const fromEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    if (scroller.scrollTop < room) {
      if (shown.moveBack()) render();
      else if (!range.hasOldest) void session.attempt(session.extend(range, "older"));
    }
    if (fromEnd < room) {
      if (shown.moveOn()) render();
      else if (shown.hasNewest()) anchor.setFollows(true);
      else void session.attempt(session.extend(range, "newer"));
    }
    jump.hidden = fromEnd < scroller.clientHeight && shown.hasNewest();
    readMarks.markSeen();
  }

  /** @param {number} id @param {number} fraction @returns {boolean} */
  function showAt(id, fraction) {
    const row = items.get(id);
    if (row) anchor.place(row, fraction);
    return row !== undefined;
  }

  const firstUnreadOf = () => range.ids.find((id) => store.messages.byId.get(id)?.flags.includes("read") === false) ?? null;

  async function open() {
    const place = places.get(key);
    const hasLine = kind.kind !== "other";
    if (near !== undefined) {
      if (!range.isLoaded || range.isStale || !range.ids.includes(near)) await session.load(range, near);
      shown.around(near);
    } else if (!range.isLoaded || range.isStale) {
      await session.load(range, hasLine || terms.some(({ operator }) => operator === "is") ? "first_unread" : "newest");
      shown.around(firstUnreadOf() ?? Infinity);
    } else {
      shown.around(firstUnreadOf() ?? (typeof place === "object" ? place.id : Infinity));
    }
    if (!element.isConnected) return;
    firstUnread = hasLine ? firstUnreadOf() : null;
    render();
    if (near !== undefined && showAt(near, 0.3)) {
      selection.select(near);
      items.get(near)?.classList.add("is-target");
    } else if (firstUnread !== null && showAt(firstUnread, 0.25)) {
      selection.select(firstUnread);
    } else if (!(typeof place === "object" && showAt(place.id, place.fraction))) {
      anchor.toEnd();
      // Pictures and fonts may still change heights before the first frame.
      requestAnimationFrame(() => anchor.toEnd());
    }
    isReady = true;
    afterScroll();
  }

  async function toNewest() {
    if (!range.hasNewest) await session.attempt(session.load(range, "newest"));
    shown.toNewest();
    selection.select(range.ids.at(-1) ?? 0);
    render();
    anchor.toEnd();
    afterScroll();
  }

  let frame = 0;
  scroller.addEventListener(
    "scroll",
    () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(afterScroll);
    },
    { passive: true },
  );

  /** @type {Timeline} */
  const timeline = {
    element,
    terms,
    kind,
    range,
    conversation,
    list,
    selected: selection.selected,
    message: () => store.messages.byId.get(selection.selected()),
    move: selection.move,
    page: selection.page,
    toNewest,
    focusSelected: selection.focusSelected,
    async toOldest() {
      if (!range.hasOldest) await session.attempt(session.load(range, "oldest"));
      shown.toOldest();
      render();
      scroller.scrollTop = 0;
      anchor.remember();
      selection.focus(list.firstElementChild);
    },
    block: readMarks.block,
    /** @param {number} id */
    reveal(id) {
      revealed.add(id);
      render();
    },
    /** @param {number} id */
    rowOf: (id) => items.get(id),
    start() {
      attachActions(app, timeline);
      effect(() => {
        store.on("settings");
        store.on("users");
        store.on("realm");
        epoch += 1;
      });
      effect(() => {
        range.version.value;
        session.outbox.version.value;
        store.on("settings");
        store.on("users");
        untracked(() => {
          if (range.isLoaded && isReady) render();
          else if (!range.isLoaded) fill(top, topContent(false));
          if (range.isStale && isReady) void refresh();
        });
      });
      effect(() => {
        const focused = isVisible.value && hasFocus.value;
        untracked(() => {
          if (!focused || !isReady) return;
          const unread = firstUnreadOf();
          if (unread !== null && kind.kind !== "other") {
            firstUnread = unread;
            render();
          }
          readMarks.markSeen();
        });
      });
      if (conversation) effect(() => showTypists(typing, store, conversation));
      onEnd(() => {
        const row = selection.visibleRows()[0];
        if (anchor.isAtEnd() || !row) places.delete(key);
        else places.set(key, { id: Number(row.dataset.id), fraction: 0 });
        anchor.end();
      });
      void session.attempt(open());
    },
  };

  let isRefreshing = false;
  /** After the queue was lost: fetches what is shown anew, around where one reads. */
  async function refresh() {
    if (isRefreshing) return;
    isRefreshing = true;
    const atEnd = anchor.isAtEnd();
    const id = Number(selection.visibleRows()[0]?.dataset.id ?? 0);
    try {
      await session.load(range, atEnd || !id ? "newest" : id);
      if (atEnd) shown.toNewest();
      else shown.around(id);
      render();
    } catch {
      // The queue tries again, and then the range is stale again.
      range.isStale = true;
    } finally {
      isRefreshing = false;
    }
  }

  return timeline;
}
