/**
 * The time zone of the user, and that of the computer. Pure.
 * @module
 */

/** What to do about the zone of the computer: take it over, where the user has none yet; offer it, where it is another; or nothing.
 * @param {{ timezone?: string, web_suggest_update_timezone?: boolean }} settings @param {string} here @param {string | null} declined The zone that was offered in vain.
 * @returns {"take" | "offer" | null} */
export function zoneAction({ timezone = "", web_suggest_update_timezone: suggests = true }, here, declined) {
  if (here === "" || here === timezone) return null;
  if (timezone === "") return "take";
  return suggests && declined !== here ? "offer" : null;
}
