/**
 * The page: three columns, the route, and the actions that views share.
 * @module
 */

import { closest, fill, h } from "../lib/dom.js";
import { computed, detachedScope, distinct, effect, onEnd, untracked, whenEffectFails } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { isDialogOpen } from "../platform/keyboard.js";
import { fragment, go } from "../platform/router.js";
import { isTouch } from "../platform/viewport.js";
import { conversationOfRoute, directSlug, fragmentOf, isPlace, topicTerms } from "../selectors/narrow.js";
import { channelFragment, isKnownRoute, narrowFragment, routeOf, viewName } from "../selectors/routes.js";
import { isSameDestination } from "../store/drafts.js";
import { may } from "../store/lists.js";
import { createAnnouncer } from "./announcer.js";
import { createBanner } from "./banner.js";
import { failure, guarded } from "./boundary.js";
import { createComposer } from "./composer.js";
import { fileDrop } from "./file_drop.js";
import { createHeader } from "./header.js";
import { createLoad } from "./load_state.js";
import { ask } from "./on_demand.js";
import { closePopover } from "./open_popover.js";
import { createBelow, followOverlays } from "./overlay_host.js";
import { bindPageKeys } from "./page_keys.js";
import { createPeople } from "./people.js";
import { createSidebar } from "./sidebar.js";
import { createTimeline } from "./timeline.js";
import { toast } from "./toasts.js";
import { createVisitorBar } from "./visitor.js";

/** @typedef {import("../store/session.js").Session} Session */
/** @typedef {import("../../types/app.js").Route} Route */
/** @typedef {import("../../types/app.js").App} App */

/** How long opening a channel waits for its topics, in milliseconds. */
const TOPICS_TIMEOUT = 3000;

/** @type {typeof import("./overviews.js").createOverview | null} */
let createOverview = null;

/** Loads the views that are lists of conversations. */
export async function loadOverviews() {
  const loaded = await import("./overviews.js");
  createOverview = loaded.createOverview;
}

/** @param {Session} session */
export function createApp(session) {
  const { store } = session;
  const below = createBelow();
  /** @type {{ at: string, generation: number, route: Route } | null} */
  let known = null;
  const route = computed(() => {
    const [at, generation] = [below.fragment.value, store.generation.value];
    // An overlay leaves the view as it is.
    if (known?.at !== at || known.generation !== generation) known = { at, generation, route: routeOf(store, at) };
    return known.route;
  });
  const middle = h("div", { class: "middle__view" });
  const app = createActions(session, { route, below, middle });
  app.composer = store.isVisitor ? createVisitorBar() : createComposer(app);
  const header = createHeader(app);
  app.showColumn = (side) => showColumn(header, side);
  const sidebar = guarded(t("The list of conversations"), () => createSidebar(app), "nav");
  sidebar.classList.add("sidebar");
  const people = store.isVisitor ? null : guarded(t("The list of people"), () => createPeople(app), "aside");
  people?.classList.add("people");
  const element = h(
    "div",
    { class: "app", onclick: (/** @type {MouseEvent} */ event) => followLink(app, event), ...fileDrop(app) },
    skipLink(app),
    sidebar,
    h(
      "main",
      { class: "middle", id: "main", tabindex: "-1", "aria-label": t("Messages") },
      header.element,
      createBanner(app),
      middle,
      app.composer.element,
    ),
    people,
    h("div", { class: "scrim", onclick: () => app.showColumn(null) }),
    createAnnouncer(app).element,
  );
  followRoute(app, middle);
  followOverlays(app, below);
  followMoves(app);
  tellRefusals(app);
  whenEffectFails(() => session.tellError(t("Part of this page could not be updated. Please reload the page.")));
  effect(() => {
    for (const { text, isError, action } of session.takeNotices()) toast(text, isError, action);
  });
  bindPageKeys(app, { header, sidebar });
  return Object.assign(app, { element, viewName: (/** @type {Route} */ current) => viewName(store, current) });
}

/** The actions that views share. The page adds `composer` and `showColumn`.
 * @param {Session} session
 * @param {{ route: import("../lib/signal.js").ReadSignal<Route>, below: ReturnType<typeof createBelow>, middle: HTMLElement }} page @returns {App} */
function createActions(session, { route, below, middle }) {
  const { store } = session;
  /** The channel that was chosen last and is about to open, and the fragment where it was chosen. */
  let chosen = "";
  /** @type {App} */
  const app = {
    session,
    store,
    route,
    composer: /** @type {any} */ (null),
    timeline: null,
    currentFragment: () => below.fragment.peek(),
    fragmentOf: (terms) => narrowFragment(store, terms),
    channelFragment: (streamId) => channelFragment(store, streamId),
    async goChannel(streamId) {
      const from = fragment.peek();
      const own = `${streamId} ${from}`;
      // Another click on it does not begin the wait again.
      if (own === chosen) return;
      chosen = own;
      await Promise.race([session.needTopics(streamId), new Promise((resolve) => setTimeout(resolve, TOPICS_TIMEOUT))]);
      if (own !== chosen) return;
      chosen = "";
      if (fragment.peek() === from) go(app.channelFragment(streamId));
    },
    goNarrow: (terms) => go(app.fragmentOf(terms)),
    follow: (terms) => below.follow(app.fragmentOf(terms)),
    goFragment: go,
    goHome: () => go(""),
    goConversation({ type, to, topic }) {
      if (to.length === 0) return;
      go(type === "direct" ? `narrow/dm/${directSlug(store, to)}` : fragmentOf(store, topicTerms(to[0], topic)));
    },
    toNewest: () => void app.timeline?.toNewest(),
    focusMain() {
      if (app.timeline) return app.timeline.focusSelected();
      const first = middle.querySelector("a, button");
      if (first instanceof HTMLElement) first.focus();
    },
    async copy(text, words) {
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        copyBySelection(text);
      }
      session.tell(words);
    },
    ask,
    sendTo: (message, content) => session.outbox.add(app.composer.destinationOf(message), content, Math.floor(Date.now() / 1000)),
    recentSenders() {
      const ids = app.timeline?.range.ids.slice(-60).toReversed() ?? [];
      return [...new Set(ids.map((id) => store.messages.byId.get(id)?.sender_id ?? 0))].filter((id) => id !== store.selfId);
    },
    mayInvite: () => may(store, "create_multiuse_invite_group") || may(store, "can_invite_users_group"),
    showColumn: () => {},
  };
  return app;
}

/** Copies text where the page has no secure context, and so no other clipboard. @param {string} text */
function copyBySelection(text) {
  const area = h("textarea", { value: text, class: "visually-hidden" });
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** Shows a side column where there is no room for it. @param {{ left: HTMLElement, right: HTMLElement }} header @param {"left" | "right" | null} side */
function showColumn(header, side) {
  const before = document.body.dataset.column;
  const next = side && before !== side ? side : null;
  const hadFocus = before !== undefined && document.activeElement?.closest(".sidebar, .people");
  if (next) document.body.dataset.column = next;
  else delete document.body.dataset.column;
  header.left.setAttribute("aria-expanded", String(next === "left"));
  header.right.setAttribute("aria-expanded", String(next === "right"));
  if (next) /** @type {HTMLElement | null} */ (document.querySelector(next === "left" ? ".sidebar a" : ".people input"))?.focus();
  else if (hadFocus) header[before === "left" ? "left" : "right"].focus();
}

/** A side column closes for what its links lead to, which may be shown already. A channel opens the same way, also where its topics are
 * not known yet. @param {App} app @param {MouseEvent} event */
function followLink(app, event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (closest(event, ".sidebar a, .people a")) app.showColumn(null);
  const channel = closest(event, "a[data-opens-channel]")?.dataset.opensChannel;
  if (!channel) return;
  event.preventDefault();
  void app.goChannel(Number(channel));
}

/** @param {App} app */
function skipLink(app) {
  const onclick = (/** @type {Event} */ event) => {
    event.preventDefault();
    app.focusMain();
  };
  return h("a", { class: "skip", href: "#main", onclick }, t("Skip to the messages"));
}

/** @param {App} app @param {Route} route @param {() => void} showAgain Called once the view can be created, if it cannot yet.
 * @returns {{ element: HTMLElement, start: () => void }} */
function createView(app, route, showAgain) {
  if (route.kind !== "narrow") return createOverview ? createOverview(app, route) : pendingView(app, showAgain);
  app.timeline = createTimeline(app, route.terms);
  return app.timeline;
}

/** The placeholder of a list of conversations whose module is not loaded yet. @param {App} app @param {() => void} showAgain */
function pendingView({ session }, showAgain) {
  const element = h("section", { class: "page" });
  const load = createLoad(session, loadOverviews);
  return {
    element,
    start() {
      let hasEnded = false;
      onEnd(() => {
        hasEnded = true;
      });
      load.watch();
      void load.start();
      effect(() => {
        if (load.state.value.kind === "ready") queueMicrotask(() => hasEnded || showAgain());
        else fill(element, load.hint());
      });
    },
  };
}

/** Shows the view of the route, and its draft in the composer. @param {App} app @param {HTMLElement} middle */
function followRoute(app, middle) {
  const { store, route, composer } = app;
  /** @type {() => void} */
  let endView = () => {};
  onEnd(() => endView());
  let hasFailed = false;

  /** @param {Route} current */
  function show(current) {
    app.showColumn(null);
    closePopover();
    app.timeline = null;
    endView();
    endView = () => {};
    hasFailed = false;
    middle.dataset.view = current.kind;
    const hadFocus = middle.contains(document.activeElement);
    try {
      endView = detachedScope(() => {
        const view = createView(app, current, () => show(current));
        fill(middle, view.element);
        view.start();
      });
    } catch (error) {
      console.error("the view cannot be shown", error);
      app.timeline = null;
      hasFailed = true;
      fill(middle, failure(t("This view")));
    }
    setShown(current);
    const hasFocus = composer.hasFocus() || isDialogOpen();
    if (current.kind === "narrow" && !hasFocus && isTouch())
      /** @type {HTMLElement | null} */ (document.querySelector(".header h1"))?.focus();
    // The element with the focus was removed.
    if (hadFocus && document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
  }

  /** @param {Route} current */
  const setShown = (current) => composer.setShown(isKnownRoute(store, current) ? conversationOfRoute(current) : null);

  /** @type {Route | null} */
  let shown = null;

  /** Whether the view stays although the queue was lost: a timeline fetches what is around the reading position, and lists keep the text
   * of their filters. @param {Route} current */
  const staysOpen = (current) =>
    (current.kind === "narrow" ? app.timeline?.isReading() === true : !hasFailed) &&
    isKnownRoute(store, current) &&
    JSON.stringify(current) === JSON.stringify(shown);

  const latest = distinct(() => route.value);
  effect(() => {
    const current = latest.value;
    untracked(() => {
      if (!staysOpen(current)) show(current);
      shown = current;
    });
  });
  // A channel comes or goes while its view is open.
  let wasKnown = isKnownRoute(store, route.peek());
  effect(() => {
    store.on("channels");
    const isNow = isKnownRoute(store, route.value);
    if (isNow !== wasKnown) untracked(() => setShown(route.peek()));
    wasKnown = isNow;
  });
}

/** Follows the conversation on the screen when it moves. @param {App} app */
function followMoves(app) {
  app.session.onMove((from, to) => {
    const current = app.route.peek();
    if (current.kind !== "narrow" || !isSameDestination(conversationOfRoute(current), from)) return;
    const place = current.terms.filter(isPlace);
    app.follow([...topicTerms(to.to[0], to.topic), ...place]);
  });
}

/** Says that a message was refused, which may be in a conversation that is not on the screen. @param {App} app */
function tellRefusals(app) {
  const { session, route } = app;
  session.onRefused(({ destination, error }) => {
    const isOpen = isSameDestination(conversationOfRoute(route.peek()), destination);
    const show = { label: t("Show the message"), run: () => app.goConversation(destination) };
    session.tellError(t("Your message was not sent: {reason}", { reason: error ?? "" }), isOpen ? undefined : show);
  });
}
