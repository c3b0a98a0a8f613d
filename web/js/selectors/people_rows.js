/**
 * The right column: people of the conversation that is open, and the others. Pure.
 * @module
 */

import { t } from "../lib/words.js";
import { presenceOf } from "../store/users.js";
import { channelOfRoute } from "./narrow.js";
import { matchesWords, rank } from "./ranking.js";
import { collator } from "./sidebar_items.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../../types/api.js").User} User */
/** @typedef {{ user: User, presence: "active" | "idle" | "offline", status: import("../../types/api.js").Status | undefined }} Person */

const RANK = { active: 0, idle: 1, offline: 2 };

/** The number of people above which those who are offline, and not in the conversation, are listed only if the filter matches. */
const MANY = 600;

/** The people of a view, and a title for them; null if the view has none of its own, or they are not known.
 * @param {Store} store @param {import("../../types/app.js").Route} route @returns {{ title: string, ids: Set<number> } | null} */
export function peopleOf(store, route) {
  if (route.kind === "narrow" && route.narrow.kind === "dm")
    return { title: t("In this conversation"), ids: new Set([...route.narrow.userIds, store.selfId]) };
  const streamId = channelOfRoute(route);
  const ids = streamId === null ? undefined : store.subscribers.get(streamId);
  return ids ? { title: t("In this channel"), ids } : null;
}

/** People by presence, then name; oneself first.
 * @param {Store} store @param {{ filter: string, now: number, here: Set<number> | null }} shown `here`: the people of the view.
 * @returns {{ here: Person[], others: Person[], hidden: number }} `hidden`: how many are left out. */
export function peopleRows(store, { filter, now, here }) {
  const wanted = filter.trim();
  // The order is that of presence. Names in scripts without spaces match anywhere; others would hide those that begin with the text.
  const isAnywhere = /\P{ASCII}/u.test(wanted);
  /** @param {User} user */
  const fits = ({ full_name }) => wanted === "" || (isAnywhere ? rank(full_name, wanted) !== null : matchesWords(full_name, wanted));
  /** @type {Person[]} */
  const people = [];
  for (const user of store.users.values()) {
    if (user.is_active === false || user.is_bot || !fits(user)) continue;
    people.push({ user, presence: presenceOf(store, user.user_id, now), status: store.statuses.get(user.user_id) });
  }
  const isLarge = people.length > MANY && wanted === "";
  const isSelf = (/** @type {Person} */ { user }) => user.user_id === store.selfId;
  const isHere = (/** @type {Person} */ { user }) => here?.has(user.user_id) === true;
  const order = (/** @type {Person} */ one, /** @type {Person} */ other) =>
    Number(isSelf(other)) - Number(isSelf(one)) ||
    RANK[one.presence] - RANK[other.presence] ||
    collator.compare(one.user.full_name, other.user.full_name);
  const others = people.filter((person) => !isHere(person));
  const listed = isLarge ? others.filter((person) => person.presence !== "offline" || isSelf(person)) : others;
  return { here: people.filter(isHere).sort(order), others: listed.sort(order), hidden: others.length - listed.length };
}
