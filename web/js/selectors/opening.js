/**
 * Where a timeline opens, what it fetches for that, and what it says where it has nothing. Pure.
 * @module
 */

import { t } from "../lib/words.js";

/** @typedef {import("../../types/api.js").Term} Term */
/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {import("./narrow.js").NarrowKind} NarrowKind */
/** @typedef {{ id: number, fraction: number }} Place A row, and where on the screen it was. */

/** What is said where there are no messages with a flag. @type {() => Record<string, string>} */
const noneYet = () => ({
  mentioned: t("Messages that mention you appear here."),
  starred: t("Messages that you star appear here. Only you can see your stars."),
});

/** Whether a narrow opens at its first unread message. @param {Term[]} terms @param {NarrowKind} kind */
export const beginsUnread = (terms, kind) => kind.kind !== "other" || terms.some(({ operator }) => operator === "is");

/** Whether messages come to a narrow and leave it without being fetched again, as long as it is open.
 * @param {Term[]} terms */
export const agesUnseen = (terms) =>
  terms.some(({ operator, operand }) => (operator === "is" ? operand === "unread" : operator === "has" && operand === "reaction"));

/** The anchor of the request that a timeline opens with; null where its messages are there.
 * @param {{ near: number | undefined, ids: number[] | null, beginsUnread: boolean }} view `ids`: what is known, if that is up to date.
 * @returns {number | "first_unread" | "newest" | null} */
export function anchorToLoad({ near, ids, beginsUnread }) {
  if (near !== undefined) return ids?.includes(near) ? null : near;
  if (ids) return null;
  return beginsUnread ? "first_unread" : "newest";
}

/** The message that the window opens around; infinite for the newest.
 * @param {{ near: number | undefined, firstUnread: number | null, place: Place | undefined, isFetched: boolean }} view `isFetched`: just now. */
export const centreOf = ({ near, firstUnread, place, isFetched }) =>
  near ?? firstUnread ?? (isFetched ? undefined : place?.id) ?? Number.POSITIVE_INFINITY;

/** The places to try, the best first; behind them all is the end. `isMark`: the message becomes the one that keys act on.
 * @param {{ near: number | undefined, unreadLine: number | null, place: Place | undefined }} view
 * @returns {(Place & { isMark: boolean, isTarget: boolean })[]} */
export function placesToTry({ near, unreadLine, place }) {
  const places = [];
  if (near !== undefined) places.push({ id: near, fraction: 0.3, isMark: true, isTarget: true });
  if (unreadLine !== null) places.push({ id: unreadLine, fraction: 0.25, isMark: true, isTarget: false });
  if (place) places.push({ ...place, isMark: false, isTarget: false });
  return places;
}

/** The first message that is not read. @param {number[]} ids @param {Map<number, Message>} byId @returns {number | null} */
export const firstUnreadOf = (ids, byId) => ids.find((id) => byId.get(id)?.flags.includes("read") === false) ?? null;

/** What is said where a narrow has no messages; `emptyTopic` says it of a topic. @param {NarrowKind} kind @param {Term[]} terms */
export function emptyText(kind, terms) {
  if (kind.kind === "dm") return t("There are no messages here yet. Write the first one below.");
  if (kind.kind === "channel") return t("There are no messages here yet. Begin the conversation below.");
  if (terms.some(({ operator }) => operator === "search")) return t("Nothing was found.");
  const [{ operator, operand, negated }] = terms;
  return (terms.length === 1 && operator === "is" && !negated && noneYet()[String(operand)]) || t("There are no messages here.");
}
