/**
 * The visible part of a picture: how much it is enlarged, and how far it is moved from the middle. Pure.
 * @module
 */

/** @typedef {{ scale: number, x: number, y: number }} Zoom Enlarged by `scale` around the middle, then moved. */
/** @typedef {{ x: number, y: number }} Point From the middle of the stage. */
/** @typedef {{ width: number, height: number }} Size */

/** The whole picture. @type {Zoom} */
export const WHOLE = { scale: 1, x: 0, y: 0 };

const MAX = 8;

/** A smaller scale shows the whole picture. */
const ALMOST = 1.02;

/** @param {number} value @param {number} limit */
const within = (value, limit) => Math.max(-limit, Math.min(limit, value));

/** Limits the movement of the picture to the part that is larger than the stage. @param {Zoom} zoom @param {Size} picture Its size when it is whole. @param {Size} stage @returns {Zoom} */
export function clamped({ scale, x, y }, picture, stage) {
  if (scale < ALMOST) return WHOLE;
  const [wide, high] = [picture.width * scale - stage.width, picture.height * scale - stage.height];
  return { scale, x: within(x, Math.max(0, wide / 2)), y: within(y, Math.max(0, high / 2)) };
}

/** Enlarges by a factor around a point. @param {Zoom} zoom @param {number} factor @param {Point} at @returns {Zoom} */
export function zoomed({ scale, x, y }, factor, at) {
  const next = Math.max(1, Math.min(MAX, scale * factor));
  const ratio = next / scale;
  return { scale: next, x: at.x - (at.x - x) * ratio, y: at.y - (at.y - y) * ratio };
}

/** @param {Zoom} zoom @param {number} x @param {number} y @returns {Zoom} */
export const moved = (zoom, x, y) => ({ ...zoom, x: zoom.x + x, y: zoom.y + y });

/** The middle of two fingers and the space between them. @param {Point} one @param {Point} other */
export const pinch = (one, other) => ({
  x: (one.x + other.x) / 2,
  y: (one.y + other.y) / 2,
  space: Math.hypot(one.x - other.x, one.y - other.y) || 1,
});
