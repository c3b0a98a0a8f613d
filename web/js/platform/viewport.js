/**
 * The height of the page above an on-screen keyboard, as `--height`. Browsers that support `interactive-widget` resize the page
 * themselves; others shrink only the visual viewport.
 * @module
 */

export function watchViewport() {
  const viewport = window.visualViewport;
  if (!viewport) return;
  const resized = () => {
    const isCovered = window.innerHeight - viewport.height > 80 && viewport.scale === 1;
    document.documentElement.style.setProperty("--height", isCovered ? `${viewport.height}px` : "100dvh");
    if (isCovered) window.scrollTo(0, 0);
  };
  viewport.addEventListener("resize", resized);
  viewport.addEventListener("scroll", resized);
}

/** The height of the page that can be seen, in pixels: without the keyboard, and without regard to zoom. */
export const visibleHeight = () => (window.visualViewport?.scale === 1 ? window.visualViewport.height : window.innerHeight);

export const isTouch = () => matchMedia("(pointer: coarse)").matches;
