/**
 * The timeline of a narrow: a window of real rows over a run of messages, which moves as one scrolls.
 * @module
 */

import { fill, h, icon } from "../lib/dom.js";
import { keyedList } from "../lib/keyed_list.js";
import { effect, onEnd, untracked } from "../lib/signal.js";
import { isDialogOpen } from "../platform/keyboard.js";
import { hasFocus, isVisible } from "../platform/lifecycle.js";
import { canMarkAsRead, conversationTerms, kindOf, narrowKey, operandOf } from "../selectors/narrow.js";
import { isSameRow, timelineRows } from "../selectors/timeline_rows.js";
import { directKey, topicKey } from "../store/conversations.js";
import { draftKey } from "../store/drafts.js";
import { typistsOf, userOf } from "../store/users.js";
import { attachActions } from "./message_actions.js";
import { carryOver, messageRow, outgoingRow } from "./message_row.js";
import { createScrollAnchor } from "./scroll_anchor.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../selectors/timeline_rows.js").Row} Row */
/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {import("../store/outbox.js").OutgoingMessage} OutgoingMessage */
/** @typedef {import("../../types/app.js").Timeline} Timeline */

/** Rows in the window, and how many more at a time. */
const WINDOW = 300;
const STEP = 100;

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
  const notice = h("div", { class: "timeline__notice", hidden: true });
  const scroller = h("div", { class: "timeline__scroller", tabindex: "-1" }, top, list, typing);
  const element = h("section", { class: "timeline", "aria-label": "Conversation" }, scroller, notice, jump);
  const anchor = createScrollAnchor(scroller, list);

  /** The ids at the ends of the window. */
  let start = 0;
  let end = Infinity;
  /** @type {number | null} */
  let firstUnread = null;
  let isReady = false;
  let isBlocked = false;
  let selectedId = 0;
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
  });

  const windowIds = () => range.ids.filter((id) => id >= start && id <= end);

  /** @returns {OutgoingMessage[]} */
  function outgoing() {
    if (end !== Infinity || !range.hasNewest || !conversation) return [];
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
    const ids = windowIds();
    if (end === Infinity && ids.length > WINDOW + STEP && anchor.isAtEnd()) start = ids[ids.length - WINDOW];
    const isMixed = kind.kind !== "topic" && kind.kind !== "dm";
    const rows = timelineRows(store, windowIds(), { isMixed, firstUnread, revealed });
    anchor.setFollows(range.hasNewest && end === Infinity);
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
    if (range.hasOldest && start <= (range.ids[0] ?? 0))
      return conversation ? h("p", { class: "timeline__hint" }, "This is the beginning of this conversation.") : null;
    return h("p", { class: "timeline__hint" }, "Loading older messages…");
  }

  function emptyText() {
    if (kind.kind === "dm") return "There are no messages here yet. Write the first one below.";
    if (kind.kind === "topic" || kind.kind === "channel") return "There are no messages here yet. Begin the conversation below.";
    if (terms.some(({ operator }) => operator === "search")) return "Nothing was found.";
    return "There are no messages here.";
  }

  /** Moves the window or fetches further messages where an end of the rows is near; updates what depends on the place. */
  function afterScroll() {
    const ids = range.ids;
    if (!isReady || !range.isLoaded) return;
    const room = scroller.clientHeight * 2;
    const fromEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    if (scroller.scrollTop < room) {
      const at = ids.findIndex((id) => id >= start);
      if (at > 0) moveWindow(Math.max(0, at - STEP), null);
      else if (!range.hasOldest) void session.attempt(session.extend(range, "older"));
    }
    if (fromEnd < room) {
      const at = ids.findLastIndex((id) => id <= end);
      if (end !== Infinity && at < ids.length - 1) moveWindow(null, Math.min(ids.length - 1, at + STEP));
      else if (end !== Infinity && range.hasNewest) {
        end = Infinity;
        anchor.setFollows(true);
      } else if (!range.hasNewest) void session.attempt(session.extend(range, "newer"));
    }
    jump.hidden = fromEnd < scroller.clientHeight && range.hasNewest && end === Infinity;
    markVisible();
  }

  /** @param {number | null} from @param {number | null} to Indexes of the new ends. */
  function moveWindow(from, to) {
    const ids = range.ids;
    if (from !== null) {
      start = ids[from];
      if (ids.length - from > WINDOW && (end === Infinity || ids.findLastIndex((id) => id <= end) - from > WINDOW))
        end = ids[from + WINDOW - 1];
    }
    if (to !== null) {
      end = to >= ids.length - 1 && range.hasNewest ? Infinity : ids[to];
      start = ids[Math.max(0, to - WINDOW + 1)];
    }
    render();
  }

  function markVisible() {
    if (!isReady || isBlocked || !isVisible.peek() || !hasFocus.peek() || isDialogOpen()) return updateNotice();
    if (!canMarkAsRead(terms, store.setting("web_mark_read_on_scroll_policy") ?? 1)) return updateNotice();
    if (range.hasNewest && end === Infinity && anchor.isAtEnd()) {
      session.markRead(range.ids.filter((id) => !store.messages.byId.get(id)?.flags.includes("read")));
    } else {
      const edge = scroller.getBoundingClientRect().bottom;
      const seen = [...list.querySelectorAll("[data-unread]")].filter((row) => row.getBoundingClientRect().bottom <= edge);
      session.markRead(seen.map((row) => Number(/** @type {HTMLElement} */ (row).dataset.id)));
    }
    updateNotice();
  }

  function updateNotice() {
    const isLeft =
      (isBlocked || !canMarkAsRead(terms, store.setting("web_mark_read_on_scroll_policy") ?? 1)) &&
      list.querySelector("[data-unread]") !== null;
    if (notice.hidden === !isLeft) return;
    notice.hidden = !isLeft;
    fill(
      notice,
      "Reading here does not mark messages as read. ",
      h(
        "button",
        {
          type: "button",
          class: "button button--small",
          onclick: () => {
            session.markRead(range.ids.filter((id) => !store.messages.byId.get(id)?.flags.includes("read")));
          },
        },
        "Mark as read",
      ),
    );
  }

  /** @param {number} id @param {number} fraction @returns {boolean} */
  function showAt(id, fraction) {
    const row = items.get(id);
    if (row) anchor.place(row, fraction);
    return row !== undefined;
  }

  /** Centres the window on an id. @param {number} id */
  function windowAround(id) {
    const at = range.ids.findIndex((other) => other >= id);
    if (at < 0) return windowAtEnd();
    start = range.ids[Math.max(0, at - WINDOW / 2)] ?? 0;
    end =
      at + WINDOW / 2 >= range.ids.length && range.hasNewest
        ? Infinity
        : (range.ids[Math.min(range.ids.length - 1, at + WINDOW / 2)] ?? Infinity);
  }

  function windowAtEnd() {
    start = range.ids[Math.max(0, range.ids.length - WINDOW)] ?? 0;
    end = Infinity;
  }

  const firstUnreadOf = () => range.ids.find((id) => store.messages.byId.get(id)?.flags.includes("read") === false) ?? null;

  async function open() {
    const place = places.get(key);
    const hasLine = kind.kind !== "other";
    if (near !== undefined) {
      if (!range.isLoaded || range.isStale || !range.ids.includes(near)) await session.load(range, near);
      windowAround(near);
    } else if (!range.isLoaded || range.isStale) {
      await session.load(range, hasLine || terms.some(({ operator }) => operator === "is") ? "first_unread" : "newest");
      windowAround(firstUnreadOf() ?? Infinity);
    } else {
      windowAround(firstUnreadOf() ?? (typeof place === "object" ? place.id : Infinity));
    }
    if (!element.isConnected) return;
    firstUnread = hasLine ? firstUnreadOf() : null;
    render();
    if (near !== undefined && showAt(near, 0.3)) {
      selectedId = near;
      items.get(near)?.classList.add("is-target");
    } else if (firstUnread !== null && showAt(firstUnread, 0.25)) {
      selectedId = firstUnread;
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
    windowAtEnd();
    selectedId = range.ids.at(-1) ?? 0;
    render();
    anchor.toEnd();
    afterScroll();
  }

  /** The rows on the screen, from top to bottom. */
  function visibleRows() {
    const box = scroller.getBoundingClientRect();
    return [...list.children].filter((row) => {
      const own = row.getBoundingClientRect();
      return own.bottom > box.top + 10 && own.top < box.bottom - 10;
    });
  }

  /** @returns {number} the id of the message that keys act on; 0 if there is none */
  function selected() {
    const focused = document.activeElement?.closest?.(".message-row");
    if (focused instanceof HTMLElement && list.contains(focused)) return Number(focused.dataset.id);
    const visible = visibleRows().map((row) => Number(/** @type {HTMLElement} */ (row).dataset.id));
    return visible.includes(selectedId) ? selectedId : (visible.at(-1) ?? 0);
  }

  /** @param {Element | null | undefined} row @param {boolean} [scroll] */
  function focusRow(row, scroll = true) {
    if (!(row instanceof HTMLElement)) return;
    selectedId = Number(row.dataset.id);
    row.focus({ preventScroll: true });
    const [box, own] = [scroller.getBoundingClientRect(), row.getBoundingClientRect()];
    if (!scroll) return;
    if (own.top < box.top) scroller.scrollTop += own.top - box.top - 8;
    else if (own.bottom > box.bottom) scroller.scrollTop += Math.min(own.bottom - box.bottom + 8, own.top - box.top);
    afterScroll();
  }

  /** @param {number} step */
  function move(step) {
    const focused = document.activeElement?.closest?.(".message-row");
    if (!(focused && list.contains(focused))) return focusRow(items.get(selected()));
    const next = step > 0 ? focused.nextElementSibling : focused.previousElementSibling;
    if (next) focusRow(next);
    else if (step > 0) anchor.toEnd();
  }

  /** @param {number} direction */
  function page(direction) {
    scroller.scrollBy({ top: direction * scroller.clientHeight * 0.9, behavior: "instant" });
    anchor.remember();
    const rows = visibleRows();
    focusRow(direction > 0 ? rows.at(-1) : rows[0], false);
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
  scroller.addEventListener("pointerdown", (event) => {
    const row = event.target instanceof Element ? event.target.closest(".message-row") : null;
    if (row instanceof HTMLElement) selectedId = Number(row.dataset.id);
  });

  /** @type {Timeline} */
  const timeline = {
    element,
    terms,
    kind,
    range,
    conversation,
    list,
    selected,
    message: () => store.messages.byId.get(selected()),
    move,
    page,
    toNewest,
    focusSelected: () => focusRow(items.get(selected())),
    async toOldest() {
      if (!range.hasOldest) await session.attempt(session.load(range, "oldest"));
      start = 0;
      end = range.ids[Math.min(range.ids.length - 1, WINDOW)] ?? Infinity;
      render();
      scroller.scrollTop = 0;
      anchor.remember();
      focusRow(list.firstElementChild);
    },
    /** Keeps messages unread until the view is left. */
    block() {
      isBlocked = true;
      updateNotice();
    },
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
          markVisible();
        });
      });
      if (conversation) effect(() => renderTyping(conversation));
      onEnd(() => {
        const row = visibleRows()[0];
        if (anchor.isAtEnd() || !(row instanceof HTMLElement)) places.delete(key);
        else places.set(key, { id: Number(row.dataset.id), fraction: 0 });
        anchor.end();
      });
      void session.attempt(open());
    },
  };

  /** @param {string} conversationKey */
  function renderTyping(conversationKey) {
    store.on("typing");
    const names = typistsOf(store, conversationKey).map((id) => userOf(store, id).full_name);
    typing.textContent =
      names.length === 0
        ? ""
        : names.length === 1
          ? `${names[0]} is typing…`
          : names.length < 4
            ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)} are typing…`
            : "Several people are typing…";
    if (names.length === 0) return;
    const timer = setTimeout(() => renderTyping(conversationKey), 5000);
    onEnd(() => clearTimeout(timer));
  }

  let isRefreshing = false;
  /** After the queue was lost: fetches what is shown anew, around where one reads. */
  async function refresh() {
    if (isRefreshing) return;
    isRefreshing = true;
    const atEnd = anchor.isAtEnd();
    const row = visibleRows()[0];
    const id = row instanceof HTMLElement ? Number(row.dataset.id) : 0;
    try {
      await session.load(range, atEnd || !id ? "newest" : id);
      if (atEnd) windowAtEnd();
      else windowAround(id);
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
