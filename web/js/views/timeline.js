/**
 * The timeline of a narrow: a window of real rows over a run of messages, which moves as one scrolls.
 * @module
 */

import { fill, h, icon } from "../lib/dom.js";
import { effect, onEnd, untracked } from "../lib/signal.js";
import { nextTask } from "../lib/timing.js";
import { t } from "../lib/words.js";
import { hasFocus, isVisible, today } from "../platform/lifecycle.js";
import {
  channelOfRoute,
  conversationOfRoute,
  hasPartialConversations,
  kindOf,
  narrowKey,
  operandOf,
  ownTerms,
} from "../selectors/narrow.js";
import { agesUnseen, anchorToLoad, beginsUnread, centreOf, emptyText, firstUnreadOf, placesToTry } from "../selectors/opening.js";
import { isKnownRoute } from "../selectors/routes.js";
import { timelineRows } from "../selectors/timeline_rows.js";
import { directKey, topicKey } from "../store/conversations.js";
import { createLoad } from "./load_state.js";
import { attachActions } from "./message_actions.js";
import { scrollWideFormulas } from "./message_content.js";
import { foldHigh, retryWidgets } from "./message_row.js";
import { createMessageWindow } from "./message_window.js";
import { keepFocus } from "./parts.js";
import { createReadMarks } from "./read_marks.js";
import { createRowSelection } from "./row_selection.js";
import { createScrollAnchor } from "./scroll_anchor.js";
import { createStickyBar } from "./sticky_bar.js";
import { subscriptionNotice, unknownChannel } from "./subscription_notice.js";
import { createFollowing, emptyTopic } from "./timeline_follow.js";
import { createEditResumption, numberRows, outgoingTo, timelineList } from "./timeline_list.js";
import { showTypists } from "./typing_notices.js";
import { hiddenPage } from "./visitor.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {import("../../types/app.js").Timeline} Timeline */
/** @typedef {ReturnType<typeof createModel>} Model */

/** Where each narrow was left; those that are not here were left at the end. @type {Map<string, import("../selectors/opening.js").Place>} */
const places = new Map();

/** What a timeline shows, and how far it is. @param {App} app @param {Term[]} terms */
function createModel({ store }, terms) {
  const kind = kindOf(terms);
  const route = /** @type {const} */ ({ kind: "narrow", terms, narrow: kind });
  const key = narrowKey(terms);
  const streamId = channelOfRoute(route);
  const range = store.messages.range(key, ownTerms(terms));
  return {
    terms,
    kind,
    key,
    range,
    window: createMessageWindow(range),
    /** The message that a link led to. @type {number | undefined} */
    near: operandOf(terms, "near"),
    /** The key of the conversation, if the narrow is one. */
    conversation: kind.kind === "topic" ? topicKey(kind.streamId, kind.topic) : kind.kind === "dm" ? directKey(store, kind.userIds) : null,
    destination: conversationOfRoute(route),
    streamId,
    /** Whether it shows several conversations. */
    isMixed: kind.kind !== "topic" && kind.kind !== "dm",
    isPartial: hasPartialConversations(terms),
    isOfChannel: streamId !== null,
    /** Whether it has a line above what is unread. */
    hasLine: kind.kind !== "other",
    /** The message below the line. @type {number | null} */
    firstUnread: null,
    isReady: false,
    /** Grows with changes of what all rows show. */
    epoch: 0,
    /** Messages of muted people that are shown all the same. @type {Set<number>} */
    revealed: new Set(),
    /** The ids that are known, if they are up to date. */
    freshIds: () => (range.isLoaded && (!range.isStale || store.isFromStorage) ? range.ids : null),
    unread: () => firstUnreadOf(range.ids, store.messages.byId),
    /** Whether the channel is one that the user may see. */
    isKnown: () => isKnownRoute(store, { kind: "narrow", terms, narrow: kind }),
    isEmpty: () => range.ids.length === 0,
  };
}

/** @param {App} app @param {Term[]} terms @returns {Timeline} */
export function createTimeline(app, terms) {
  const { store, session } = app;
  const model = createModel(app, terms);
  const { kind, range, window, streamId } = model;

  const list = h("div", { class: "timeline__list", role: "group", "aria-label": t("Messages") });
  const top = h("div", { class: "timeline__top" });
  const typing = h("div", { class: "timeline__typing", "aria-live": "off" });
  const jump = h(
    "button",
    { type: "button", class: "timeline__jump", hidden: true, onclick: () => void toNewest() },
    icon("chevron"),
    h("span", null, t("Newest")),
  );
  const scroller = h("div", { class: "timeline__scroller", tabindex: "-1" }, top, list, typing);
  const anchor = createScrollAnchor(scroller, list);
  const items = timelineList(app, list, range);
  const selection = createRowSelection(scroller, list, { rowOf: items.get, anchor, onScroll: afterScroll });
  const readMarks = createReadMarks(app, { terms, range, list, scroller, isAtNewest: () => window.hasNewest() && anchor.isAtEnd() });
  const sticky = model.isMixed ? createStickyBar(app, scroller, list) : null;
  const element = h("section", { class: "timeline", "aria-label": t("Conversation") }, sticky?.element, scroller, readMarks.notice, jump);
  const following = createFollowing(app, { terms, kind, range, isOpen: () => element.isConnected });
  const load = createLoad(session, open);

  /** Drops what is far from what is read: in a view that is open for days, many messages arrive. */
  function shorten() {
    if (!window.isLong() && !range.isLong()) return;
    const id = Number(selection.visibleRows()[0]?.dataset.id ?? Number.POSITIVE_INFINITY);
    window.around(id);
    range.trimAround(id);
  }

  function render() {
    // Another view may have taken its place while messages were fetched.
    if (!element.isConnected || following.all()) return;
    shorten();
    const rows = timelineRows(store, window.ids(), model);
    const outgoing = window.hasNewest() ? outgoingTo(app, model.destination) : [];
    if (window.hasNewest()) anchor.setFollows(true);
    anchor.preserve(() => {
      const all = [...rows.map((row) => ({ row, epoch: model.epoch })), ...outgoing.map((item) => ({ outgoing: item, state: item.state }))];
      selection.keepFocus(() => items.set(all));
      numberRows(list, window.hasOldest() && window.hasNewest());
      foldHigh(list);
      scrollWideFormulas(list);
      showTop(rows.length === 0);
    });
    // It has followed to the first of more messages than there are rows for.
    anchor.setFollows(window.hasNewest());
    list.setAttribute("aria-busy", String(!range.isLoaded));
    resumeEdits();
    if (model.isReady) afterScroll();
  }

  /** @param {boolean} isEmpty */
  const showTop = (isEmpty) => keepFocus(top, () => fill(top, topContent(isEmpty)));

  /** @param {boolean} isEmpty */
  function topContent(isEmpty) {
    if (!model.isKnown() && isEmpty) return store.isVisitor ? hiddenPage() : unknownChannel();
    if (!range.isLoaded || load.state.peek().kind === "failed") return load.hint();
    const hint = (/** @type {string} */ text) => h("p", { class: "timeline__hint" }, text);
    if (isEmpty && range.hasOldest && range.hasNewest) return kind.kind === "topic" ? emptyTopic(app, kind) : hint(emptyText(kind, terms));
    if (!range.hasOldest && store.isFromStorage) return hint(t("Older messages need a connection."));
    if (!window.hasOldest()) return hint(t("Loading older messages…"));
    return model.conversation ? hint(t("This is the beginning of this conversation.")) : null;
  }

  /** Moves the window or fetches further messages where an end of the rows is near; updates what depends on the place. */
  function afterScroll() {
    // Without a height, every message would count as seen.
    if (!element.isConnected || !model.isReady || !range.isLoaded) return;
    const room = scroller.clientHeight * 2;
    const fromEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    if (scroller.scrollTop < room) {
      if (window.moveBack()) render();
      else if (!range.hasOldest && !store.isFromStorage) void session.attempt(session.extend(range, "older"));
    }
    if (fromEnd < room) {
      if (window.moveOn()) render();
      else if (window.hasNewest()) anchor.setFollows(true);
      else void session.attempt(session.extend(range, "newer"));
    }
    sticky?.update(selection.visibleRows()[0]);
    jump.hidden = fromEnd < scroller.clientHeight && window.hasNewest();
    readMarks.markSeen();
  }

  /** Puts the first of some places that has a row where it says; the end, if none has. */
  function goToPlace() {
    for (const { id, fraction, isMark, isTarget } of placesToTry({
      near: model.near,
      unreadLine: model.firstUnread,
      place: places.get(model.key),
    })) {
      const row = items.get(id);
      if (!row) continue;
      anchor.place(row, fraction);
      if (isMark) selection.select(id);
      if (isTarget) row.classList.add("is-target");
      return;
    }
    anchor.toEnd();
    // Pictures and fonts may still change heights before the first frame.
    requestAnimationFrame(() => anchor.follow());
  }

  async function open() {
    if (store.isVisitor && !model.isKnown()) return;
    // The message of a link may have moved out of a channel that the user cannot see.
    if (await following.link()) return;
    if (!model.isKnown()) return;
    // Messages in channels without a subscription have no events.
    if (agesUnseen(terms) || (streamId !== null && !store.channels.get(streamId)?.subscribed)) range.isStale = range.isLoaded;
    const wanted = anchorToLoad({ near: model.near, ids: model.freshIds(), beginsUnread: beginsUnread(terms, kind) });
    if (wanted !== null) {
      await session.load(range, wanted);
      if (kind.kind === "topic" && model.isEmpty()) await session.needTopics(kind.streamId);
      await nextTask();
    }
    const place = places.get(model.key);
    window.around(centreOf({ near: model.near, firstUnread: model.unread(), place, isFetched: wanted !== null }));
    if (!element.isConnected) return;
    model.firstUnread = model.hasLine ? model.unread() : null;
    anchor.setWatched(true);
    render();
    goToPlace();
    anchor.setWatched(isVisible.peek() && hasFocus.peek());
    model.isReady = true;
    afterScroll();
    // What was fetched early may have changed before the first event.
    void refresh();
  }

  async function toNewest() {
    if (!range.hasNewest) await session.attempt(session.load(range, "newest"));
    window.toNewest();
    selection.select(range.ids.at(-1) ?? 0);
    render();
    anchor.toEnd();
    afterScroll();
  }

  async function toOldest() {
    if (!range.hasOldest) await session.attempt(session.load(range, "oldest"));
    window.toOldest();
    render();
    scroller.scrollTop = 0;
    anchor.remember();
    selection.focus(list.firstElementChild);
  }

  let frame = 0;
  const onScroll = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(afterScroll);
  };
  scroller.addEventListener("scroll", onScroll, { passive: true });

  let isRefreshing = false;
  /** After the queue was lost: fetches what is shown again, around the reading position. */
  async function refresh() {
    if (isRefreshing || !range.isStale || !model.isReady || store.isFromStorage) return;
    isRefreshing = true;
    const atEnd = !timeline.isReading();
    const id = Number(selection.visibleRows()[0]?.dataset.id ?? 0);
    try {
      // A new state may put another view in its place, still in this frame.
      await Promise.resolve();
      if (!element.isConnected) return;
      const known = range.ids.at(-1);
      await session.load(range, atEnd || !id ? "newest" : id);
      if (await following.missed(known)) return;
      if (atEnd) window.toNewest();
      else window.around(id);
      render();
    } catch {
      // The queue tries again, and then the range is stale again.
      range.isStale = true;
    } finally {
      isRefreshing = false;
    }
  }

  /** Draws what changes. For the scope of the view. */
  function watch() {
    // A narrower window, and spoilers that are opened.
    const fitFormulas = () => scrollWideFormulas(list);
    list.addEventListener("toggle", fitFormulas, true);
    const fit = () => {
      fitFormulas();
      anchor.preserve(() => foldHigh(list, true));
    };
    addEventListener("resize", fit);
    onEnd(() => removeEventListener("resize", fit));
    // What arrives below a dialog is seen once that is closed. The event does not bubble.
    document.addEventListener("close", afterScroll, true);
    onEnd(() => document.removeEventListener("close", afterScroll, true));
    effect(() => {
      model.epoch = store.on("rows") + store.on("realm");
      range.version.value;
      session.outbox.version.value;
      today.value;
      store.on("settings");
      store.on("users");
      load.state.value;
      untracked(() => {
        if (range.isLoaded && model.isReady) render();
        else showTop(model.isEmpty());
        void refresh();
      });
    });
    // What could not be fetched is asked for again, and so is the module of polls.
    effect(() => {
      session.recoveries.value;
      untracked(() => {
        afterScroll();
        void refresh();
      });
      retryWidgets();
    });
    effect(() => {
      store.on("edits");
      untracked(() => {
        for (const form of list.querySelectorAll(".editor-form")) form.dispatchEvent(new Event("follow"));
        if (model.isReady) resumeEdits();
      });
    });
    effect(() => {
      const isWatched = isVisible.value && hasFocus.value;
      untracked(() => {
        anchor.setWatched(isWatched);
        if (isWatched && model.isReady) seen();
      });
    });
  }

  /** The window has the focus again: the line is above what arrived meanwhile. */
  function seen() {
    const unread = model.unread();
    if (unread !== null && model.hasLine) {
      model.firstUnread = unread;
      render();
    }
    readMarks.markSeen();
  }

  /** @type {Timeline} */
  const timeline = {
    ...{ element, terms, kind, range, list, toNewest, toOldest },
    ...{ conversation: model.conversation, selected: selection.selected, move: selection.move, page: selection.page },
    ...{ focusSelected: selection.focusSelected, block: readMarks.block, rowOf: items.get },
    message: () => store.messages.byId.get(selection.selected()),
    isReading: () => model.isReady && (readMarks.isBlocked() || !(anchor.isWatchedAtEnd() && window.hasNewest())),
    /** @param {number} id */
    reveal(id) {
      model.revealed.add(id);
      render();
    },
    start() {
      attachActions(app, timeline);
      load.watch();
      if (streamId !== null) readMarks.notice.before(subscriptionNotice(app, streamId));
      watch();
      if (streamId !== null) watchAccess(app, streamId, range, load.start);
      const { conversation } = model;
      if (conversation) effect(() => showTypists(typing, store, conversation));
      onEnd(() => {
        const row = selection.visibleRows()[0];
        if (anchor.isAtEnd() || !row) places.delete(model.key);
        else places.set(model.key, { id: Number(row.dataset.id), fraction: 0 });
        anchor.end();
      });
      void load.start();
    },
  };
  const resumeEdits = createEditResumption(app, timeline);
  return timeline;
}

/** Loads the messages once the user may see the channel, and again where events were missed.
 * @param {App} app @param {number} id @param {import("../store/messages.js").Range} range @param {() => Promise<void>} load */
function watchAccess({ store }, id, range, load) {
  let before = store.channels.get(id);
  effect(() => {
    store.on("channels");
    untracked(() => {
      const now = store.channels.get(id);
      if (!before && now) void load();
      else if (now?.subscribed && !before?.subscribed && range.isLoaded) range.markStale();
      before = now;
    });
  });
}
