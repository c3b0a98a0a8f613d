/**
 * The bar above the middle column: where one is, search, and the menus.
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
    const next = h("div", { class: "header__title" }, titleParts(route));
    // While the view is the same, its buttons keep the focus, and the menus that they open. They also keep what they do: if one comes or goes,
    // all are new.
    if (route === shown && next.childElementCount === title.childElementCount) morph(title, next);
    else title.replaceChildren(...next.childNodes);
    shown = route;
  });

  /** @param {import("../../types/app.js").Route} route @returns {import("../lib/dom.js").Child[]} */
  function titleParts(route) {
    if (route.kind === "inbox" || route.kind === "recent")
      return [h("h1", null, { inbox: t("Inbox"), recent: t("Recent conversations") }[route.kind])];
    const streamId = channelOfRoute(route);
    if (streamId !== null && !store.channels.has(streamId)) return [h("h1", null, t("Unknown channel"))];
    if (streamId !== null) {
      const channel = channelOf(store, streamId);
      const channelMenu = h(
        "button",
        {
          type: "button",
          class: "icon-button",
          "aria-label": t("Actions on {name}", { name: channel.name }),
          "aria-haspopup": "menu",
          onclick: () => showChannelMenu(app, streamId, channelMenu),
        },
        icon("dots"),
      );
      const name = h(
        "a",
        {
          href: `#${app.fragmentOf(channelTerms(streamId))}`,
          class: "header__channel",
          style: { "--channel": channel.color },
        },
        channelIcon(channel),
        h("span", { dir: "auto" }, channel.name),
      );
      const narrow = route.kind === "narrow" ? route.narrow : null;
      if (narrow?.kind !== "topic") {
        const description = channel.rendered_description ? descriptionElement(channel.rendered_description) : null;
        return [h("h1", null, name), description, !store.isVisitor && channelMenu];
      }
      const isResolved = isResolvedTopic(narrow.topic);
      const policy = policyOf(store, narrow.streamId, narrow.topic);
      const topicMenu = h(
        "button",
        {
          type: "button",
          class: "icon-button",
          "aria-label": t("Actions on the topic"),
          "aria-haspopup": "menu",
          onclick: () => showTopicMenu(app, narrow.streamId, narrow.topic, topicMenu),
        },
        icon("dots"),
      );
      const heading = h(
        "h1",
        null,
        name,
        h("span", { class: "header__separator", "aria-hidden": "true" }, "›"),
        isResolved && icon("check"),
        h("span", { class: "header__topic", dir: "auto" }, plainTopicName(store, narrow.topic)),
      );
      if (store.isVisitor) return [heading];
      return [
        heading,
        narrow.topic !== "" &&
          mayResolve(store, narrow.streamId) &&
          iconButton("check", isResolved ? t("Mark as unresolved") : t("Mark as resolved"), {
            "aria-pressed": String(isResolved),
            onclick: () => void toggleResolved(app, narrow.streamId, narrow.topic),
          }),
        iconButton(
          isTopicMuted(store, narrow.streamId, narrow.topic) ? "mute" : "follow",
          policy === FOLLOWED ? t("Unfollow") : t("Follow"),
          {
            "aria-pressed": String(policy === FOLLOWED),
            onclick: () => toggleFollowed(narrow),
          },
        ),
        topicMenu,
      ];
    }
    if (route.kind !== "narrow") return [];
    const { narrow, terms } = route;
    if (narrow.kind === "dm" && narrow.userIds.length === 1) {
      const user = userOf(store, narrow.userIds[0]);
      return [h("h1", null, avatar(user, 24), presenceDot(presenceOf(store, user.user_id, store.now())), narrowName(store, terms))];
    }
    return [h("h1", null, narrowName(store, terms)), narrow.kind === "other" && pills(terms)];
  }

  /** @param {{ streamId: number, topic: string }} place */
  function toggleFollowed({ streamId, topic }) {
    void setTopicPolicy(app, streamId, topic, policyOf(store, streamId, topic) === FOLLOWED ? INHERIT : FOLLOWED);
  }

  /** The terms of a search, each with a way to leave it out. @param {import("../../types/api.js").Term[]} terms */
  function pills(terms) {
    const all = searchPills(store, terms);
    const isNamed = narrowName(store, terms) !== t("Search results");
    return all.length < (isNamed ? 2 : 1)
      ? null
      : h(
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

  /** @param {string} html */
  function descriptionElement(html) {
    const element = contentElement(app, html, null);
    element.classList.add("header__description");
    return element;
  }

  return { element, search, left, right };
}
