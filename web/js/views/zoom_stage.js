/**
 * A stage on which a picture is enlarged and moved: with the wheel, two fingers, a double click, and keys.
 * @module
 */

import { fill, h } from "../lib/dom.js";
import { clamped, moved, pinch, WHOLE, zoomed } from "../lib/zoom.js";

/** How much a key, and a double click enlarge. */
const STEP = 1.5;
const DOUBLE = 2.5;

/** How far an arrow key moves the picture, in pixels. */
const WAY = 80;

/** @typedef {import("../lib/zoom.js").Zoom} Zoom */

/** @param {(zoom: Zoom) => void} onChange */
export function createZoomStage(onChange) {
  const element = h("div", { class: "lightbox__stage" });
  /** @type {HTMLImageElement | null} */
  let picture = null;
  /** @type {Zoom} */
  let zoom = WHOLE;
  /** The fingers, or the mouse button that is down. @type {Map<number, { x: number, y: number }>} */
  const pointers = new Map();

  /** @param {{ clientX: number, clientY: number }} event */
  const pointOf = ({ clientX, clientY }) => {
    const box = element.getBoundingClientRect();
    return { x: clientX - box.x - box.width / 2, y: clientY - box.y - box.height / 2 };
  };

  /** @param {Zoom} next */
  function set(next) {
    if (!picture) return;
    const stage = { width: element.clientWidth, height: element.clientHeight };
    zoom = clamped(next, { width: picture.offsetWidth, height: picture.offsetHeight }, stage);
    picture.style.setProperty("transform", `translate(${zoom.x}px, ${zoom.y}px) scale(${zoom.scale})`);
    element.dataset.zoomed = String(zoom.scale > 1);
    onChange(zoom);
  }

  /** @param {number} factor @param {{ x: number, y: number }} [at] */
  const by = (factor, at = { x: 0, y: 0 }) => set(zoomed(zoom, factor, at));
  const toggle = (/** @type {{ x: number, y: number } | undefined} */ at) => (zoom.scale > 1 ? set(WHOLE) : by(DOUBLE, at));

  element.addEventListener(
    "wheel",
    (event) => {
      if (!picture) return;
      event.preventDefault();
      by(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.002)), pointOf(event));
    },
    { passive: false },
  );
  element.addEventListener("dblclick", (event) => picture && toggle(pointOf(event)));
  element.addEventListener("pointerdown", (event) => {
    if (!picture || event.button !== 0) return;
    pointers.set(event.pointerId, pointOf(event));
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = pointOf(event);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    pointers.set(event.pointerId, now);
    if (!other) return set(moved(zoom, now.x - before.x, now.y - before.y));
    const [old, next] = [pinch(before, other), pinch(now, other)];
    set(moved(zoomed(zoom, next.space / old.space, old), next.x - old.x, next.y - old.y));
  });
  for (const type of /** @type {const} */ (["pointerup", "pointercancel"])) {
    element.addEventListener(type, (event) => pointers.delete(event.pointerId));
  }

  /** Keys that enlarge, and arrows that move what is enlarged. @param {KeyboardEvent} event @returns {boolean} whether it was one */
  function key({ key: pressed }) {
    if (!picture) return false;
    if (pressed === "+" || pressed === "=") by(STEP);
    else if (pressed === "-") by(1 / STEP);
    else if (pressed === "0") set(WHOLE);
    else if (zoom.scale > 1 && pressed.startsWith("Arrow")) {
      const [x, y] = { ArrowLeft: [WAY, 0], ArrowRight: [-WAY, 0], ArrowUp: [0, WAY], ArrowDown: [0, -WAY] }[pressed] ?? [0, 0];
      set(moved(zoom, x, y));
    } else return false;
    return true;
  }

  return {
    element,
    key,
    toggle: () => toggle(undefined),
    /** @param {HTMLElement} media Only pictures are enlarged. */
    show(media) {
      pointers.clear();
      fill(element, media);
      picture = media instanceof HTMLImageElement ? media : null;
      if (picture) picture.draggable = false;
      zoom = WHOLE;
      element.dataset.zoomed = "false";
      onChange(zoom);
    },
  };
}
