/**
 * The bar above the middle column: where one is, search, and the menus.
 * @module
 */

import { logOut, updateSettings } from "../api/endpoints.js";
import { fill, h, icon, iconButton } from "../lib/dom.js";
import { effect } from "../lib/signal.js";
import { channelOfRoute } from "../selectors/narrow.js";
import { narrowName, topicName } from "../selectors/title.js";
import { channelOf, FOLLOWED, isTopicMuted, policyOf } from "../store/channels.js";
import { presenceOf, userOf } from "../store/users.js";
import { contentElement } from "./message_content.js";
import { setTopicPolicy, showChannelMenu, showStatusDialog, showTopicMenu, toggleResolved } from "./on_demand.js";
import { avatar, channelIcon, presenceDot } from "./parts.js";
import { showMenu } from "./popover.js";
import { createSearch } from "./search.js";

/** @typedef {import("../../types/app.js").App} App */

/** @param {App} app */
export function createHeader(app) {
  const { store } = app;
  const title = h("div", { class: "header__title" });
  const left = iconButton("menu", "Conversations", {
    class: "header__left",
    "aria-expanded": "false",
    onclick: () => app.showColumn("left"),
  });
  const right = iconButton("group", "People", { class: "header__right", "aria-expanded": "false", onclick: () => app.showColumn("right") });
  const me = h("button", {
    type: "button",
    class: "icon-button",
    "aria-label": "Your menu",
    title: "Your menu",
    "aria-haspopup": "menu",
    onclick: () => personalMenu(me),
  });
  const gear = iconButton("settings", "Main menu", { "aria-haspopup": "menu", onclick: () => mainMenu(app, gear) });
  const search = createSearch(app);
  const element = h("header", { class: "header" }, left, title, search.element, right, gear, me);

  /** @param {Element} opener */
  function personalMenu(opener) {
    const scheme = store.setting("color_scheme");
    showMenu(
      opener,
      [
        { label: "Set status", icon: "smile", run: () => showStatusDialog(app) },
        { label: "Profile", icon: "user", run: () => app.goFragment(`user/${store.selfId}`) },
        { label: "Settings", icon: "settings", run: () => app.goFragment("settings/profile") },
        {
          label: scheme === 2 ? "Light theme" : "Dark theme",
          icon: "sun",
          run: () => void app.session.attempt(updateSettings({ color_scheme: scheme === 2 ? 3 : 2 })),
        },
        {
          label: "Appear offline",
          icon: "eye",
          checked: store.setting("presence_enabled") === false,
          run: () => void app.session.attempt(updateSettings({ presence_enabled: store.setting("presence_enabled") === false })),
        },
        // Where there is no room for its button.
        gear.offsetParent === null && { label: "Main menu", icon: "menu", run: () => mainMenu(app, opener) },
        { label: "Log out", icon: "logout", run: () => void leave(app) },
      ],
      "Your menu",
    );
  }

  effect(() => {
    store.on("users");
    fill(me, avatar(store.self, 28));
  });

  effect(() => {
    const route = app.route.value;
    store.on("channels");
    store.on("users");
    store.on("presence");
    store.on("userTopics");
    fill(title, ...titleParts(route));
  });

  /** @param {import("../../types/app.js").Route} route @returns {import("../lib/dom.js").Child[]} */
  function titleParts(route) {
    if (route.kind === "inbox" || route.kind === "recent")
      return [h("h1", null, { inbox: "Inbox", recent: "Recent conversations" }[route.kind])];
    const streamId = channelOfRoute(route);
    if (streamId !== null && !store.channels.has(streamId)) return [h("h1", null, "Unknown channel")];
    if (streamId !== null) {
      const channel = channelOf(store, streamId);
      const channelMenu = h(
        "button",
        {
          type: "button",
          class: "icon-button",
          "aria-label": `Actions on ${channel.name}`,
          "aria-haspopup": "menu",
          onclick: () => showChannelMenu(app, streamId, channelMenu),
        },
        icon("dots"),
      );
      const name = h(
        "a",
        {
          href: `#${app.fragmentOf([{ operator: "channel", operand: streamId }])}`,
          class: "header__channel",
          style: { "--channel": channel.color },
        },
        channelIcon(channel),
        h("span", { dir: "auto" }, channel.name),
      );
      const narrow = route.kind === "narrow" ? route.narrow : null;
      if (narrow?.kind !== "topic") {
        return [h("h1", null, name), channel.rendered_description ? descriptionElement(channel.rendered_description) : null, channelMenu];
      }
      const isResolved = narrow.topic.startsWith("✔ ");
      const policy = policyOf(store, narrow.streamId, narrow.topic);
      const topicMenu = h(
        "button",
        {
          type: "button",
          class: "icon-button",
          "aria-label": "Actions on the topic",
          "aria-haspopup": "menu",
          onclick: () => showTopicMenu(app, narrow.streamId, narrow.topic, topicMenu),
        },
        icon("dots"),
      );
      return [
        h(
          "h1",
          null,
          name,
          h("span", { class: "header__separator", "aria-hidden": "true" }, "›"),
          h("span", { class: "header__topic", dir: "auto" }, topicName(store, narrow.topic)),
        ),
        narrow.topic !== "" &&
          iconButton("check", isResolved ? "Mark as unresolved" : "Mark as resolved", {
            "aria-pressed": String(isResolved),
            onclick: () => void toggleResolved(app, narrow.streamId, narrow.topic),
          }),
        iconButton(isTopicMuted(store, narrow.streamId, narrow.topic) ? "mute" : "follow", policy === FOLLOWED ? "Unfollow" : "Follow", {
          "aria-pressed": String(policy === FOLLOWED),
          onclick: () => void setTopicPolicy(app, narrow.streamId, narrow.topic, policy === FOLLOWED ? 0 : FOLLOWED),
        }),
        topicMenu,
      ];
    }
    if (route.kind !== "narrow") return [];
    const { narrow, terms } = route;
    if (narrow.kind === "dm" && narrow.userIds.length === 1) {
      const user = userOf(store, narrow.userIds[0]);
      return [h("h1", null, avatar(user, 24), presenceDot(presenceOf(store, user.user_id, store.now())), narrowName(store, terms))];
    }
    return [h("h1", null, narrowName(store, terms))];
  }

  /** @param {string} html */
  function descriptionElement(html) {
    const element = contentElement(app, html, null);
    element.classList.add("header__description");
    return element;
  }

  return { element, search, left, right };
}

/** @param {App} app @param {Element} opener */
export function mainMenu(app, opener) {
  showMenu(
    opener,
    [
      { label: "Channels", icon: "hash", run: () => app.goFragment("channels/subscribed") },
      { label: "Groups", icon: "group", run: () => app.goFragment("groups/all") },
      { label: "Organization settings", icon: "settings", run: () => app.goFragment("organization/organization-profile") },
      app.mayInvite() && { label: "Invite people", icon: "plus", run: () => app.goFragment("invite") },
      { label: "Keyboard shortcuts", icon: "keyboard", key: "?", run: () => app.goFragment("keyboard-shortcuts") },
      { label: "Message formatting", icon: "bold", run: () => app.goFragment("message-formatting") },
      { label: "Search operators", icon: "search", run: () => app.goFragment("search-operators") },
      { label: "About", icon: "help", run: () => app.goFragment("about-zulip") },
    ],
    "Main menu",
  );
}

/** @param {App} app */
export async function leave(app) {
  app.composer.save(true);
  await app.session.queue.close();
  if (await app.session.attempt(logOut())) location.assign("/");
}
