/**
 * The left column: views, direct messages, channels with their topics.
 * @module
 */

import { closest, fill, h, iconButton } from "../lib/dom.js";
import { createMemo } from "../lib/memo.js";
import { computed, distinct, effect, signal } from "../lib/signal.js";
import { keptSet } from "../lib/storage.js";
import { t } from "../lib/words.js";
import { bind } from "../platform/keyboard.js";
import { channelOfRoute } from "../selectors/narrow.js";
import { channelSections } from "../selectors/sidebar_items.js";
import { directRows, sectionRows, topicRows, viewRows } from "../selectors/sidebar_rows.js";
import { directsSign } from "../store/unread.js";
import { showAddMenu, showChannelMenu, showTopicMenu } from "./on_demand.js";
import { columnFilter, ownPath } from "./parts.js";
import { channelSectionList, directList, sectionHead, topicList, viewList } from "./sidebar_lists.js";
import { loginLink } from "./visitor.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {ReturnType<typeof createState>} State */

/** The state of the column that the user controls. */
function createState() {
  /** Folded sections, kept in the browser. */
  const { words: folded, toggle } = keptSet("folded");
  /** Lists that are shown in full, by key. */
  const whole = signal(/** @type {Set<string>} */ (new Set()));
  /** Channels have this in their name. */
  const filter = signal("");
  return {
    folded,
    whole,
    filter,
    toggle,
    /** @param {string} key */
    showWhole(key) {
      whole.value = new Set([...whole.peek(), key]);
    },
  };
}

/** @param {App} app */
export function createSidebar(app) {
  const state = createState();
  const input = columnFilter(t("Filter channels"), state.filter, () => channels.querySelector("a"));
  const channels = channelColumn(app, state);
  const element = h(
    "nav",
    { class: "sidebar", "aria-label": t("Conversations") },
    organizationLink(app),
    viewColumn(app),
    app.store.isVisitor ? null : directColumn(app, state),
    h(
      "div",
      { class: "sidebar__head" },
      h("h2", null, t("Channels")),
      !app.store.isVisitor &&
        iconButton("plus", t("Add channels"), {
          onclick: (/** @type {Event} */ event) => showAddMenu(app, /** @type {Element} */ (event.currentTarget)),
        }),
    ),
    input,
    channels,
    app.store.isVisitor && h("p", { class: "sidebar__login" }, loginLink(t("Log in to see more"), "button--small")),
  );
  element.addEventListener("click", (event) => onClick(app, state, event));
  bind({
    keys: ["q"],
    label: t("Filter channels"),
    group: t("Navigation"),
    run: () => {
      app.showColumn("left");
      input.focus();
    },
  });
  return element;
}

/** @param {App} app */
function organizationLink({ store }) {
  const element = h("a", { class: "sidebar__organization", href: "#" });
  effect(() => {
    store.on("realm");
    const source = ownPath(store.state.realm_icon_url ?? "/static/images/organization.png");
    fill(
      element,
      h("img", { src: source, alt: "", width: 24, height: 24 }),
      h("span", { class: "side-item__name", dir: "auto" }, store.state.realm_name),
    );
  });
  return element;
}

/** @param {App} app */
function viewColumn(app) {
  const { store, session } = app;
  const element = h("ul", { class: "side-list" });
  const list = viewList(element);
  effect(() => {
    const route = app.route.value;
    store.on("settings", "drafts", "scheduled", "starred");
    list.set(viewRows(store, { fragment: app.currentFragment(), route, drafts: session.drafts.all().length }));
  });
  return element;
}

/** @param {App} app @param {State} state */
function directColumn(app, { folded, whole }) {
  const { store } = app;
  const onclick = () => app.composer.open({ type: "direct", to: [], topic: "" });
  const section = { key: "dm", title: t("Direct messages"), isFolded: folded.peek().has("dm") };
  const head = sectionHead(section, iconButton("plus", t("New direct message"), { onclick }));
  const element = h("ul", { class: "side-list" });
  const list = directList(app, element);
  const unread = distinct(() => directsSign(store));
  effect(() => {
    const route = app.route.value;
    store.on("recents", "users", "presence");
    unread.value;
    const isFolded = folded.value.has("dm");
    head.querySelector("button[data-fold]")?.setAttribute("aria-expanded", String(!isFolded));
    list.set(isFolded ? [] : directRows(store, route, whole.value.has("dm")));
  });
  return [head, element];
}

/** @param {App} app @param {State} state */
function channelColumn(app, { filter, folded, whole }) {
  const { store, session } = app;
  const host = h("div");
  const none = h("p", { class: "sidebar__empty", hidden: true });
  const element = h("div", null, host, none);
  const list = channelSectionList(app, host);
  /** The topics of the channel that is open, below its row. */
  const topics = h("ul", { class: "side-list side-list--topics" });
  const topicRowList = topicList(app, topics);
  /** @type {Set<string>} */
  const nothing = new Set();
  /** @type {import("../lib/memo.js").Memo<import("../selectors/sidebar_rows.js").ChannelRow>} */
  const memo = createMemo();

  const sections = computed(() => {
    store.on("channels", "settings");
    return channelSections(store, filter.value);
  });
  effect(() => {
    const route = app.route.value;
    store.on("topics");
    const shown = { route, folded: filter.value === "" ? folded.value : nothing, hrefOf: app.channelFragment };
    list.set(sectionRows(store, sections.value, shown, memo));
    none.hidden = sections.value.length > 0;
    none.textContent = filter.value === "" ? t("You are not in any channel yet.") : t("No matching channels.");
    const open = host.querySelector(`[data-channel="${channelOfRoute(route) ?? ""}"]`);
    if (!open) topics.remove();
    else if (topics.parentElement !== open) open.append(topics);
  });
  effect(() => {
    const route = app.route.value;
    store.on("channels", "topics", "userTopics", "unread");
    const streamId = channelOfRoute(route);
    if (streamId !== null && store.channels.has(streamId)) session.needTopics(streamId);
    topicRowList.set(topicRows(store, route, whole.value.has(`topics/${streamId}`)));
  });
  return element;
}

/** @param {App} app @param {State} state @param {Event} event */
function onClick(app, state, event) {
  const fold = closest(event, "[data-fold]")?.dataset.fold;
  if (fold) state.toggle(fold);
  const all = closest(event, "[data-whole]")?.dataset.whole;
  if (all) state.showWhole(all);
  const stream = closest(event, "[data-new-topic]")?.dataset.newTopic;
  if (stream) app.composer.open({ type: "stream", to: [Number(stream)], topic: "" });
  const channelMenu = closest(event, "[data-menu]");
  if (channelMenu) showChannelMenu(app, Number(channelMenu.dataset.menu), channelMenu);
  const topicMenu = closest(event, "[data-topic]");
  if (topicMenu) showTopicMenu(app, Number(topicMenu.dataset.stream), String(topicMenu.dataset.topic), topicMenu);
}
