/**
 * The time zone of the user, and that of the computer. Pure.
 * @module
 */

/** What to do with the zone of the computer: take it over if the user has none yet, offer it if it is another one, or nothing (null).
 * @param {{ timezone?: string, web_suggest_update_timezone?: boolean }} settings @param {string} here @param {string | null} declined The zone that the user has declined.
 * @returns {"take" | "offer" | null} */
export function zoneAction({ timezone = "", web_suggest_update_timezone: suggests = true }, here, declined) {
  if (here === "" || here === timezone) return null;
  if (timezone === "") return "take";
  return suggests && declined !== here ? "offer" : null;
}
