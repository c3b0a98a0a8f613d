/**
 * Routes: the view of a fragment of the URL, and the target of a click on a channel. Pure.
 * @module
 */

import { untracked } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { channelOf, topTopic } from "../store/channels.js";
import { newestUnreadTopics } from "../store/unread.js";
import { channelOfRoute, channelTerms, fragmentOf, kindOf, parseNarrow, topicsFragment, topicTerms } from "./narrow.js";
import { narrowName } from "./title.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {import("../../types/app.js").Route} Route */

/** @type {Term[]} */
const FEED = [{ operator: "in", operand: "home" }];

/** Fragments of the combined feed. */
const OF_FEED = ["feed", "all_messages"];

/** Whether a fragment leads to messages, before the state is loaded. @param {string} fragment Without `#`. */
export const meansMessages = (fragment) => OF_FEED.includes(fragment) || fragment.startsWith("narrow/");

/** @param {Store} store @param {string} fragment Without `#`. @returns {Route} */
export function routeOf(store, fragment) {
  const feed = /** @type {Route} */ ({ kind: "narrow", terms: FEED, narrow: kindOf(FEED) });
  if (fragment === "inbox" && !store.isVisitor) return { kind: "inbox" };
  if (fragment === "recent" || fragment === "recent_topics") return { kind: "recent" };
  if (OF_FEED.includes(fragment)) return feed;
  const listed = Number(/^topics\/channel\/(\d+)/.exec(fragment)?.[1]);
  if (listed && store.channels.has(listed)) return { kind: "topics", streamId: listed };
  if (fragment.startsWith("narrow/")) {
    const terms = untracked(() => parseNarrow(store, fragment.slice("narrow/".length)));
    if (terms) return { kind: "narrow", terms, narrow: kindOf(terms) };
  }
  const home = store.setting("web_home_view");
  return home === "recent_topics" ? { kind: "recent" } : home === "all_messages" ? feed : { kind: "inbox" };
}

/** Operators whose messages are the same for all users. @type {string[]} */
const OF_VISITORS = ["channel", "channels", "topic", "sender", "has", "search", "near", "id", "with"];

/** @param {Term} term */
const isOfVisitors = ({ operator, operand, negated }) =>
  OF_VISITORS.includes(operator) || (operator === "is" && operand === "resolved") || (operator === "in" && operand === "home" && !negated);

/** Whether the user may see what a view names. @param {Store} store @param {Route} route */
export function isKnownRoute(store, route) {
  if (store.isVisitor && route.kind === "narrow" && !route.terms.every(isOfVisitors)) return false;
  const id = channelOfRoute(route);
  return id === null || store.channels.has(id);
}

/** The fragment of a narrow as views write it. @param {Store} store @param {Term[]} terms */
export const narrowFragment = (store, terms) =>
  terms.length === 1 && terms[0].operator === "in" && terms[0].operand === "home" ? "feed" : fragmentOf(store, terms);

/** Where a click on a channel leads, by the user's setting. @param {Store} store @param {number} streamId */
export function channelFragment(store, streamId) {
  const view = store.setting("web_channel_default_view");
  if (view === 3) return topicsFragment(store, streamId);
  const top = view === 1 || view === 4 ? topTopic(store, streamId) : undefined;
  if (top === undefined) return fragmentOf(store, channelTerms(streamId));
  const unread = view === 4 ? newestUnreadTopics(store).get(streamId)?.topic : undefined;
  return fragmentOf(store, topicTerms(streamId, unread ?? top));
}

/** The name of a view. @param {Store} store @param {Route} route */
export function viewName(store, route) {
  if (route.kind === "inbox") return t("Inbox");
  if (route.kind === "recent") return t("Recent conversations");
  if (route.kind === "topics") return t("Topics of #{channel}", { channel: channelOf(store, route.streamId).name });
  return narrowName(store, route.terms);
}
