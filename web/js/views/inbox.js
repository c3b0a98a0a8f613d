/**
 * Overviews of conversations: the inbox with everything unread, and the recent conversations.
 * @module
 */

import { getMessages } from "../api/endpoints.js";
import { closest, fill, h, icon, iconButton } from "../lib/dom.js";
import { drawRows } from "../lib/keyed_list.js";
import { asList, parseJson } from "../lib/parse.js";
import { effect, onEnd, signal } from "../lib/signal.js";
import { relativeTime } from "../lib/time.js";
import { bind } from "../platform/keyboard.js";
import { conversationTerms } from "../selectors/narrow.js";
import { inboxSections, namesOf } from "../selectors/sidebar_items.js";
import { topicName } from "../selectors/title.js";
import { channelOf, FOLLOWED, isTopicMuted, policyOf, subscribedChannels } from "../store/channels.js";
import { conversationKey, otherIds, recipientIds } from "../store/conversations.js";
import { unreadCount } from "../store/unread.js";
import { userOf } from "../store/users.js";
import { avatar, channelIcon, countBadge, select } from "./parts.js";

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
  const topics = signal(/** @type {"all" | "unmuted" | "followed"} */ (localStorage.getItem("teamchat/inbox") ?? "unmuted"));
  /** @type {Set<string>} */
  const foldedSections = new Set();
  const folds = signal(0);
  const list = h("div", { class: "inbox__list" });
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
      localStorage.setItem("teamchat/inbox", value);
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
        { type: "button", class: "button", onclick: () => void session.attempt(session.markNarrow([], "add")) },
        icon("check"),
        "Mark all as read",
      ),
    ),
    list,
  );

  return {
    element,
    start() {
      bindListKeys(element);
      effect(() => {
        store.on("unread");
        store.on("channels");
        store.on("userTopics");
        store.on("users");
        folds.value;
        const sections = inboxSections(store, { filter: text.value, topics: topics.value });
        const focused = document.activeElement?.getAttribute("href");
        fill(
          list,
          sections.length === 0 &&
            h(
              "div",
              { class: "empty" },
              icon("inbox"),
              h("p", null, text.value ? "Nothing fits." : "You have read everything."),
              !text.value && [
                h("p", { class: "muted" }, "New messages appear here, by conversation. Look around in the channels meanwhile:"),
                h(
                  "p",
                  { class: "choices" },
                  subscribedChannels(store)
                    .slice(0, SUGGESTED)
                    .map((channel) =>
                      h("a", { class: "button", href: `#${app.channelFragment(channel.stream_id)}` }, channelIcon(channel), channel.name),
                    ),
                ),
              ],
            ),
          sections.map((section) => {
            const isFolded = foldedSections.has(section.key);
            return h(
              "section",
              { class: "inbox-section", style: section.channel ? { "--channel": section.channel.color } : {} },
              h(
                "header",
                { class: "inbox-section__head", dataset: section.channel?.is_muted ? { muted: "" } : {} },
                h(
                  "button",
                  { type: "button", class: "sidebar__fold", "aria-expanded": String(!isFolded), dataset: { section: section.key } },
                  icon("chevron"),
                  section.channel ? channelIcon(section.channel) : icon("mail"),
                  section.title,
                  countBadge(section.count, { isMuted: section.channel?.is_muted }),
                ),
              ),
              !isFolded &&
                h(
                  "ul",
                  null,
                  drawRows(section.conversations, (item) => {
                    const terms = item.userIds
                      ? [{ operator: "dm", operand: item.userIds }]
                      : [
                          { operator: "channel", operand: Number(item.streamId) },
                          { operator: "topic", operand: String(item.topic) },
                        ];
                    const name = item.userIds ? namesOf(store, item.userIds) : topicName(store, String(item.topic));
                    return h(
                      "li",
                      { class: "conversation-row", dataset: item.isMuted ? { muted: "" } : {} },
                      h(
                        "a",
                        { class: "conversation", href: `#${app.fragmentOf(terms)}` },
                        item.userIds?.length === 1 ? avatar(userOf(store, item.userIds[0]), 24) : item.userIds ? icon("group") : null,
                        h("span", { class: "conversation__name" }, name),
                        item.isFollowed && icon("follow"),
                        countBadge(item.count, { hasMention: item.hasMention, isMuted: item.isMuted }),
                      ),
                      iconButton("check", `Mark ${name} as read`, {
                        onclick: () => void session.attempt(session.markNarrow(terms, "add")),
                      }),
                    );
                  }),
                ),
            );
          }),
        );
        if (focused) /** @type {HTMLElement | null} */ (list.querySelector(`a[href="${CSS.escape(focused)}"]`))?.focus();
      });
      list.addEventListener("click", (event) => {
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
  const only = signal(/** @type {Set<string>} */ (new Set(asList(parseJson(localStorage.getItem("teamchat/recent") ?? '["dm"]')))));
  const range = store.messages.range("recent", [{ operator: "in", operand: "all" }]);
  const list = h("ul", { class: "recent" });
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
          localStorage.setItem("teamchat/recent", JSON.stringify([...next]));
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
  );

  return {
    element,
    filter,
    start() {
      bindListKeys(element);
      if (!range.isLoaded || range.isStale) {
        void session.attempt(
          getMessages({ narrow: [{ operator: "in", operand: "all" }], anchor: "newest", num_before: RECENT, num_after: 0 }).then(
            (reply) => {
              store.messages.put(reply.messages);
              range.ids = reply.messages.map((/** @type {any} */ message) => message.id);
              range.isLoaded = range.hasNewest = true;
              range.isStale = false;
              range.bump();
            },
          ),
        );
      }
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
        const rows = drawRows([...conversations], ([key, { newest, senders, isMine }]) => {
          const isChannel = newest.type === "stream";
          const others = isChannel ? [] : otherIds(store, recipientIds(newest));
          const channel = isChannel ? channelOf(store, newest.stream_id) : null;
          const name = isChannel ? topicName(store, newest.subject) : namesOf(store, others);
          const isMuted = isChannel
            ? isTopicMuted(store, newest.stream_id, newest.subject)
            : others.every((id) => store.mutedUsers.has(id));
          const unread = unreadCount(store, key);
          if (
            (!isChannel && !only.value.has("dm")) ||
            (only.value.has("unread") && unread === 0) ||
            (only.value.has("participated") && !isMine) ||
            (isMuted && !only.value.has("muted"))
          )
            return null;
          if (!words.every((word) => `${channel?.name ?? ""} ${name}`.toLowerCase().includes(word))) return null;
          return h(
            "li",
            { class: "conversation-row", dataset: isMuted ? { muted: "" } : {} },
            h(
              "a",
              {
                class: "conversation",
                href: `#${app.fragmentOf(conversationTerms(store, newest))}`,
                style: channel ? { "--channel": channel.color } : {},
              },
              h("span", { class: "conversation__place" }, channel ? [channelIcon(channel), channel.name] : [icon("mail"), "Direct"]),
              h("span", { class: "conversation__name" }, name),
              isChannel && policyOf(store, newest.stream_id, newest.subject) === FOLLOWED && icon("follow"),
              countBadge(unread, { isMuted }),
              h(
                "span",
                {
                  class: "conversation__people",
                  title: [...senders]
                    .slice(0, 10)
                    .map((id) => userOf(store, id).full_name)
                    .join(", "),
                },
                [...senders].slice(0, 4).map((id) => avatar(userOf(store, id), 20)),
                senders.size > 4 && h("span", { class: "muted" }, `+${senders.size - 4}`),
              ),
              h("span", { class: "conversation__time" }, relativeTime(newest.timestamp, is24)),
            ),
          );
        }).filter((row) => row !== null);
        fill(
          list,
          rows.length > 0 ? rows : h("li", { class: "empty" }, h("p", null, range.isLoaded ? "There is nothing here." : "Loading…")),
        );
      });
    },
  };
}
