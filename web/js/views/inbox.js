/**
 * Overviews of conversations: the inbox with everything unread, and the recent conversations.
 * @module
 */

import { getMessages } from "../api/endpoints.js";
import { closest, fill, h, icon, iconButton, morph } from "../lib/dom.js";
import { keyedList, plainList } from "../lib/keyed_list.js";
import { asList, parseJson } from "../lib/parse.js";
import { effect, onEnd, signal } from "../lib/signal.js";
import { keep, kept } from "../lib/storage.js";
import { relativeTime } from "../lib/time.js";
import { bind } from "../platform/keyboard.js";
import { conversationTerms } from "../selectors/narrow.js";
import { inboxSections, namesOf } from "../selectors/sidebar_items.js";
import { topicName } from "../selectors/title.js";
import { channelOf, FOLLOWED, isTopicMuted, policyOf, subscribedChannels } from "../store/channels.js";
import { conversationKey, otherIds, recipientIds } from "../store/conversations.js";
import { unreadCount } from "../store/unread.js";
import { userOf } from "../store/users.js";
import { createLoad } from "./load_state.js";
import { avatar, button, channelIcon, countBadge, keepFocus, select } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */

/** Keys that move the focus over links of a list. @param {HTMLElement} element */
export function bindListKeys(element) {
  const links = () => /** @type {HTMLElement[]} */ ([...element.querySelectorAll("a.conversation")]);
  /** @param {number} step */
  const move = (step) => {
    const all = links();
    const at = all.indexOf(/** @type {any} */ (document.activeElement));
    const next = all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + step))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  onEnd(bind({ keys: ["ArrowDown", "j"], label: "Next row", group: "Reading", run: () => move(1) }));
  onEnd(bind({ keys: ["ArrowUp", "k"], label: "Previous row", group: "Reading", run: () => move(-1) }));
}

/** How many channels an empty inbox leads to. */
const SUGGESTED = 8;

/** @param {string} label @param {import("../lib/signal.js").Signal<string>} text Gets what is written. */
function filterInput(label, text) {
  const oninput = () => {
    text.value = input.value;
  };
  const input = h("input", { type: "search", placeholder: "Filter", "aria-label": label, oninput });
  return input;
}

/** @param {App} app */
export function createInbox(app) {
  const { store, session } = app;
  const text = signal("");
  const topics = signal(/** @type {"all" | "unmuted" | "followed"} */ (kept("inbox") ?? "unmuted"));
  /** @type {Set<string>} */
  const foldedSections = new Set();
  const folds = signal(0);
  const list = h("div", { class: "inbox__list" });
  const empty = h("div", { class: "empty", hidden: true });
  const filter = filterInput("Filter the inbox", text);
  const which = select(
    [
      ["unmuted", "Unmuted topics"],
      ["followed", "Followed topics"],
      ["all", "All topics"],
    ],
    topics.peek(),
    (value) => {
      topics.value = /** @type {any} */ (value);
      keep("inbox", value);
    },
    { label: "Which topics" },
  );
  const element = h(
    "section",
    { class: "page", "aria-label": "Inbox" },
    h(
      "div",
      { class: "page__tools" },
      filter,
      which,
      h(
        "button",
        { type: "button", class: "button", onclick: () => void session.markNarrowRead([], store.unreadOf.keys()) },
        icon("check"),
        "Mark all as read",
      ),
    ),
    list,
    empty,
  );

  /** @typedef {{ key: string, terms: import("../../types/api.js").Term[], name: string, person: number | null, picture: string | null, isDirect: boolean, isFollowed: boolean, isMuted: boolean, hasMention: boolean, count: number }} Row */
  /** @param {Row} row */
  function conversationRow({ key, terms, name, person, isDirect, isFollowed, isMuted, hasMention, count }) {
    return h(
      "li",
      { class: "conversation-row", dataset: isMuted ? { muted: "" } : {} },
      h(
        "a",
        { class: "conversation", href: `#${app.fragmentOf(terms)}` },
        person !== null ? avatar(userOf(store, person), 24) : isDirect ? icon("group") : null,
        h("span", { class: "conversation__name", dir: "auto" }, name),
        isFollowed && icon("follow"),
        countBadge(count, { hasMention, isMuted }),
      ),
      iconButton("check", `Mark ${name} as read`, { dataset: { read: key } }),
    );
  }

  /** @typedef {{ key: string, title: string, streamId: number | null, color: string | null, kind: boolean[], isMuted: boolean, isFolded: boolean, count: number, rows: Row[] }} Section */
  /** @param {Section} section */
  const sectionHead = ({ key, title, streamId, isMuted, isFolded, count }) =>
    h(
      "header",
      { class: "inbox-section__head", dataset: isMuted ? { muted: "" } : {} },
      h(
        "button",
        { type: "button", class: "sidebar__fold", "aria-expanded": String(!isFolded), dataset: { section: key } },
        icon("chevron"),
        streamId === null ? icon("mail") : channelIcon(channelOf(store, streamId)),
        title,
        countBadge(count, { isMuted }),
      ),
    );

  /** The conversations of each section. @type {Map<string, ReturnType<typeof plainList<Row>>>} */
  const rowLists = new Map();
  const sectionList = keyedList(list, {
    key: (/** @type {Section} */ { key }) => key,
    create(section) {
      const rows = h("ul");
      rowLists.set(section.key, plainList(rows, { key: ({ key }) => key, create: conversationRow }));
      const color = section.color ? { "--channel": section.color } : {};
      const element = h("section", { class: "inbox-section", style: color }, sectionHead(section), rows);
      rowLists.get(section.key)?.set(section.rows);
      return element;
    },
    update(element, section) {
      morph(/** @type {Element} */ (element.firstElementChild), sectionHead(section));
      rowLists.get(section.key)?.set(section.rows);
    },
  });

  /** @param {import("../selectors/sidebar_items.js").InboxItem} item @returns {Row} */
  function rowOf({ key, userIds, streamId, topic, isFollowed, isMuted, hasMention, count }) {
    const terms = userIds
      ? [{ operator: "dm", operand: userIds }]
      : [
          { operator: "channel", operand: Number(streamId) },
          { operator: "topic", operand: String(topic) },
        ];
    const name = userIds ? namesOf(store, userIds) : topicName(store, String(topic));
    const person = userIds?.length === 1 ? userIds[0] : null;
    const picture = person === null ? null : userOf(store, person).avatar_url;
    return { key, terms, name, person, picture, isDirect: userIds !== null, isFollowed, isMuted, hasMention, count };
  }

  /** What is said where nothing is unread. @param {boolean} isFiltered */
  const emptyText = (isFiltered) => [
    icon("inbox"),
    h("p", null, isFiltered ? "Nothing fits." : "You have read everything."),
    !isFiltered && [
      h("p", { class: "muted" }, "New messages appear here, by conversation. Look around in the channels meanwhile:"),
      h(
        "p",
        { class: "choices" },
        subscribedChannels(store)
          .slice(0, SUGGESTED)
          .map((channel) =>
            h(
              "a",
              {
                class: "button",
                href: `#${app.channelFragment(channel.stream_id)}`,
                dataset: { opensChannel: String(channel.stream_id) },
              },
              channelIcon(channel),
              channel.name,
            ),
          ),
      ),
    ],
  ];

  return {
    element,
    start() {
      bindListKeys(element);
      /** @type {Map<string, Row>} */
      let rows = new Map();
      effect(() => {
        store.on("unread");
        store.on("channels");
        store.on("userTopics");
        store.on("users");
        folds.value;
        const sections = inboxSections(store, { filter: text.value, topics: topics.value }).map((section) => {
          const { key, title, channel, count, conversations } = section;
          const isFolded = foldedSections.has(key);
          return {
            ...{ key, title, count, isFolded, streamId: channel?.stream_id ?? null, color: channel?.color ?? null },
            ...{ isMuted: channel?.is_muted ?? false, kind: [channel?.is_web_public ?? false, channel?.invite_only ?? false] },
            rows: isFolded ? [] : conversations.map(rowOf),
          };
        });
        sectionList.set(sections);
        rows = new Map(sections.flatMap((section) => section.rows.map((row) => [row.key, row])));
        empty.hidden = sections.length > 0;
        if (!empty.hidden) keepFocus(empty, () => fill(empty, emptyText(text.value !== "")));
      });
      list.addEventListener("click", (event) => {
        const row = rows.get(closest(event, "[data-read]")?.dataset.read ?? "");
        if (row) void session.markNarrowRead(row.terms, store.unread.get(row.key) ?? []);
        const key = closest(event, "[data-section]")?.dataset.section;
        if (!key) return;
        if (!foldedSections.delete(key)) foldedSections.add(key);
        folds.value += 1;
      });
    },
  };
}

/** How many messages the recent conversations are made of. */
const RECENT = 800;

/** @param {App} app */
export function createRecent(app) {
  const { store, session } = app;
  const text = signal("");
  const only = signal(/** @type {Set<string>} */ (new Set(asList(parseJson(kept("recent") ?? '["dm"]')))));
  const range = store.messages.range("recent", [{ operator: "in", operand: "all" }]);
  const older = button("Show older conversations", loadOlder, "", { class: "button recent__older", hidden: true });
  const load = createLoad(session, async () => {
    if (range.isLoaded && !range.isStale) return;
    const reply = await getMessages({ narrow: [{ operator: "in", operand: "all" }], anchor: "newest", num_before: RECENT, num_after: 0 });
    store.messages.put(reply.messages);
    range.ids = reply.messages.map((/** @type {any} */ message) => message.id);
    range.hasOldest = reply.found_oldest;
    range.isLoaded = range.hasNewest = true;
    range.isStale = false;
    range.bump();
  });
  const list = h("ul", { class: "recent" });
  const empty = h("div", { class: "empty", hidden: true });
  /** @typedef {{ key: string, terms: import("../../types/api.js").Term[], streamId: number | null, channel: string | null, color: string | null, name: string, isMuted: boolean, isFollowed: boolean, unread: number, people: { id: number, name: string, picture: string | null }[], time: string }} Row */
  const rowList = plainList(list, { key: (/** @type {Row} */ { key }) => key, create: conversationRow });
  const filter = filterInput("Filter recent conversations", text);
  const toggles = /** @type {[string, string][]} */ ([
    ["dm", "Direct messages"],
    ["unread", "Unread"],
    ["participated", "Participated"],
    ["muted", "Muted"],
  ]).map(([key, label]) =>
    h(
      "button",
      {
        type: "button",
        class: "button button--small",
        dataset: { only: key },
        "aria-pressed": String(only.peek().has(key)),
        onclick: (/** @type {Event} */ event) => {
          const next = new Set(only.peek());
          if (!next.delete(key)) next.add(key);
          only.value = next;
          /** @type {HTMLElement} */ (event.currentTarget).setAttribute("aria-pressed", String(next.has(key)));
          keep("recent", JSON.stringify([...next]));
        },
      },
      label,
    ),
  );
  const element = h(
    "section",
    { class: "page", "aria-label": "Recent conversations" },
    h("div", { class: "page__tools" }, filter, toggles),
    list,
    empty,
    older,
  );

  async function loadOlder() {
    older.disabled = true;
    const from = range.ids[0];
    const params = { anchor: from, include_anchor: false, num_before: RECENT, num_after: 0 };
    const reply = await session.attempt(getMessages({ narrow: [{ operator: "in", operand: "all" }], ...params }));
    older.disabled = false;
    if (!reply || range.ids[0] !== from) return;
    store.messages.put(reply.messages);
    range.hasOldest = reply.found_oldest;
    range.merge(reply.messages.map((/** @type {any} */ message) => message.id));
  }

  /** @param {Row} row */
  function conversationRow({ terms, streamId, channel, color, name, isMuted, isFollowed, unread, people, time }) {
    return h(
      "li",
      { class: "conversation-row", dataset: isMuted ? { muted: "" } : {} },
      h(
        "a",
        { class: "conversation", href: `#${app.fragmentOf(terms)}`, style: color ? { "--channel": color } : {} },
        h(
          "span",
          { class: "conversation__place" },
          streamId === null
            ? [icon("mail"), h("span", null, "Direct")]
            : [channelIcon(channelOf(store, streamId)), h("span", null, channel)],
        ),
        h("span", { class: "conversation__name", dir: "auto" }, name),
        isFollowed && icon("follow"),
        countBadge(unread, { isMuted }),
        h(
          "span",
          {
            class: "conversation__people",
            title: people
              .slice(0, 10)
              .map((person) => person.name)
              .join(", "),
          },
          people.slice(0, 4).map(({ id }) => avatar(userOf(store, id), 20)),
          people.length > 4 && h("span", { class: "muted" }, `+${people.length - 4}`),
        ),
        h("span", { class: "conversation__time" }, time),
      ),
    );
  }

  return {
    element,
    filter,
    start() {
      bindListKeys(element);
      load.watch();
      void load.start();
      effect(() => {
        range.version.value;
        store.on("unread");
        store.on("userTopics");
        store.on("channels");
        /** @type {Map<string, { newest: any, senders: Set<number>, isMine: boolean }>} */
        const conversations = new Map();
        for (const id of range.ids.toReversed()) {
          const message = store.messages.byId.get(id);
          if (!message || (message.type === "stream" && !channelOf(store, Number(message.stream_id)).subscribed)) continue;
          const key = conversationKey(store, message);
          const found = conversations.get(key) ?? { newest: message, senders: new Set(), isMine: false };
          found.senders.add(message.sender_id);
          found.isMine ||= message.sender_id === store.selfId;
          conversations.set(key, found);
        }
        const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
        const is24 = Boolean(store.setting("twenty_four_hour_time"));
        const rows = [...conversations].flatMap(([key, { newest, senders, isMine }]) => {
          const isChannel = newest.type === "stream";
          const others = isChannel ? [] : otherIds(store, recipientIds(newest));
          const { name: channel, color } = isChannel ? channelOf(store, newest.stream_id) : { name: null, color: null };
          const name = isChannel ? topicName(store, newest.subject) : namesOf(store, others);
          const isMuted = isChannel
            ? isTopicMuted(store, newest.stream_id, newest.subject)
            : others.every((id) => store.mutedUsers.has(id));
          const unread = unreadCount(store, key);
          if (
            (!isChannel && !only.value.has("dm")) ||
            (only.value.has("unread") && unread === 0) ||
            (only.value.has("participated") && !isMine) ||
            (isMuted && !only.value.has("muted")) ||
            !words.every((word) => `${channel ?? ""} ${name}`.toLowerCase().includes(word))
          )
            return [];
          const streamId = isChannel ? Number(newest.stream_id) : null;
          const isFollowed = isChannel && policyOf(store, newest.stream_id, newest.subject) === FOLLOWED;
          const terms = conversationTerms(store, newest);
          const people = [...senders].map((id) => ({ id, name: userOf(store, id).full_name, picture: userOf(store, id).avatar_url }));
          return [
            { key, terms, streamId, channel, color, name, isMuted, isFollowed, unread, people, time: relativeTime(newest.timestamp, is24) },
          ];
        });
        rowList.set(rows);
        older.hidden = !range.isLoaded || range.hasOldest;
        empty.hidden = rows.length > 0;
        if (!empty.hidden) fill(empty, range.isLoaded ? h("p", null, "There is nothing here.") : load.hint());
      });
    },
  };
}
