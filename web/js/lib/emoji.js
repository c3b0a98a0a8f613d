/**
 * Emoji: characters of the system, by the published codes and names.
 * @module
 */

/** The characters of a code such as `1f44d` or `1f1e6-1f1e8`. @param {string} code */
export function charactersOf(code) {
  const points = code.split("-").map((part) => Number.parseInt(part, 16));
  if (!points.every((point) => point <= 0x10ffff)) return "";
  const text = String.fromCodePoint(...points);
  // Some are drawn as text without this character.
  return points.length === 1 && points[0] < 0x1f000 ? `${text}\uFE0F` : text;
}
