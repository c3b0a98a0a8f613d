/**
 * Completion in a text box: a list beside it, chosen with the arrows, Enter or Tab.
 * @module
 */

import { fill, h, icon } from "../lib/dom.js";
import { isComposing } from "../platform/keyboard.js";
import { completionsFor, triggerAt } from "../selectors/completions.js";
import { channelByName } from "../store/channels.js";
import { allEmoji, asReaction, loadEmoji } from "./emoji_picker.js";
import { avatar, channelIcon, emojiElement } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../selectors/completions.js").Completion} Completion */

/** @param {App} app @param {HTMLTextAreaElement} textarea @param {{ channel: number | null, isChannel: boolean }} context
 * @param {{ replace: (start: number, end: number, text: string) => void, chooseTime: () => void }} how */
export function attachAutocomplete(app, textarea, context, { replace, chooseTime }) {
  const id = `completions-${Math.random().toString(36).slice(2)}`;
  const list = h("div", { class: "completions", role: "listbox", id, "aria-label": "Completions" });
  /** @type {Completion[]} */
  let items = [];
  /** @type {import("../selectors/completions.js").Trigger | null} */
  let trigger = null;
  let at = 0;
  textarea.setAttribute("aria-autocomplete", "list");

  function close() {
    trigger = null;
    hide();
  }

  function hide() {
    list.remove();
    items = [];
    textarea.removeAttribute("aria-activedescendant");
    textarea.removeAttribute("aria-controls");
  }

  function update() {
    trigger = textarea.selectionStart === textarea.selectionEnd ? triggerAt(textarea.value, textarea.selectionStart) : null;
    if (!trigger) return close();
    if (trigger.kind === "emoji") void loadEmoji(app).then(() => trigger?.kind === "emoji" && show());
    if (trigger.kind === "topic") {
      const channel = trigger.channel ? channelByName(app.store, trigger.channel)?.stream_id : context.channel;
      if (channel !== undefined && channel !== null) void app.session.needTopics(channel)?.then(() => trigger?.kind === "topic" && show());
    }
    show();
  }

  function show() {
    if (!trigger) return;
    const emoji = trigger.kind === "emoji" ? allEmoji(app) : [];
    items = completionsFor(app.store, trigger, { ...context, recent: app.recentSenders(), emoji });
    if (items.length === 0) return hide();
    at = 0;
    fill(
      list,
      items.map((item, index) =>
        h(
          "div",
          {
            class: "completion",
            role: "option",
            id: `${id}-${index}`,
            "aria-selected": "false",
            onpointerdown: (/** @type {Event} */ event) => {
              event.preventDefault();
              choose(index);
            },
          },
          picture(item),
          h("span", { class: "completion__label" }, item.label),
          item.detail && h("span", { class: "completion__detail" }, item.detail),
        ),
      ),
    );
    if (!list.isConnected) textarea.after(list);
    textarea.setAttribute("aria-controls", id);
    mark();
  }

  /** @param {Completion} item */
  function picture({ user, channel, kind, emoji }) {
    if (user) return avatar(user, 20);
    if (channel && kind === "channel") return channelIcon(channel);
    if (emoji) return emojiElement(app.store, asReaction(emoji));
    return icon(kind === "group" || kind === "wildcard" ? "group" : kind === "time" ? "clock" : "chevron");
  }

  function mark() {
    [...list.children].forEach((option, index) => {
      option.setAttribute("aria-selected", String(index === at));
      if (index === at) option.scrollIntoView({ block: "nearest" });
    });
    textarea.setAttribute("aria-activedescendant", `${id}-${at}`);
  }

  /** @param {number} index */
  function choose(index) {
    const item = items[index];
    const current = trigger;
    if (!item || !current) return;
    const cursor = textarea.selectionStart;
    close();
    if (item.kind === "time") {
      replace(current.start, cursor, "");
      chooseTime();
      return;
    }
    replace(current.start, cursor, item.text);
  }

  textarea.addEventListener("input", update);
  textarea.addEventListener("click", update);
  textarea.addEventListener("blur", () => setTimeout(close, 150));
  textarea.addEventListener("keydown", (event) => {
    if (isComposing(event) || items.length === 0) return;
    const { key } = event;
    if (key === "ArrowDown") at = (at + 1) % items.length;
    else if (key === "ArrowUp") at = (at - 1 + items.length) % items.length;
    else if ((key === "Enter" && !event.ctrlKey && !event.metaKey) || key === "Tab") choose(at);
    else if (key === ">" && items[at].kind === "channel" && items[at].channel) {
      const [name, start, cursor] = [items[at].channel?.name, trigger?.start ?? 0, textarea.selectionStart];
      close();
      replace(start, cursor, `#**${name}>`);
      update();
    } else if (key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
    if (items.length > 0) mark();
  });

  return { isOpen: () => items.length > 0, close };
}
