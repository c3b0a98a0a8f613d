/**
 * The page: three columns, the route, and what views ask of each other.
 * @module
 */

import { closest, fill, h } from "../lib/dom.js";
import { computed, effect, scope, signal, untracked, whenEffectFails } from "../lib/signal.js";
import { isDialogOpen } from "../platform/keyboard.js";
import { fragment, go, isOverlay } from "../platform/router.js";
import { isTouch } from "../platform/viewport.js";
import { channelOfRoute, conversationOfRoute, directSlug, fragmentOf, kindOf, parseNarrow, topicsFragment } from "../selectors/narrow.js";
import { narrowName } from "../selectors/title.js";
import { channelOf } from "../store/channels.js";
import { draftKey } from "../store/drafts.js";
import { may } from "../store/lists.js";
import { unreadTopics } from "../store/unread.js";
import { createAnnouncer } from "./announcer.js";
import { createBanner } from "./banner.js";
import { failure, guarded } from "./boundary.js";
import { createComposer } from "./composer.js";
import { createHeader } from "./header.js";
import { createInbox, createRecent } from "./inbox.js";
import { showOverlay } from "./overlays.js";
import { bindPageKeys } from "./page_keys.js";
import { createPeople } from "./people.js";
import { ask, closePopover, toast } from "./popover.js";
import { createSidebar } from "./sidebar.js";
import { createTimeline } from "./timeline.js";
import { createTopics } from "./topics.js";

/** @typedef {import("../store/session.js").Session} Session */
/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {import("../store/outbox.js").Destination} Destination */
/** @typedef {import("../../types/app.js").Route} Route */
/** @typedef {import("../../types/app.js").App} App */

/** @type {Term[]} */
const FEED = [{ operator: "in", operand: "home" }];

/** @param {Session} session */
export function createApp(session) {
  const { store } = session;

  /** What is below an overlay. */
  let shown = "";

  /** @param {string} hash @returns {Route} */
  function routeOf(hash) {
    const feed = /** @type {Route} */ ({ kind: "narrow", terms: FEED, narrow: kindOf(FEED) });
    if (hash === "inbox") return { kind: "inbox" };
    if (hash === "recent" || hash === "recent_topics") return { kind: "recent" };
    if (hash === "feed" || hash === "all_messages") return feed;
    const listed = Number(/^topics\/channel\/(\d+)/.exec(hash)?.[1]);
    if (listed && store.channels.has(listed)) return { kind: "topics", streamId: listed };
    if (hash.startsWith("narrow/")) {
      const terms = untracked(() => parseNarrow(store, hash.slice("narrow/".length)));
      if (terms) return { kind: "narrow", terms, narrow: kindOf(terms) };
    }
    const home = store.setting("web_home_view");
    return home === "recent_topics" ? { kind: "recent" } : home === "all_messages" ? feed : { kind: "inbox" };
  }

  /** Where what is below an overlay has moved to. @type {import("../lib/signal.js").Signal<{ from: string, to: string } | null>} */
  const movedBelow = signal(null);

  const hash = computed(() => {
    const [current, moved] = [fragment.value, movedBelow.value];
    if (!isOverlay(current)) shown = current;
    if (shown === moved?.from) shown = moved.to;
    return shown;
  });
  const route = computed(() => {
    store.generation.value;
    return routeOf(hash.value);
  });

  /** Whether the channel of a view is one that the user may see. @param {Route} current */
  function isKnown(current) {
    const id = channelOfRoute(current);
    return id === null || store.channels.has(id);
  }

  /** @type {import("../../types/app.js").Timeline | null} */
  let timeline = null;

  /** @type {App} */
  const app = {
    session,
    store,
    route,
    composer: /** @type {any} */ (null),
    get timeline() {
      return timeline;
    },
    currentFragment: () => hash.peek(),
    /** @param {Term[]} terms */
    fragmentOf: (terms) =>
      terms.length === 1 && terms[0].operator === "in" && terms[0].operand === "home" ? "feed" : fragmentOf(store, terms),
    /** Where a click on a channel leads, by the user's setting. @param {number} streamId */
    channelFragment(streamId) {
      const channel = { operator: "channel", operand: streamId };
      const view = store.setting("web_channel_default_view");
      if (view === 3) return topicsFragment(store, streamId);
      const topics = store.topics.get(streamId);
      if ((view === 1 || view === 4) && topics?.length) {
        const unread = view === 4 ? unreadTopics(store).find((topic) => topic.streamId === streamId)?.topic : undefined;
        return fragmentOf(store, [channel, { operator: "topic", operand: unread ?? topics[0].name }]);
      }
      return fragmentOf(store, [channel]);
    },
    async goChannel(streamId) {
      const from = fragment.peek();
      await session.needTopics(streamId);
      if (fragment.peek() === from) go(app.channelFragment(streamId));
    },
    /** @param {Term[]} terms */
    goNarrow: (terms) => go(app.fragmentOf(terms)),
    follow(terms) {
      const to = app.fragmentOf(terms);
      if (isOverlay(fragment.peek())) movedBelow.value = { from: movedBelow.peek()?.from ?? hash.peek(), to };
      else go(to, { replace: true });
    },
    goFragment: go,
    goHome: () => go(""),
    /** @param {Destination} destination */
    goConversation({ type, to, topic }) {
      if (to.length === 0) return;
      go(
        type === "direct"
          ? `narrow/dm/${directSlug(store, to)}`
          : fragmentOf(store, [
              { operator: "channel", operand: to[0] },
              { operator: "topic", operand: topic },
            ]),
      );
    },
    toNewest: () => void timeline?.toNewest(),
    focusMain() {
      if (timeline) return timeline.focusSelected();
      const first = middle.querySelector("a, button");
      if (first instanceof HTMLElement) first.focus();
    },
    /** @param {string} text @param {string} words */
    async copy(text, words) {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        // Without secure context there is no clipboard but the old one.
        const area = h("textarea", { value: text, class: "visually-hidden" });
        (document.querySelector("dialog[open]") ?? document.body).append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
      }
      session.tell(words);
    },
    ask,
    /** Sends a message to the conversation of another. @param {Message} message @param {string} content */
    sendTo: (message, content) => session.outbox.add(app.composer.destinationOf(message), content, Math.floor(Date.now() / 1000)),
    /** Senders of the shown conversation, the latest first. @returns {number[]} */
    recentSenders() {
      const ids = timeline?.range.ids.slice(-60).toReversed() ?? [];
      return [...new Set(ids.map((id) => store.messages.byId.get(id)?.sender_id ?? 0))].filter((id) => id !== store.selfId);
    },
    mayInvite: () => may(store, "create_multiuse_invite_group"),
    /** Shows a side column where there is no room for it. @param {"left" | "right" | null} side */
    showColumn(side) {
      const next = side && document.body.dataset.column !== side ? side : null;
      if (next) document.body.dataset.column = next;
      else delete document.body.dataset.column;
      header.left.setAttribute("aria-expanded", String(next === "left"));
      header.right.setAttribute("aria-expanded", String(next === "right"));
      if (next) /** @type {HTMLElement | null} */ (document.querySelector(next === "left" ? ".sidebar a" : ".people input"))?.focus();
    },
  };

  /** A channel opens the same way, also where its topics are not known yet. @param {MouseEvent} event */
  function onclick(event) {
    const channel = closest(event, "a[data-opens-channel]")?.dataset.opensChannel;
    if (!channel || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void app.goChannel(Number(channel));
  }

  /** @param {DragEvent} event */
  function ondragover(event) {
    if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
  }

  /** A file that is dropped beside the box is for the conversation as well, and is not opened in place of the page. @param {DragEvent} event */
  function ondrop(event) {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0 || event.defaultPrevented) return;
    event.preventDefault();
    if (composer.destination) composer.editor.upload(files);
    else session.tell("Please open a conversation first.", true);
  }

  const middle = h("div", { class: "middle__view" });
  const composer = createComposer(app);
  app.composer = composer;
  const header = createHeader(app);
  const sidebar = guarded("The list of conversations", () => createSidebar(app), "nav");
  sidebar.classList.add("sidebar");
  const people = guarded("The list of people", () => createPeople(app), "aside");
  people.classList.add("people");
  const announcer = createAnnouncer(app);
  const main = h("main", { class: "middle", id: "main", tabindex: "-1" }, header.element, createBanner(app), middle, composer.element);
  const scrim = h("div", { class: "scrim", onclick: () => app.showColumn(null) });
  const element = h(
    "div",
    { class: "app", onclick, ondragover, ondrop },
    h(
      "a",
      {
        class: "skip",
        href: "#main",
        onclick: (/** @type {Event} */ event) => {
          event.preventDefault();
          app.focusMain();
        },
      },
      "Skip to the messages",
    ),
    sidebar,
    main,
    people,
    scrim,
    announcer.element,
  );

  /** @type {() => void} */
  let endView = () => {};
  effect(() => {
    const current = route.value;
    untracked(() => {
      delete document.body.dataset.column;
      closePopover();
      timeline = null;
      endView();
      endView = () => {};
      middle.dataset.view = current.kind;
      try {
        const view = createView(current);
        if (current.kind === "narrow") timeline = /** @type {any} */ (view);
        fill(middle, view.element);
        endView = scope(() => view.start());
      } catch (error) {
        console.error("the view cannot be shown", error);
        timeline = null;
        fill(middle, failure("This view"));
      }
      composer.setShown(isKnown(current) ? conversationOfRoute(current) : null);
      const hasFocus = composer.hasFocus() || isDialogOpen();
      if (current.kind === "narrow" && !hasFocus && isTouch())
        /** @type {HTMLElement | null} */ (document.querySelector(".header h1"))?.focus();
    });
  });

  // A channel comes or goes while its view is open.
  let wasKnown = isKnown(route.peek());
  effect(() => {
    store.on("channels");
    const isNow = isKnown(route.value);
    if (isNow !== wasKnown) untracked(() => composer.setShown(isNow ? conversationOfRoute(route.peek()) : null));
    wasKnown = isNow;
  });

  /** @param {Route} current @returns {{ element: HTMLElement, start: () => void }} */
  function createView(current) {
    if (current.kind === "inbox") return createInbox(app);
    if (current.kind === "recent") return createRecent(app);
    if (current.kind === "topics") return createTopics(app, current.streamId);
    return createTimeline(app, current.terms);
  }

  // Overlays follow the fragment.
  /** @type {HTMLDialogElement | null} */
  let overlay = null;
  let overlayFor = "";
  effect(() => {
    const current = fragment.value;
    const section = current.split("/")[0];
    untracked(() => {
      if (!isOverlay(current)) {
        overlayFor = "";
        const moved = movedBelow.peek();
        if (moved?.from === current) go(moved.to, { replace: true });
        movedBelow.value = null;
        // Dialogs above the overlay belong to it.
        if (overlay) for (const dialog of document.querySelectorAll("dialog")) dialog.close();
        overlay = null;
        return;
      }
      if (
        overlay &&
        overlayFor === section &&
        overlay.dispatchEvent(new CustomEvent("route", { detail: current, cancelable: true })) === false
      )
        return;
      overlayFor = section;
      overlay?.close();
      overlay = null;
      showOverlay(app, current, () => fragment.peek() === current).then(
        (dialog) => {
          overlay = dialog ?? overlay;
        },
        () => session.tell("This could not be loaded. Please load the page again.", true),
      );
    });
  });

  whenEffectFails(() => session.tell("Something on this page could not be brought up to date. Please load the page again.", true));
  // What went wrong or was done.
  effect(() => {
    const notice = session.notice.value;
    if (notice) toast(notice.text, notice.isError, notice.action);
  });

  // The conversation on the screen moved.
  session.onMove((from, to) => {
    const current = route.peek();
    const open = conversationOfRoute(current);
    if (current.kind !== "narrow" || !open || draftKey(open) !== draftKey(from)) return;
    const place = current.terms.filter(({ operator }) => operator === "near" || operator === "with");
    app.follow([{ operator: "channel", operand: to.to[0] }, { operator: "topic", operand: to.topic }, ...place]);
  });

  bindPageKeys(app, { header, sidebar });

  /** @param {Route} current */
  const viewName = (current) =>
    current.kind === "inbox"
      ? "Inbox"
      : current.kind === "recent"
        ? "Recent conversations"
        : current.kind === "topics"
          ? `Topics of #${channelOf(store, current.streamId).name}`
          : narrowName(store, current.terms);
  return Object.assign(app, { element, viewName });
}
