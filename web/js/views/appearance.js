/**
 * Theme and sizes, by the user's settings.
 * @module
 */

import { setLocale } from "../lib/words.js";

/** @param {import("../store/store.js").Store} store */
export function applyAppearance(store) {
  store.on("settings");
  const { documentElement: root } = document;
  setLocale(store.setting("default_language") ?? "en", navigator.languages);
  const scheme = store.setting("color_scheme");
  root.dataset.theme = scheme === 2 ? "dark" : scheme === 3 ? "light" : "auto";
  root.style.setProperty("--font-size", `${store.setting("web_font_size_px") ?? 16}px`);
  root.style.setProperty("--line-height", String((store.setting("web_line_height_percent") ?? 140) / 100));
  root.dataset.contrast = store.setting("high_contrast_mode") ? "more" : "auto";
  root.classList.toggle("is-fluid", Boolean(store.setting("fluid_layout_width")));
}
