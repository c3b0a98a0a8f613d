/**
 * Parts of the overviews of conversations.
 * @module
 */

import { focusedIndex, h } from "../lib/dom.js";
import { onEnd } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { bind } from "../platform/keyboard.js";
import { routeOf } from "../selectors/routes.js";
import { toggledMute } from "../store/channels.js";
import { setTopicPolicy } from "./on_demand.js";

/** Keys that move the focus over links of a list, and that mute the topic of one. @param {import("../../types/app.js").App} app @param {HTMLElement} element */
export function bindListKeys(app, element) {
  const links = () => /** @type {HTMLElement[]} */ ([...element.querySelectorAll("a.conversation")]);
  /** @param {number} step */
  const move = (step) => {
    const all = links();
    const at = focusedIndex(all);
    const next = all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + step))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  onEnd(bind({ keys: ["ArrowDown", "j"], label: t("Next row"), group: t("Reading"), run: () => move(1) }));
  onEnd(bind({ keys: ["ArrowUp", "k"], label: t("Previous row"), group: t("Reading"), run: () => move(-1) }));
  const toggleMute = () => {
    const link = /** @type {HTMLAnchorElement | null} */ (element.querySelector("a.conversation:focus"));
    const route = link && routeOf(app.store, link.hash.slice(1));
    if (route?.kind !== "narrow" || route.narrow.kind !== "topic") return false;
    const { streamId, topic } = route.narrow;
    void setTopicPolicy(app, streamId, topic, toggledMute(app.store, streamId, topic));
  };
  onEnd(bind({ keys: ["M"], label: t("Mute or unmute the topic"), group: t("Messages"), run: toggleMute }));
}

/** @param {string} label @param {import("../lib/signal.js").Signal<string>} text Gets what is written. */
export function filterInput(label, text) {
  const oninput = () => {
    text.value = input.value;
  };
  const input = h("input", { type: "search", placeholder: t("Filter"), "aria-label": label, oninput });
  return input;
}
