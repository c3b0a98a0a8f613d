/**
 * Small parts that several views share.
 * @module
 */

import { focusedIndex, h, icon } from "../lib/dom.js";
import { charactersOf } from "../lib/emoji.js";
import { parseUrl } from "../lib/parse.js";
import { flush } from "../lib/signal.js";
import { debounce } from "../lib/timing.js";
import { t } from "../lib/words.js";
import { isComposing } from "../platform/keyboard.js";
import { GUEST } from "../store/users.js";

/** @typedef {import("../../types/api.js").User} User */
/** @typedef {import("../../types/api.js").Channel} Channel */
/** @typedef {import("../lib/dom.js").Child} Child */

/** @param {{ user_id: number, avatar_url: string | null }} user @param {number} [size] */
export function avatar(user, size = 36) {
  const url = user.avatar_url || `/avatar/${user.user_id}`;
  return h("img", { class: "avatar", src: ownPath(url), alt: "", width: size, height: size, loading: "lazy", decoding: "async" });
}

/** The path of a URL of this server; other servers are not asked. @param {string} url */
export function ownPath(url) {
  const parsed = parseUrl(url);
  return parsed && (parsed.origin === location.origin || parsed.pathname.startsWith("/user_avatars/"))
    ? `${parsed.pathname}${parsed.search}`
    : "/static/images/unknown-user-avatar.png";
}

/** @param {Channel} channel */
export const channelIcon = (channel) => icon(channel.is_web_public ? "globe" : channel.invite_only ? "lock" : "hash");

/** @param {"active" | "idle" | "offline"} presence */
export function presenceDot(presence) {
  const words = { active: t("Active"), idle: t("Away"), offline: t("Offline") };
  return h("span", { class: "presence", dataset: { presence }, title: words[presence], role: "img", "aria-label": words[presence] });
}

/** Whether someone is marked as a guest, as the organization wants. @param {import("../store/store.js").Store} store @param {User} user */
export const isMarkedGuest = ({ state }, { role }) => role === GUEST && state.realm_enable_guest_user_indicator === true;

/** Marks guests. @param {import("../store/store.js").Store} store @param {User} user */
export const guestBadge = (store, user) => (isMarkedGuest(store, user) ? h("span", { class: "badge" }, t("guest")) : null);

/** A count of unread messages. A mention is shown also where they are not counted. @param {number} count @param {{ isMuted?: boolean, hasMention?: boolean }} [how] */
export function countBadge(count, { isMuted = false, hasMention = false } = {}) {
  if (count === 0 && !hasMention) return null;
  const text = count > 999 ? "999+" : String(count);
  return h(
    "span",
    { class: "count", dataset: isMuted ? { muted: "" } : {} },
    hasMention && h("span", { class: "count__mention", "aria-label": t("mentions you"), role: "img" }, "@"),
    count > 0 && h("span", { "aria-label": t("{count} unread", { count }), role: "img" }, text),
  );
}

/** An emoji: a character, or the organization's picture.
 * @param {import("../store/store.js").Store} store @param {{ emoji_name?: string, emoji_code?: string, reaction_type?: string }} emoji */
export function emojiElement(store, { emoji_name = "", emoji_code = "", reaction_type }) {
  if (reaction_type === "unicode_emoji") {
    return h(
      "span",
      { class: "emoji", role: "img", "aria-label": emoji_name.replaceAll("_", " ") },
      store.setting("emojiset") === "text" ? `:${emoji_name}:` : charactersOf(emoji_code),
    );
  }
  const own = store.state.realm_emoji?.[emoji_code];
  const url = reaction_type === "realm_emoji" ? own?.source_url : "/static/generated/emoji/images/emoji/unicode/zulip.png";
  return url
    ? h("img", { class: "emoji", src: ownPath(url), alt: `:${emoji_name}:`, title: emoji_name, width: 20, height: 20 })
    : h("span", null, `:${emoji_name}:`);
}

/** @param {[string | number, string][]} options @param {string | number | null | undefined} value @param {(value: string) => void} [onchange] @param {{ disabled?: boolean, label?: string }} [more] */
export function select(options, value, onchange, { disabled = false, label } = {}) {
  const element = h(
    "select",
    { disabled, "aria-label": label },
    options.map(([key, text]) => h("option", { value: String(key) }, text)),
  );
  element.value = String(value);
  if (onchange) element.onchange = () => onchange(element.value);
  return element;
}

/** An action whose calls do nothing while it is still running, as after a double click.
 * @template {unknown[]} A @param {(...args: A) => unknown} run @returns {(...args: A) => Promise<void>} */
export function onceAtATime(run) {
  let isRunning = false;
  return async (...args) => {
    if (isRunning) return;
    isRunning = true;
    try {
      await run(...args);
    } finally {
      isRunning = false;
    }
  };
}

/** A button. @param {Child} label @param {() => unknown} run @param {"" | "primary" | "danger" | "small"} [kind] @param {import("../lib/dom.js").Props} [props] */
export function button(label, run, kind = "", props = {}) {
  const onclick = onceAtATime(() => run());
  return h("button", { type: "button", class: kind ? `button button--${kind}` : "button", onclick, ...props }, label);
}

/** The field above a column that filters it. Enter opens the first entry, Escape clears the field.
 * @param {string} label @param {import("../lib/signal.js").Signal<string>} filter @param {() => HTMLElement | null} first */
export function columnFilter(label, filter, first) {
  const take = () => {
    filter.value = input.value.trim();
  };
  const takeSoon = debounce(take, 80);
  const input = h("input", {
    type: "search",
    placeholder: label,
    "aria-label": label,
    class: "sidebar__filter",
    oninput: () => takeSoon(),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (isComposing(event)) return;
      if (event.key === "Escape") {
        input.value = "";
        filter.value = "";
        input.blur();
      }
      if (event.key === "Enter") {
        // The list may be behind what was typed.
        take();
        flush();
        first()?.click();
      }
    },
  });
  return input;
}

/** Runs `draw`, which replaces or removes elements of `host`. If the focused element is removed, the one in its place gets the focus.
 * @param {HTMLElement} host @param {() => void} draw */
export function keepFocus(host, draw) {
  const controls = () => /** @type {HTMLElement[]} */ ([...host.querySelectorAll("a, button, input, select, textarea")]);
  const focused = document.activeElement;
  const at = host.contains(focused) ? focusedIndex(controls()) : -1;
  draw();
  if (at >= 0 && document.activeElement !== focused) (controls()[at] ?? controls().at(-1))?.focus({ preventScroll: true });
}
