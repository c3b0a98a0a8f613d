/**
 * The left column: views, direct messages, channels with their topics.
 * @module
 */

import { closest, debounce, fill, h, icon, iconButton } from "../lib/dom.js";
import { drawRows } from "../lib/keyed_list.js";
import { asList, parseJson } from "../lib/parse.js";
import { effect, signal } from "../lib/signal.js";
import { bind } from "../platform/keyboard.js";
import { channelOfRoute } from "../selectors/narrow.js";
import { channelSections, directItems, topicItems } from "../selectors/sidebar_items.js";
import { topicName } from "../selectors/title.js";
import { directKey } from "../store/conversations.js";
import { may } from "../store/lists.js";
import { unreadCounts } from "../store/unread.js";
import { presenceOf, userOf } from "../store/users.js";
import { showChannelMenu, showTopicMenu } from "./on_demand.js";
import { avatar, channelIcon, countBadge, presenceDot } from "./parts.js";
import { showMenu } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */

/** Which sections are folded, kept in the browser. */
const folded = {
  /** @returns {Set<string>} */
  load: () => new Set(asList(parseJson(localStorage.getItem("teamchat/folded")))),
  /** @param {Set<string>} keys */
  save: (keys) => localStorage.setItem("teamchat/folded", JSON.stringify([...keys])),
};

/** @param {App} app */
export function createSidebar(app) {
  const { store, session } = app;
  const filter = signal("");
  const foldedKeys = signal(folded.load());
  /** Lists that are shown in full, by key. @type {import("../lib/signal.js").Signal<Set<string>>} */
  const whole = signal(new Set());

  const input = h("input", { type: "search", placeholder: "Filter channels", "aria-label": "Filter channels", class: "sidebar__filter" });
  const filterSoon = debounce(() => {
    filter.value = input.value.trim();
  }, 80);
  input.oninput = () => filterSoon();
  const views = h("ul", { class: "side-list" });
  const directs = h("ul", { class: "side-list" });
  const channels = h("div");
  const directHead = sectionHead(
    "dm",
    "Direct messages",
    iconButton("plus", "New direct message", { onclick: () => app.composer.open({ type: "direct", to: [], topic: "" }) }),
  );
  const element = h(
    "nav",
    { class: "sidebar", "aria-label": "Conversations" },
    views,
    directHead,
    directs,
    h(
      "div",
      { class: "sidebar__head" },
      h("h2", null, "Channels"),
      iconButton("plus", "Add channels", {
        onclick: (/** @type {Event} */ event) => addMenu(/** @type {Element} */ (event.currentTarget)),
      }),
    ),
    input,
    channels,
  );

  /** @param {string} key @param {string} title @param {HTMLElement} [button] */
  function sectionHead(key, title, button) {
    const isFolded = foldedKeys.peek().has(key);
    return h(
      "div",
      { class: "sidebar__head" },
      h(
        "h2",
        null,
        h(
          "button",
          { type: "button", class: "sidebar__fold", "aria-expanded": String(!isFolded), dataset: { fold: key } },
          icon("chevron"),
          title,
        ),
      ),
      button,
    );
  }

  /** @param {Element} opener */
  function addMenu(opener) {
    showMenu(
      opener,
      [
        { label: "Browse channels", icon: "list", run: () => app.goFragment("channels/all") },
        (may(store, "can_create_public_channel_group") || may(store, "can_create_private_channel_group")) && {
          label: "Create a channel",
          icon: "plus",
          run: () => app.goFragment("channels/new"),
        },
      ],
      "Add channels",
    );
  }

  /** @param {string} href @param {import("../lib/icons.js")["icons"] extends infer T ? keyof T : never} name @param {string} label @param {HTMLElement | null} [count] @param {string} [key] */
  function viewItem(href, name, label, count, key) {
    return h(
      "li",
      null,
      h(
        "a",
        {
          class: "side-item",
          href: `#${href}`,
          // The home view has an empty fragment, too.
          "aria-current": app.currentFragment() === href || app.route.peek().kind === href ? "page" : null,
          title: key ? `${label} (${key})` : label,
        },
        icon(name),
        h("span", { class: "side-item__name" }, label),
        count,
      ),
    );
  }

  effect(() => {
    app.route.value;
    store.on("unread");
    store.on("settings");
    store.on("drafts");
    store.on("scheduled");
    store.on("starred");
    store.on("channels");
    const counts = unreadCounts(store);
    const drafts = session.drafts.all().length;
    const later = (store.state.scheduled_messages ?? []).length + (store.state.reminders ?? []).length;
    const quiet = (/** @type {number} */ count) =>
      count > 0 ? h("span", { class: "count", dataset: { muted: "" } }, String(count)) : null;
    fill(
      views,
      viewItem("inbox", "inbox", "Inbox", countBadge(counts.home), "I"),
      viewItem("recent", "clock", "Recent conversations", null, "t"),
      viewItem("feed", "feed", "Combined feed", null, "a"),
      viewItem("narrow/is/mentioned", "at", "Mentions", countBadge(counts.mentions)),
      viewItem("narrow/is/starred", "star", "Starred", store.setting("starred_message_counts") ? quiet(store.starred.size) : null, "*"),
      drafts > 0 && viewItem("drafts", "draft", "Drafts", quiet(drafts), "d"),
      later > 0 && viewItem("scheduled", "clock", "Scheduled", quiet(later)),
    );
  });

  effect(() => {
    const route = app.route.value;
    store.on("recents");
    store.on("unread");
    store.on("users");
    store.on("presence");
    directHead.querySelector("button[data-fold]")?.setAttribute("aria-expanded", String(!foldedKeys.value.has("dm")));
    if (foldedKeys.value.has("dm")) return fill(directs);
    const current = route.kind === "narrow" && route.narrow.kind === "dm" ? directKey(store, route.narrow.userIds) : null;
    const { items, hasMore } = directItems(store, current, whole.value.has("dm"));
    const now = Date.now() / 1000;
    fill(
      directs,
      drawRows(items, ({ key, userIds, name, unread }) => {
        const isOne = userIds.length === 1;
        return h(
          "li",
          null,
          h(
            "a",
            {
              class: "side-item",
              href: `#${app.fragmentOf([{ operator: "dm", operand: userIds }])}`,
              "aria-current": key === current ? "page" : null,
              title: name,
            },
            isOne
              ? h(
                  "span",
                  { class: "side-item__person" },
                  avatar(userOf(store, userIds[0]), 20),
                  presenceDot(presenceOf(store, userIds[0], now)),
                )
              : icon("group"),
            h("span", { class: "side-item__name" }, name),
            countBadge(unread),
          ),
        );
      }),
      hasMore && moreItem("dm", "More conversations"),
    );
  });

  /** @param {string} key @param {string} label */
  const moreItem = (key, label) =>
    h("li", null, h("button", { type: "button", class: "side-item side-item--more", dataset: { whole: key } }, label));

  effect(() => {
    const route = app.route.value;
    store.on("channels");
    store.on("topics");
    store.on("userTopics");
    store.on("unread");
    store.on("settings");
    const isFiltered = filter.value !== "";
    const counts = unreadCounts(store);
    const policy = store.setting("web_stream_unreads_count_display_policy") ?? 2;
    const narrow = route.kind === "narrow" ? route.narrow : null;
    const openChannel = channelOfRoute(route);
    const openTopic = narrow?.kind === "topic" ? narrow.topic : null;
    if (openChannel !== null) session.needTopics(openChannel);
    const sections = channelSections(store, filter.value);
    fill(
      channels,
      sections.map((section) => {
        const isFolded = foldedKeys.value.has(section.key) && !isFiltered;
        const shown = isFolded ? section.channels.filter((channel) => channel.stream_id === openChannel) : section.channels;
        return h(
          "section",
          { "aria-label": section.title },
          (sections.length > 1 || section.key !== "other") && sectionHead(section.key, section.title),
          h(
            "ul",
            { class: "side-list" },
            drawRows(shown, (channel) => {
              const count = counts.channels.get(channel.stream_id) ?? { unmuted: 0, muted: 0, hasMention: false };
              const isOpen = channel.stream_id === openChannel;
              const number = policy === 3 ? 0 : count.unmuted || (policy === 1 || channel.is_muted ? count.muted : 0);
              return h(
                "li",
                { dataset: { channel: String(channel.stream_id) } },
                h(
                  "div",
                  { class: "side-row", dataset: channel.is_muted ? { muted: "" } : {} },
                  h(
                    "a",
                    {
                      class: "side-item",
                      style: { "--channel": channel.color },
                      href: `#${app.channelFragment(channel.stream_id)}`,
                      "aria-current": isOpen && openTopic === null ? "page" : null,
                      title: channel.name,
                    },
                    channelIcon(channel),
                    h("span", { class: "side-item__name" }, channel.name),
                    countBadge(number, { isMuted: count.unmuted === 0, hasMention: count.hasMention }),
                  ),
                  iconButton("dots", `Actions on ${channel.name}`, {
                    class: "side-row__menu",
                    dataset: { menu: String(channel.stream_id) },
                    "aria-haspopup": "menu",
                  }),
                ),
                isOpen && topicList(channel.stream_id, openTopic),
              );
            }),
          ),
        );
      }),
      sections.length === 0 && h("p", { class: "sidebar__empty" }, isFiltered ? "No channel fits." : "You are in no channel yet."),
    );
  });

  /** @param {number} streamId @param {string | null} current */
  function topicList(streamId, current) {
    const { items, hasMore } = topicItems(store, streamId, current, whole.value.has(`topics/${streamId}`));
    return h(
      "ul",
      { class: "side-list side-list--topics" },
      drawRows(items, (item) =>
        h(
          "li",
          null,
          h(
            "div",
            { class: "side-row", dataset: item.isMuted ? { muted: "" } : {} },
            h(
              "a",
              {
                class: "side-item",
                href: `#${app.fragmentOf([
                  { operator: "channel", operand: streamId },
                  { operator: "topic", operand: item.name },
                ])}`,
                "aria-current": item.name === current ? "page" : null,
                title: item.name,
              },
              item.isResolved && icon("check"),
              h(
                "span",
                { class: item.name === "" ? "side-item__name is-general" : "side-item__name" },
                topicName(store, item.name.replace(/^✔ /, "")),
              ),
              item.isFollowed && icon("follow"),
              countBadge(item.unread, { isMuted: item.isMuted, hasMention: item.hasMention }),
            ),
            iconButton("dots", `Actions on ${topicName(store, item.name)}`, {
              class: "side-row__menu",
              dataset: { topic: item.name, stream: String(streamId) },
              "aria-haspopup": "menu",
            }),
          ),
        ),
      ),
      hasMore && moreItem(`topics/${streamId}`, "Show all topics"),
      h(
        "li",
        null,
        h("button", { type: "button", class: "side-item side-item--more", dataset: { newTopic: String(streamId) } }, "New topic"),
      ),
    );
  }

  element.addEventListener("click", (event) => {
    const fold = closest(event, "[data-fold]")?.dataset.fold;
    if (fold) {
      const next = new Set(foldedKeys.peek());
      if (!next.delete(fold)) next.add(fold);
      folded.save(next);
      foldedKeys.value = next;
    }
    const all = closest(event, "[data-whole]")?.dataset.whole;
    if (all) whole.value = new Set([...whole.peek(), all]);
    const stream = closest(event, "[data-new-topic]")?.dataset.newTopic;
    if (stream) app.composer.open({ type: "stream", to: [Number(stream)], topic: "" });
    const channelMenu = closest(event, "[data-menu]");
    if (channelMenu) showChannelMenu(app, Number(channelMenu.dataset.menu), channelMenu);
    const topicMenu = closest(event, "[data-topic]");
    if (topicMenu) showTopicMenu(app, Number(topicMenu.dataset.stream), String(topicMenu.dataset.topic), topicMenu);
  });
  bind({
    keys: ["q"],
    label: "Filter channels",
    group: "Going places",
    run: () => {
      app.showColumn("left");
      input.focus();
    },
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      filter.value = "";
      input.blur();
    }
    if (event.key === "Enter") /** @type {HTMLElement | null} */ (channels.querySelector("a"))?.click();
  });
  return element;
}
