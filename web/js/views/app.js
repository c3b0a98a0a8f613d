/**
 * The page: three columns, the route, and what views ask of each other.
 * @module
 */

import { fill, h } from "../lib/dom.js";
import { computed, effect, scope, untracked } from "../lib/signal.js";
import { bind, isDialogOpen, isField } from "../platform/keyboard.js";
import { fragment, go, isOverlay } from "../platform/router.js";
import { isTouch } from "../platform/viewport.js";
import { channelOfRoute, directSlug, fragmentOf, kindOf, parseNarrow, topicsFragment } from "../selectors/narrow.js";
import { narrowName } from "../selectors/title.js";
import { channelOf } from "../store/channels.js";
import { may } from "../store/lists.js";
import { unreadDirects, unreadTopics } from "../store/unread.js";
import { createAnnouncer } from "./announcer.js";
import { createBanner } from "./banner.js";
import { createComposer } from "./composer.js";
import { createHeader, mainMenu } from "./header.js";
import { createInbox, createRecent } from "./inbox.js";
import { showOverlay } from "./overlays.js";
import { createPeople } from "./people.js";
import { ask, closePopover, isPopoverOpen, toast } from "./popover.js";
import { showPalette } from "./search.js";
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

  const hash = computed(() => {
    if (!isOverlay(fragment.value)) shown = fragment.value;
    return shown;
  });
  const route = computed(() => {
    store.generation.value;
    return routeOf(hash.value);
  });

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
    /** @param {Term[]} terms */
    goNarrow: (terms) => go(app.fragmentOf(terms)),
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

  const middle = h("div", { class: "middle__view" });
  const composer = createComposer(app);
  app.composer = composer;
  const header = createHeader(app);
  const sidebar = createSidebar(app);
  const people = createPeople(app);
  const announcer = createAnnouncer(app);
  const main = h("main", { class: "middle", id: "main", tabindex: "-1" }, header.element, createBanner(app), middle, composer.element);
  const scrim = h("div", { class: "scrim", onclick: () => app.showColumn(null) });
  const element = h(
    "div",
    { class: "app" },
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
      const view = /** @type {{ element: HTMLElement, start: () => void }} */ (
        current.kind === "inbox"
          ? createInbox(app)
          : current.kind === "recent"
            ? createRecent(app)
            : current.kind === "topics"
              ? createTopics(app, current.streamId)
              : createTimeline(app, current.terms)
      );
      if (current.kind === "narrow") timeline = /** @type {any} */ (view);
      fill(middle, view.element);
      middle.dataset.view = current.kind;
      startView(view);
      composer.setShown(destinationOf(current));
      const hasFocus = composer.hasFocus() || isDialogOpen();
      if (current.kind === "narrow" && !hasFocus && isTouch())
        /** @type {HTMLElement | null} */ (document.querySelector(".header h1"))?.focus();
    });
  });

  /** @param {{ start: () => void }} view */
  function startView(view) {
    endView();
    endView = scope(() => view.start());
  }

  /** @param {Route} current @returns {Destination | null} */
  function destinationOf(current) {
    if (current.kind !== "narrow") return null;
    const { narrow } = current;
    if (narrow.kind === "topic") return { type: "stream", to: [narrow.streamId], topic: narrow.topic };
    if (narrow.kind === "dm") return { type: "direct", to: narrow.userIds, topic: "" };
    return null;
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
        overlay = null;
        // Those above the overlay belong to it.
        for (const dialog of document.querySelectorAll("dialog")) dialog.close();
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

  // What went wrong or was done.
  effect(() => {
    const notice = session.notice.value;
    if (notice) toast(notice.text, notice.isError);
  });

  // Messages moved: a permalink follows them.
  effect(() => {
    const current = route.value;
    if (current.kind !== "narrow") return;
    const with_ = current.terms.find(({ operator }) => operator === "with");
    const message = with_ && store.messages.byId.get(Number(with_.operand));
    if (!message || message.type !== "stream" || current.narrow.kind !== "topic") return;
    if (message.stream_id !== current.narrow.streamId || message.subject !== current.narrow.topic) {
      go(
        fragmentOf(store, [
          { operator: "channel", operand: Number(message.stream_id) },
          { operator: "topic", operand: message.subject },
          with_,
        ]),
        { replace: true },
      );
    }
  });

  bindPageKeys();

  function bindPageKeys() {
    /** @param {string[]} keys @param {string} label @param {string} group @param {(event: KeyboardEvent) => boolean | void} run @param {{ inFields?: boolean, inDialogs?: boolean }} [more] */
    const on = (keys, label, group, run, more = {}) => bind({ keys, label, group, run, ...more });
    const GO = "Going places";
    on(["/"], "Search", GO, () => header.search.focus());
    on(["Ctrl+k"], "Go to any conversation", GO, () => showPalette(app), { inFields: true });
    on(["I"], "Inbox", GO, () => go("inbox"));
    on(["t"], "Recent conversations", GO, () => go("recent"));
    on(["a"], "Combined feed", GO, () => go("feed"));
    on(["*"], "Starred messages", GO, () => go("narrow/is/starred"));
    on(["d"], "Drafts", GO, () => go("drafts"));
    on(["P"], "All direct messages", GO, () => go("narrow/is/dm"));
    on(["n"], "Next unread topic", GO, () => nextUnread(() => true));
    on(["N"], "Next unread topic that you follow", GO, () => nextUnread((topic) => topic.isFollowed));
    on(["p"], "Next unread direct messages", GO, () => {
      const directs = unreadDirects(store).sort((one, other) => one.newest - other.newest);
      if (directs.length === 0) return session.tell("There are no unread direct messages.");
      app.goNarrow([{ operator: "dm", operand: directs[0].userIds }]);
    });
    on(["A"], "Previous channel", GO, () => stepChannel(-1));
    on(["D"], "Next channel", GO, () => stepChannel(1));
    on(["g"], "Main menu", GO, () => mainMenu(app, header.element));
    on(["?"], "This list", GO, () => go("keyboard-shortcuts"));
    on(["c"], "New message in a channel", "Writing", () => {
      const current = route.peek();
      const streamId = channelOfRoute(current);
      if (composer.destination && current.kind === "narrow" && current.narrow.kind === "topic") return composer.editor.focus();
      composer.open({ type: "stream", to: streamId === null ? [] : [streamId], topic: "" });
    });
    on(["x"], "New direct message", "Writing", () => composer.open({ type: "direct", to: [], topic: "" }));
    on(
      ["Ctrl+."],
      "Go to the conversation that is written to",
      "Writing",
      () => {
        if (composer.destination) app.goConversation(composer.destination);
      },
      { inFields: true },
    );
    on(["Escape", "Ctrl+["], "Close, leave, go home", GO, (event) => leaveOne(event), { inFields: true });
    for (const key of ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"]) {
      bind({
        keys: [key],
        label: "",
        group: "",
        inFields: true,
        run: () => {
          if (!composer.hasFocus() || !composer.isEmpty() || document.activeElement !== composer.editor.textarea) return false;
          app.focusMain();
        },
      });
    }
    bind({
      keys: ["ArrowLeft"],
      label: "",
      group: "",
      inFields: true,
      run: () => {
        if (document.activeElement !== composer.editor.textarea || !composer.isEmpty()) return false;
        composer.editor.textarea.blur();
        document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
      },
    });
  }

  /** @param {KeyboardEvent} event @returns {boolean | void} */
  function leaveOne(event) {
    if (isPopoverOpen()) return closePopover();
    if (document.body.dataset.column) return app.showColumn(null);
    if (composer.hasFocus()) {
      if (composer.destination && !destinationOf(route.peek())) composer.close();
      else {
        composer.save(true);
        app.focusMain();
      }
      return;
    }
    if (isField(event.target)) return /** @type {HTMLElement} */ (event.target).blur();
    if (event.key === "Escape" && store.setting("web_escape_navigates_to_home_view") === false) return;
    app.goHome();
  }

  /** @param {(topic: import("../store/unread.js").UnreadTopic) => boolean} fits */
  function nextUnread(fits) {
    const current = timeline?.conversation;
    const topics = unreadTopics(store)
      .filter((topic) => !topic.isMuted && topic.key !== current && fits(topic))
      .sort((one, other) => one.streamId - other.streamId || one.newest - other.newest);
    const streamId = channelOfRoute(route.peek());
    const next = topics.find((topic) => topic.streamId === streamId) ?? topics[0];
    if (!next) return session.tell("There are no more unread topics.");
    app.goNarrow([
      { operator: "channel", operand: next.streamId },
      { operator: "topic", operand: next.topic },
    ]);
  }

  /** @param {number} step */
  function stepChannel(step) {
    const rows = [...sidebar.querySelectorAll("li[data-channel]")].map((row) => Number(/** @type {HTMLElement} */ (row).dataset.channel));
    const next = rows[(rows.indexOf(channelOfRoute(route.peek()) ?? -1) + step + rows.length) % rows.length];
    if (next !== undefined) app.goNarrow([{ operator: "channel", operand: next }]);
  }

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
