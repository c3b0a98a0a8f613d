/**
 * The left column: views, direct messages, channels with their topics.
 * @module
 */

import { closest, debounce, fill, h, icon, iconButton, morph } from "../lib/dom.js";
import { keyedList, plainList } from "../lib/keyed_list.js";
import { asList, parseJson } from "../lib/parse.js";
import { computed, effect, signal } from "../lib/signal.js";
import { keep, kept } from "../lib/storage.js";
import { bind } from "../platform/keyboard.js";
import { channelOfRoute } from "../selectors/narrow.js";
import { channelSections, directItems, topicItems } from "../selectors/sidebar_items.js";
import { topicName } from "../selectors/title.js";
import { channelOf } from "../store/channels.js";
import { directKey } from "../store/conversations.js";
import { may } from "../store/lists.js";
import { unreadCounts } from "../store/unread.js";
import { presenceOf, userOf } from "../store/users.js";
import { showChannelMenu, showTopicMenu } from "./on_demand.js";
import { avatar, channelIcon, countBadge, ownPath, presenceDot } from "./parts.js";
import { showMenu } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */

/** Which sections are folded, kept in the browser. */
const folded = {
  /** @returns {Set<string>} */
  load: () => new Set(asList(parseJson(kept("folded")))),
  /** @param {Set<string>} keys */
  save: (keys) => keep("folded", JSON.stringify([...keys])),
};

/** What shows a list in full. @param {string} key @param {string} label */
const moreItem = (key, label) =>
  h("li", null, h("button", { type: "button", class: "side-item side-item--more", dataset: { whole: key } }, label));

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
  /** The topics of the channel that is open. */
  const topics = h("ul", { class: "side-list side-list--topics" });
  const directHead = sectionHead(
    "dm",
    "Direct messages",
    iconButton("plus", "New direct message", { onclick: () => app.composer.open({ type: "direct", to: [], topic: "" }) }),
  );
  const organization = h("a", { class: "sidebar__organization", href: "#" });
  effect(() => {
    store.on("realm");
    const source = ownPath(store.state.realm_icon_url ?? "/static/images/organization.png");
    fill(
      organization,
      h("img", { src: source, alt: "", width: 24, height: 24 }),
      h("span", { class: "side-item__name", dir: "auto" }, store.state.realm_name),
    );
  });
  const element = h(
    "nav",
    { class: "sidebar", "aria-label": "Conversations" },
    organization,
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

  /** @typedef {{ href: string, name: keyof import("../lib/icons.js")["icons"], label: string, count?: number, isQuiet?: boolean, key?: string, isCurrent: boolean }} View */
  const viewRows = plainList(views, {
    key: (/** @type {View} */ { href }) => href,
    create: ({ href, name, label, count = 0, isQuiet, key, isCurrent }) =>
      h(
        "li",
        null,
        h(
          "a",
          { class: "side-item", href: `#${href}`, "aria-current": isCurrent ? "page" : null, title: key ? `${label} (${key})` : label },
          icon(name),
          h("span", { class: "side-item__name" }, label),
          isQuiet && count > 0 ? h("span", { class: "count", dataset: { muted: "" } }, String(count)) : countBadge(count),
        ),
      ),
  });

  effect(() => {
    const route = app.route.value;
    store.on("settings");
    store.on("drafts");
    store.on("scheduled");
    store.on("starred");
    const counts = unreadCounts(store);
    const drafts = session.drafts.all().length;
    const later = (store.state.scheduled_messages ?? []).length + (store.state.reminders ?? []).length;
    const starred = store.setting("starred_message_counts") ? store.starred.size : 0;
    /** @type {Omit<View, "isCurrent">[]} */
    const all = [
      { href: "inbox", name: "inbox", label: "Inbox", count: counts.home, key: "I" },
      { href: "recent", name: "clock", label: "Recent conversations", key: "t" },
      { href: "feed", name: "feed", label: "Combined feed", key: "a" },
      { href: "narrow/is/mentioned", name: "at", label: "Mentions", count: counts.mentions },
      { href: "narrow/is/starred", name: "star", label: "Starred", count: starred, isQuiet: true, key: "*" },
    ];
    if (drafts > 0) all.push({ href: "drafts", name: "draft", label: "Drafts", count: drafts, isQuiet: true, key: "d" });
    if (later > 0) all.push({ href: "scheduled", name: "clock", label: "Scheduled", count: later, isQuiet: true });
    // The home view has an empty fragment, too.
    viewRows.set(all.map((view) => ({ ...view, isCurrent: app.currentFragment() === view.href || route.kind === view.href })));
  });

  /** @typedef {{ key: string, userIds: number[], name: string, unread: number, picture: string | null, presence: ReturnType<typeof presenceOf> | null, isCurrent: boolean }} Direct */
  const directRows = plainList(directs, {
    key: (/** @type {Direct | { key: "more" }} */ { key }) => key,
    create(item) {
      if (!("userIds" in item)) return moreItem("dm", "More conversations");
      const { userIds, name, unread, presence, isCurrent } = item;
      return h(
        "li",
        null,
        h(
          "a",
          {
            class: "side-item",
            href: `#${app.fragmentOf([{ operator: "dm", operand: userIds }])}`,
            "aria-current": isCurrent ? "page" : null,
            title: name,
          },
          presence
            ? h("span", { class: "side-item__person" }, avatar(userOf(store, userIds[0]), 20), presenceDot(presence))
            : icon("group"),
          h("span", { class: "side-item__name", dir: "auto" }, name),
          countBadge(unread),
        ),
      );
    },
  });

  effect(() => {
    const route = app.route.value;
    store.on("recents");
    store.on("unread");
    store.on("users");
    store.on("presence");
    directHead.querySelector("button[data-fold]")?.setAttribute("aria-expanded", String(!foldedKeys.value.has("dm")));
    if (foldedKeys.value.has("dm")) return directRows.set([]);
    const current = route.kind === "narrow" && route.narrow.kind === "dm" ? directKey(store, route.narrow.userIds) : null;
    const { items, hasMore } = directItems(store, current, whole.value.has("dm"));
    const now = store.now();
    /** @type {(Direct | { key: "more" })[]} */
    const rows = items.map(({ key, userIds, name, unread }) => {
      const isOne = userIds.length === 1;
      const picture = isOne ? userOf(store, userIds[0]).avatar_url : null;
      return {
        key,
        userIds,
        name,
        unread,
        picture,
        presence: isOne ? presenceOf(store, userIds[0], now) : null,
        isCurrent: key === current,
      };
    });
    directRows.set(hasMore ? [...rows, { key: "more" }] : rows);
  });

  /** @typedef {{ id: number, name: string, color: string, isMuted: boolean, kind: boolean[], count: number, isQuiet: boolean, hasMention: boolean, href: string, isCurrent: boolean }} ChannelRow */
  /** @param {ChannelRow} row */
  function channelRow({ id, name, color, isMuted, count, isQuiet, hasMention, href, isCurrent }) {
    return h(
      "li",
      { dataset: { channel: String(id) } },
      h(
        "div",
        { class: "side-row", dataset: isMuted ? { muted: "" } : {} },
        h(
          "a",
          {
            class: "side-item",
            style: { "--channel": color },
            href: `#${href}`,
            "aria-current": isCurrent ? "page" : null,
            title: name,
            dataset: { opensChannel: String(id) },
          },
          channelIcon(channelOf(store, id)),
          h("span", { class: "side-item__name", dir: "auto" }, name),
          countBadge(count, { isMuted: isQuiet, hasMention }),
        ),
        iconButton("dots", `Actions on ${name}`, { class: "side-row__menu", dataset: { menu: String(id) }, "aria-haspopup": "menu" }),
      ),
    );
  }

  /** @typedef {{ key: string, title: string, isFolded: boolean, hasHead: boolean, rows: ChannelRow[] }} Section */
  /** The channels of each section. @type {Map<string, ReturnType<typeof plainList<ChannelRow>>>} */
  const channelLists = new Map();
  const sectionList = keyedList(channels, {
    key: (/** @type {Section} */ { key }) => key,
    create(section) {
      const list = h("ul", { class: "side-list" });
      // The topics beside the row are a list of their own.
      const rows = plainList(list, { key: ({ id }) => id, create: channelRow, part: (row) => row.firstElementChild });
      channelLists.set(section.key, rows);
      const element = h("section", { "aria-label": section.title }, sectionHead(section.key, section.title), list);
      fillSection(element, section);
      return element;
    },
    update: (element, section) => fillSection(element, section),
  });

  /** @param {HTMLElement} element @param {Section} section */
  function fillSection(element, { key, title, hasHead, rows }) {
    const head = sectionHead(key, title);
    head.hidden = !hasHead;
    morph(/** @type {Element} */ (element.firstElementChild), head);
    channelLists.get(key)?.set(rows);
  }

  const sections = computed(() => {
    store.on("channels");
    store.on("settings");
    return channelSections(store, filter.value);
  });
  const noChannel = h("p", { class: "sidebar__empty", hidden: true });
  channels.after(noChannel);

  effect(() => {
    const route = app.route.value;
    store.on("topics");
    const counts = unreadCounts(store);
    const policy = store.setting("web_stream_unreads_count_display_policy") ?? 2;
    const openChannel = channelOfRoute(route);
    const isTopic = route.kind === "narrow" && route.narrow.kind === "topic";
    sectionList.set(
      sections.value.map((section) => {
        const isFolded = foldedKeys.value.has(section.key) && filter.value === "";
        const shown = isFolded ? section.channels.filter((channel) => channel.stream_id === openChannel) : section.channels;
        const rows = shown.map((channel) => {
          const { stream_id: id, name, color, is_muted: isMuted, is_web_public, invite_only } = channel;
          const { unmuted, muted, hasMention } = counts.channels.get(id) ?? { unmuted: 0, muted: 0, hasMention: false };
          const count = policy === 3 ? 0 : unmuted || (policy === 1 || isMuted ? muted : 0);
          const isCurrent = id === openChannel && !isTopic;
          const href = app.channelFragment(id);
          return {
            id,
            name,
            color,
            isMuted,
            kind: [is_web_public, invite_only],
            count,
            isQuiet: unmuted === 0,
            hasMention,
            href,
            isCurrent,
          };
        });
        return { ...section, isFolded, hasHead: sections.value.length > 1 || section.key !== "other", rows };
      }),
    );
    noChannel.hidden = sections.value.length > 0;
    noChannel.textContent = filter.value === "" ? "You are in no channel yet." : "No channel fits.";
    const open = openChannel === null ? null : channels.querySelector(`[data-channel="${openChannel}"]`);
    if (!open) topics.remove();
    else if (topics.parentElement !== open) open.append(topics);
  });

  /** @typedef {import("../selectors/sidebar_items.js").TopicItem & { streamId: number, isCurrent: boolean }} Topic */
  const topicRows = plainList(topics, {
    key: (/** @type {Topic | { key: string, streamId: number }} */ { key }) => key,
    create(item) {
      if ("name" in item) return topicRow(item);
      if (item.key === "more") return moreItem(`topics/${item.streamId}`, "Show all topics");
      return h(
        "li",
        null,
        h("button", { type: "button", class: "side-item side-item--more", dataset: { newTopic: String(item.streamId) } }, "New topic"),
      );
    },
  });

  effect(() => {
    const route = app.route.value;
    const streamId = channelOfRoute(route);
    store.on("channels");
    store.on("topics");
    store.on("userTopics");
    store.on("unread");
    if (streamId === null || !store.channels.has(streamId)) return topicRows.set([]);
    session.needTopics(streamId);
    const current = route.kind === "narrow" && route.narrow.kind === "topic" ? route.narrow.topic : null;
    const { items, hasMore } = topicItems(store, streamId, current, whole.value.has(`topics/${streamId}`));
    topicRows.set([
      ...items.map((item) => ({ ...item, streamId, isCurrent: item.name === current })),
      ...(hasMore ? [{ key: "more", streamId }] : []),
      { key: "new", streamId },
    ]);
  });

  /** @param {Topic} item */
  function topicRow({ name, streamId, unread, isMuted, isFollowed, isResolved, hasMention, isCurrent }) {
    const terms = [
      { operator: "channel", operand: streamId },
      { operator: "topic", operand: name },
    ];
    return h(
      "li",
      null,
      h(
        "div",
        { class: "side-row", dataset: isMuted ? { muted: "" } : {} },
        h(
          "a",
          { class: "side-item", href: `#${app.fragmentOf(terms)}`, "aria-current": isCurrent ? "page" : null, title: name },
          isResolved && icon("check"),
          h(
            "span",
            { class: name === "" ? "side-item__name is-general" : "side-item__name", dir: "auto" },
            topicName(store, name.replace(/^✔ /, "")),
          ),
          isFollowed && icon("follow"),
          countBadge(unread, { isMuted, hasMention }),
        ),
        iconButton("dots", `Actions on ${topicName(store, name)}`, {
          class: "side-row__menu",
          dataset: { topic: name, stream: String(streamId) },
          "aria-haspopup": "menu",
        }),
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
