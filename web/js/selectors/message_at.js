/**
 * Finding the first message of a day.
 * @module
 */

/** @typedef {{ id: number, timestamp: number }} Dated */

/** How many messages each request fetches before and after the guessed id. */
const AROUND = 20;

/** The most requests for one day. */
const TRIES = 40;

/** The first message of a day, or the last one before it. An interpolation search over ids, because the API has no dates.
 * @param {(params: { anchor: number | "oldest" | "newest", num_before: number, num_after: number }) => Promise<Dated[]>} load In the order of ids.
 * @param {number} seconds @param {boolean} isBefore @returns {Promise<number | null>} null if there is none */
export async function messageAt(load, seconds, isBefore) {
  const [first] = await load({ anchor: "oldest", num_before: 0, num_after: 1 });
  const last = (await load({ anchor: "newest", num_before: 1, num_after: 0 })).at(-1);
  if (!first || !last) return null;
  if (seconds <= first.timestamp) return isBefore ? null : first.id;
  if (seconds > last.timestamp) return isBefore ? last.id : null;
  // The day begins behind `low`, and with `high` at the latest.
  let [low, high] = [first, last];
  for (let count = 0; count < TRIES; count++) {
    const share = count % 2 === 0 ? (seconds - low.timestamp) / Math.max(1, high.timestamp - low.timestamp) : 0.5;
    const anchor = Math.floor(low.id + (high.id - low.id) * Math.min(0.95, Math.max(0.05, share)));
    const found = await load({ anchor, num_before: AROUND, num_after: AROUND });
    const earlier = found.findLast(({ timestamp }) => timestamp < seconds);
    const later = found.find(({ timestamp }) => timestamp >= seconds);
    if (earlier && later) return isBefore ? earlier.id : later.id;
    const [before, behind] = [low, high];
    if (earlier && earlier.id > low.id) low = earlier;
    if (later && later.id < high.id) high = later;
    if (low === before && high === behind) break;
  }
  return isBefore ? low.id : high.id;
}
