/**
 * The rows of the left column as plain data; rows whose data have changed are drawn again. Pure.
 * @module
 */

import { createMemo } from "../lib/memo.js";
import { t } from "../lib/words.js";
import { topTopic } from "../store/channels.js";
import { directKey, topicKey } from "../store/conversations.js";
import { newestUnreadTopics, unreadCounts } from "../store/unread.js";
import { presenceOf, userOf } from "../store/users.js";
import { channelOfRoute } from "./narrow.js";
import { directItems, topicItems } from "./sidebar_items.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../../types/app.js").Route} Route */
/** @typedef {import("./sidebar_items.js").ChannelSection} ChannelSection */

/** @typedef {{ href: string, name: keyof import("../lib/icons.js")["icons"], label: string, count?: number, isQuiet?: boolean, key?: string, isCurrent: boolean }} ViewRow */

/** The views that the user left out of the column, and those that they added.
 * @param {Store} store @returns {{ hidden: Set<string>, own: { fragment: string, name: string }[] }} */
export function chosenViews(store) {
  const views = store.state.navigation_views ?? [];
  return {
    hidden: new Set(views.filter((view) => !view.is_pinned).map(({ fragment }) => fragment)),
    own: views.flatMap(({ fragment, name, is_pinned }) => (name && is_pinned ? [{ fragment, name }] : [])),
  };
}

/** The views that need no account. */
const VISITOR_VIEWS = ["recent", "feed"];

/** @param {Store} store @param {{ fragment: string, route: Route, drafts: number }} page @returns {ViewRow[]} */
export function viewRows(store, { fragment, route, drafts }) {
  const counts = unreadCounts(store);
  const later = (store.state.scheduled_messages ?? []).length + (store.state.reminders ?? []).length;
  const starred = store.setting("starred_message_counts") ? store.starred.size : 0;
  /** @type {Omit<ViewRow, "isCurrent">[]} */
  const all = [
    { href: "inbox", name: "inbox", label: t("Inbox"), count: counts.home, key: "I" },
    { href: "recent", name: "clock", label: t("Recent conversations"), key: "t" },
    { href: "feed", name: "feed", label: t("Combined feed"), key: "a" },
    { href: "narrow/is/mentioned", name: "at", label: t("Mentions"), count: counts.mentions },
    { href: "narrow/is/starred", name: "star", label: t("Starred"), count: starred, isQuiet: true, key: "*" },
  ];
  if (drafts > 0) all.push({ href: "drafts", name: "draft", label: t("Drafts"), count: drafts, isQuiet: true, key: "d" });
  if (later > 0) all.push({ href: "scheduled", name: "clock", label: t("Scheduled"), count: later, isQuiet: true });
  const { hidden, own } = chosenViews(store);
  const shown = all.filter(({ href }) => !hidden.has(href) && (!store.isVisitor || VISITOR_VIEWS.includes(href)));
  for (const { fragment: href, name: label } of own) shown.push({ href, name: "search", label });
  // The home view has an empty fragment, and older links have other ones.
  const kind = route.kind === "narrow" ? route.narrow.kind : route.kind;
  return shown.map((view) => ({ ...view, isCurrent: fragment === view.href || kind === view.href }));
}

/** @typedef {{ key: string, userIds: number[], name: string, unread: number, picture: string | null, presence: ReturnType<typeof presenceOf> | null, isCurrent: boolean }} DirectRow */

/** @param {Store} store @param {Route} route @param {boolean} all Not only those of late. @returns {(DirectRow | { key: "more" })[]} */
export function directRows(store, route, all) {
  const current = route.kind === "narrow" && route.narrow.kind === "dm" ? directKey(store, route.narrow.userIds) : null;
  const { items, hasMore } = directItems(store, current, all);
  const now = store.now();
  const rows = items.map(({ key, userIds, name, unread }) => {
    const isOne = userIds.length === 1;
    const picture = isOne ? userOf(store, userIds[0]).avatar_url : null;
    const presence = isOne ? presenceOf(store, userIds[0], now) : null;
    return { key, userIds, name, unread, picture, presence, isCurrent: key === current };
  });
  return hasMore ? [...rows, { key: "more" }] : rows;
}

/** @typedef {{ id: number, name: string, color: string, isMuted: boolean, kind: boolean[], count: number, isQuiet: boolean, hasMention: boolean, href: string, isCurrent: boolean }} ChannelRow */
/** @typedef {{ key: string, title: string, isFolded: boolean, hasHead: boolean, rows: ChannelRow[] }} SectionRow */

/** The setting by which a channel opens its newest unread topic. */
const TOP_UNREAD = 4;

const NONE = { unmuted: 0, muted: 0, hasMention: false };

/** Channels in their sections. Of a folded section, only the open channel is there.
 * @param {Store} store @param {ChannelSection[]} sections
 * @param {{ route: Route, folded: Set<string>, hrefOf: (streamId: number) => string }} page
 * @param {import("../lib/memo.js").Memo<ChannelRow>} [memo] Rows that stay the same are the same objects.
 * @returns {SectionRow[]} */
export function sectionRows(store, sections, { route, folded, hrefOf }, memo = createMemo()) {
  const counts = unreadCounts(store);
  const policy = store.setting("web_stream_unreads_count_display_policy") ?? 2;
  const view = store.setting("web_channel_default_view");
  const open = channelOfRoute(route);
  const isTopic = route.kind === "narrow" && route.narrow.kind === "topic";
  return sections.map(({ key, title, channels }) => {
    const isFolded = folded.has(key);
    const shown = isFolded ? channels.filter((channel) => channel.stream_id === open) : channels;
    const rows = shown.map((channel) => {
      const { stream_id: id, name, color, is_muted: isMuted, is_web_public, invite_only } = channel;
      const { unmuted, muted, hasMention } = counts.channels.get(id) ?? NONE;
      const count = policy === 3 ? 0 : unmuted || (policy === 1 ? muted : 0);
      const [isQuiet, isCurrent] = [unmuted === 0, id === open && !isTopic];
      // What the link depends on.
      const leads = [view, topTopic(store, id), view === TOP_UNREAD ? newestUnreadTopics(store).get(id)?.topic : null];
      return memo(id, [channel, count, isQuiet, hasMention, isCurrent, ...leads], () => {
        return { id, name, color, isMuted, kind: [is_web_public, invite_only], count, hasMention, isQuiet, href: hrefOf(id), isCurrent };
      });
    });
    return { key, title, isFolded, hasHead: sections.length > 1 || key !== "other", rows };
  });
}

/** @typedef {import("./sidebar_items.js").TopicItem & { streamId: number, isCurrent: boolean }} TopicRow */

/** The topics of the open channel, a row that shows all of them, and a row that starts a new topic. @param {Store} store @param {Route} route @param {boolean} all
 * @returns {(TopicRow | { key: "more" | "new", streamId: number })[]} */
export function topicRows(store, route, all) {
  const streamId = channelOfRoute(route);
  if (streamId === null || !store.channels.has(streamId)) return [];
  const current = route.kind === "narrow" && route.narrow.kind === "topic" ? route.narrow.topic : null;
  const { items, hasMore } = topicItems(store, streamId, current, all);
  const key = current === null ? null : topicKey(streamId, current);
  /** @type {(TopicRow | { key: "more" | "new", streamId: number })[]} */
  const rows = items.map((item) => ({ ...item, streamId, isCurrent: item.key === key }));
  if (hasMore) rows.push({ key: "more", streamId });
  return [...rows, { key: "new", streamId }];
}
