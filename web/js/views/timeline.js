/**
 * The timeline of a narrow: a window of real rows over a run of messages, which moves as one scrolls.
 * @module
 */

import { ApiError } from "../api/client.js";
import { getMessage } from "../api/endpoints.js";
import { fill, h, icon } from "../lib/dom.js";
import { keyedList } from "../lib/keyed_list.js";
import { effect, onEnd, untracked } from "../lib/signal.js";
import { hasFocus, isVisible } from "../platform/lifecycle.js";
import { kindOf, matches, narrowKey, operandOf, ownTerms } from "../selectors/narrow.js";
import { isSameRow, timelineRows } from "../selectors/timeline_rows.js";
import { directKey, topicKey } from "../store/conversations.js";
import { draftKey } from "../store/drafts.js";
import { createLoad } from "./load_state.js";
import { attachActions } from "./message_actions.js";
import { carryOver, errorRow, messageRow, outgoingRow, unfoldShort } from "./message_row.js";
import { createMessageWindow } from "./message_window.js";
import { editMessage } from "./on_demand.js";
import { createReadMarks } from "./read_marks.js";
import { createRowSelection } from "./row_selection.js";
import { createScrollAnchor } from "./scroll_anchor.js";
import { createStickyBar } from "./sticky_bar.js";
import { subscriptionNotice, unknownChannel } from "./subscription_notice.js";
import { showTypists } from "./typing_notices.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../selectors/timeline_rows.js").Row} Row */
/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {import("../../types/api.js").Message} Message */
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
  const range = store.messages.range(key, ownTerms(terms));
  const near = operandOf(terms, "near");
  const conversation =
    kind.kind === "topic" ? topicKey(kind.streamId, kind.topic) : kind.kind === "dm" ? directKey(store, kind.userIds) : null;

  const list = h("div", { class: "timeline__list", role: "feed", "aria-label": "Messages", "aria-busy": "true" });
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
  const isMixed = kind.kind !== "topic" && kind.kind !== "dm";
  const sticky = isMixed ? createStickyBar(app, scroller, list) : null;
  const streamId = kind.kind === "topic" || kind.kind === "channel" ? kind.streamId : null;
  const element = h("section", { class: "timeline", "aria-label": "Conversation" }, sticky?.element, scroller, readMarks.notice, jump);
  const load = createLoad(session, open);

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

  /** The messages that were shown: if all left, they tell where to. @type {number[]} */
  let lastShown = [];

  /** The conversation moved, or what is left of it was deleted: goes with its messages. @returns {boolean} */
  function followMove() {
    if (range.ids.length > 0) lastShown = range.ids;
    if (range.ids.length > 0 || kind.kind !== "topic") return false;
    const message = lastShown.map((id) => store.messages.byId.get(id)).findLast((one) => one?.type === "stream");
    return message !== undefined && followTo(message);
  }

  /** Goes where a message of this conversation is now. @param {Message} message @param {Term[]} [place] The term of the link that led here. @returns {boolean} */
  function followTo(message, place = []) {
    const isThere = terms.every((term) => !["channel", "topic"].includes(term.operator) || matches(store, [term], message) !== false);
    if (isThere || message.type !== "stream") return false;
    const to = app.composer.destinationOf(message);
    if (kind.kind === "topic" && place.length === 0) session.moved({ type: "stream", to: [kind.streamId], topic: kind.topic }, to);
    const channel = { operator: "channel", operand: to.to[0] };
    app.follow([channel, ...(kind.kind === "topic" ? [{ operator: "topic", operand: to.topic }] : []), ...place]);
    return true;
  }

  /** A link to a message leads to where the message is now. @returns {Promise<boolean>} */
  async function followLink() {
    const place = terms.find(({ operator }) => operator === "near" || operator === "with");
    const id = Number(place?.operand);
    if (!place || streamId === null || (range.isLoaded && !range.isStale && range.ids.includes(id))) return false;
    try {
      const { message } = await getMessage(id);
      return element.isConnected && followTo(message, [place]);
    } catch (error) {
      // Deleted, or not for this user.
      if (error instanceof ApiError && !error.isTransient) return false;
      throw error;
    }
  }

  function render() {
    if (followMove()) return;
    if (shown.isLong() && anchor.isAtEnd()) shown.toNewest();
    const rows = timelineRows(store, shown.ids(), { isMixed, firstUnread, revealed });
    anchor.setFollows(shown.hasNewest());
    anchor.preserve(() => {
      items.set([...rows.map((row) => ({ row, epoch })), ...outgoing().map((item) => ({ outgoing: item, state: item.state }))]);
      unfoldShort(list);
      fill(top, topContent(rows.length === 0));
    });
    list.setAttribute("aria-busy", String(!range.isLoaded));
    resumeEdits();
    if (isReady) afterScroll();
  }

  /** Edits that were left begin again with their rows. */
  const resumed = new Set();
  function resumeEdits() {
    for (const key of session.edits.texts.keys()) {
      const message = store.messages.byId.get(Number(key));
      const row = items.get(Number(key));
      if (!row) resumed.delete(key);
      if (!message || !row || resumed.has(key) || row.querySelector(".editor-form")) continue;
      resumed.add(key);
      void editMessage(app, message, timeline, { isResumed: true });
    }
  }

  /** @param {boolean} isEmpty */
  function topContent(isEmpty) {
    if (streamId !== null && !store.channels.has(streamId) && isEmpty) return unknownChannel();
    if (!range.isLoaded || load.state.peek().kind === "failed") return load.hint();
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
    sticky?.update(selection.visibleRows()[0]);
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
    if (streamId !== null && !store.channels.has(streamId)) return;
    if (await followLink()) return;
    // Nobody tells of what is written in channels that one is not in.
    if (streamId !== null && !store.channels.get(streamId)?.subscribed) range.isStale = range.isLoaded;
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
      load.watch();
      if (streamId !== null) readMarks.notice.before(subscriptionNotice(app, streamId));
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
        load.state.value;
        untracked(() => {
          if (range.isLoaded && isReady) render();
          else fill(top, topContent(range.ids.length === 0));
          if (range.isStale && isReady) void refresh();
        });
      });
      // An end of the run that could not be fetched is asked for again.
      effect(() => {
        session.recoveries.value;
        untracked(() => afterScroll());
      });
      if (streamId !== null) watchAccess(streamId);
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
      void load.start();
    },
  };

  /** Loads the messages once the channel is one that the user may see, and anew where events were missed. @param {number} id */
  function watchAccess(id) {
    let before = store.channels.get(id);
    effect(() => {
      store.on("channels");
      untracked(() => {
        const now = store.channels.get(id);
        if (!before && now) void load.start();
        else if (now?.subscribed && !before?.subscribed && range.isLoaded) {
          range.isStale = true;
          range.bump();
        }
        before = now;
      });
    });
  }

  let isRefreshing = false;
  /** After the queue was lost: fetches what is shown anew, around where one reads. */
  async function refresh() {
    if (isRefreshing) return;
    isRefreshing = true;
    const atEnd = anchor.isAtEnd();
    const id = Number(selection.visibleRows()[0]?.dataset.id ?? 0);
    try {
      const known = range.ids.at(-1);
      await session.load(range, atEnd || !id ? "newest" : id);
      // Moved while nobody told.
      if (range.ids.length === 0 && known !== undefined && kind.kind === "topic") {
        const reply = await getMessage(known).catch(() => null);
        if (reply && element.isConnected && followTo(reply.message)) return;
      }
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
