/**
 * The bar above the middle column: the title of the view, search, and menus.
 * @module
 */

import { fill, h, icon, iconButton, morph } from "../lib/dom.js";
import { effect } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { channelOfRoute, channelTerms } from "../selectors/narrow.js";
import { narrowName, plainTopicName, searchPills } from "../selectors/title.js";
import { mayResolve } from "../selectors/writing.js";
import { channelOf, FOLLOWED, INHERIT, isTopicMuted, policyOf } from "../store/channels.js";
import { isResolvedTopic } from "../store/conversations.js";
import { presenceOf, userOf } from "../store/users.js";
import { contentElement } from "./message_content.js";
import { setTopicPolicy, showChannelMenu, showMainMenu, showPersonalMenu, showTopicMenu, toggleResolved } from "./on_demand.js";
import { avatar, channelIcon, presenceDot } from "./parts.js";
import { createSearch } from "./search_box.js";
import { loginLink } from "./visitor.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../lib/dom.js").Child} Child */

/** @param {App} app */
export function createHeader(app) {
  const { store } = app;
  const title = h("div", { class: "header__title" });
  const left = iconButton("menu", t("Conversations"), {
    class: "header__left",
    "aria-expanded": "false",
    onclick: () => app.showColumn("left"),
  });
  const right = iconButton("group", t("People"), {
    class: "header__right",
    "aria-expanded": "false",
    onclick: () => app.showColumn("right"),
  });
  const me = h("button", {
    type: "button",
    class: "icon-button",
    "aria-label": t("Your menu"),
    title: t("Your menu"),
    "aria-haspopup": "menu",
    onclick: () => showPersonalMenu(app, me, gear),
  });
  const gear = iconButton("settings", t("Main menu"), { "aria-haspopup": "menu", onclick: () => showMainMenu(app, gear) });
  const search = createSearch(app);
  const own = store.isVisitor ? [gear, loginLink(t("Log in"), "button--small button--primary header__login")] : [right, gear, me];
  const element = h("header", { class: "header" }, left, title, search.element, own);

  effect(() => {
    store.on("users");
    if (!store.isVisitor) fill(me, avatar(store.self, 28));
  });

  /** The route whose title is shown. @type {import("../../types/app.js").Route | null} */
  let shown = null;
  effect(() => {
    const route = app.route.value;
    store.on("channels", "users", "presence", "userTopics", "realm", "groups");
    const next = h("div", { class: "header__title" }, titleParts(app, route));
    // While the view is the same, its buttons keep the focus, and the menus that they open. They also keep what they do: if one comes or goes,
    // all are new.
    if (route === shown && next.childElementCount === title.childElementCount) morph(title, next);
    else title.replaceChildren(...next.childNodes);
    shown = route;
  });

  return { element, search, left, right };
}

/** A button that opens a menu beside it. @param {string} label @param {(button: HTMLElement) => unknown} open */
function menuButton(label, open) {
  const onclick = () => open(button);
  const button = h("button", { type: "button", class: "icon-button", "aria-label": label, "aria-haspopup": "menu", onclick }, icon("dots"));
  return button;
}

/** @param {App} app @param {import("../../types/app.js").Route} route @returns {Child[]} */
function titleParts(app, route) {
  const { store } = app;
  if (route.kind === "inbox" || route.kind === "recent")
    return [h("h1", null, { inbox: t("Inbox"), recent: t("Recent conversations") }[route.kind])];
  const streamId = channelOfRoute(route);
  if (streamId !== null && !store.channels.has(streamId)) return [h("h1", null, t("Unknown channel"))];
  if (streamId !== null) return channelTitle(app, streamId, route);
  if (route.kind !== "narrow") return [];
  const { narrow, terms } = route;
  if (narrow.kind === "dm" && narrow.userIds.length === 1) {
    const user = userOf(store, narrow.userIds[0]);
    return [h("h1", null, avatar(user, 24), presenceDot(presenceOf(store, user.user_id, store.now())), narrowName(store, terms))];
  }
  return [h("h1", null, narrowName(store, terms)), narrow.kind === "other" && pills(app, terms)];
}

/** The title of a channel, of its list of topics, or of one of its topics.
 * @param {App} app @param {number} streamId @param {import("../../types/app.js").Route} route @returns {Child[]} */
function channelTitle(app, streamId, route) {
  const channel = channelOf(app.store, streamId);
  const name = h(
    "a",
    { href: `#${app.fragmentOf(channelTerms(streamId))}`, class: "header__channel", style: { "--channel": channel.color } },
    channelIcon(channel),
    h("span", { dir: "auto" }, channel.name),
  );
  if (route.kind === "narrow" && route.narrow.kind === "topic") return topicTitle(app, name, route.narrow);
  const description = channel.rendered_description ? contentElement(app, channel.rendered_description, null) : null;
  description?.classList.add("header__description");
  const openMenu = (/** @type {HTMLElement} */ button) => showChannelMenu(app, streamId, button);
  return [h("h1", null, name), description, !app.store.isVisitor && menuButton(t("Actions on {name}", { name: channel.name }), openMenu)];
}

/** @param {App} app @param {HTMLElement} channel @param {{ streamId: number, topic: string }} narrow @returns {Child[]} */
function topicTitle(app, channel, { streamId, topic }) {
  const { store } = app;
  const isResolved = isResolvedTopic(topic);
  const isFollowed = policyOf(store, streamId, topic) === FOLLOWED;
  const heading = h(
    "h1",
    null,
    channel,
    h("span", { class: "header__separator", "aria-hidden": "true" }, "›"),
    isResolved && icon("check"),
    h("span", { class: "header__topic", dir: "auto" }, plainTopicName(store, topic)),
  );
  if (store.isVisitor) return [heading];
  return [
    heading,
    topic !== "" &&
      mayResolve(store, streamId) &&
      iconButton("check", isResolved ? t("Mark as unresolved") : t("Mark as resolved"), {
        "aria-pressed": String(isResolved),
        onclick: () => void toggleResolved(app, streamId, topic),
      }),
    iconButton(isTopicMuted(store, streamId, topic) ? "mute" : "follow", isFollowed ? t("Unfollow") : t("Follow"), {
      "aria-pressed": String(isFollowed),
      // The button is kept when the policy changes.
      onclick: () => void setTopicPolicy(app, streamId, topic, policyOf(store, streamId, topic) === FOLLOWED ? INHERIT : FOLLOWED),
    }),
    menuButton(t("Actions on the topic"), (button) => showTopicMenu(app, streamId, topic, button)),
  ];
}

/** The terms of a search, each with a way to leave it out. @param {App} app @param {import("../../types/api.js").Term[]} terms */
function pills(app, terms) {
  const all = searchPills(app.store, terms);
  const isNamed = narrowName(app.store, terms) !== t("Search results");
  if (all.length < (isNamed ? 2 : 1)) return null;
  return h(
    "span",
    { class: "header__pills" },
    all.map(({ label, others }) =>
      h(
        "span",
        { class: "pill" },
        h("span", { class: "pill__text", dir: "auto" }, label),
        iconButton("close", t("Remove {term} from the search", { term: label }), {
          onclick: () => (others.length > 0 ? app.goNarrow(others) : app.goHome()),
        }),
      ),
    ),
  );
}
