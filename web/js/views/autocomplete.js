/**
 * Completion in a text box: a list beside it, chosen with the arrows, Enter or Tab.
 * @module
 */

import { h, icon } from "../lib/dom.js";
import { hasEnd } from "../lib/text_edits_on_demand.js";
import { t } from "../lib/words.js";
import { isComposing, keyName } from "../platform/keyboard.js";
import { completionsFor, triggerAt } from "../selectors/completions.js";
import { channelByName } from "../store/channels.js";
import { allEmoji, asReaction, textOfEmoji } from "../store/emoji.js";
import { choiceText, createChoices } from "./choices.js";
import { loadEmoji } from "./emoji_catalogue.js";
import { avatar, channelIcon, emojiElement } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../selectors/completions.js").Completion} Completion */

/** @param {App} app @param {HTMLTextAreaElement} textarea @param {{ channel: number | null, isChannel: boolean }} context
 * @param {{ replace: (start: number, end: number, text: string, select?: [number, number]) => void, chooseTime: () => void }} how */
export function attachAutocomplete(app, textarea, context, { replace, chooseTime }) {
  const id = `completions-${Math.random().toString(36).slice(2)}`;
  const list = h("div", { class: "completions", role: "listbox", id, "aria-label": t("Completions") });
  const choices = createChoices(textarea, list, {
    render: (/** @type {Completion} */ item) => [picture(item), choiceText(item.label, item.detail)],
    choose,
  });
  /** @type {import("../selectors/completions.js").Trigger | null} */
  let trigger = null;
  textarea.setAttribute("aria-autocomplete", "list");

  function close() {
    trigger = null;
    hide();
  }

  function hide() {
    choices.set([]);
    list.remove();
    textarea.removeAttribute("aria-controls");
  }

  const isMention = () => trigger?.kind === "mention" || trigger?.kind === "silent";

  function update() {
    const wasMention = isMention();
    trigger = textarea.selectionStart === textarea.selectionEnd ? triggerAt(textarea.value, textarea.selectionStart) : null;
    if (!trigger) return close();
    if (trigger.kind === "emoji") void loadEmoji(app).then(() => trigger?.kind === "emoji" && show());
    // Once, not with each key: the server may refuse the list.
    if (isMention() && !wasMention && context.channel !== null)
      void app.session.needSubscribers(context.channel)?.then(() => isMention() && show());
    if (trigger.kind === "topic") {
      const channel = trigger.channel ? channelByName(app.store, trigger.channel)?.stream_id : context.channel;
      if (channel !== undefined && channel !== null) void app.session.needTopics(channel)?.then(() => trigger?.kind === "topic" && show());
    }
    show();
  }

  function show() {
    if (!trigger) return;
    const emoji = trigger.kind === "emoji" ? allEmoji(app.store).map((one) => ({ ...one, text: textOfEmoji(one) })) : [];
    const items = completionsFor(app.store, trigger, { ...context, recent: app.recentSenders(), emoji });
    if (items.length === 0) return hide();
    if (!list.isConnected) textarea.after(list);
    textarea.setAttribute("aria-controls", id);
    choices.set(items);
  }

  /** @param {Completion} item */
  function picture({ user, channel, kind, emoji }) {
    if (user) return avatar(user, 20);
    if (channel && kind === "channel") return channelIcon(channel);
    if (emoji) return emojiElement(app.store, asReaction(emoji));
    return icon(kind === "group" || kind === "wildcard" ? "group" : kind === "time" ? "clock" : "chevron");
  }

  /** @param {Completion} item */
  function choose(item) {
    const current = trigger;
    if (!current) return;
    const cursor = textarea.selectionStart;
    close();
    if (item.kind === "time") {
      replace(current.start, cursor, "");
      chooseTime();
      return;
    }
    const { value } = textarea;
    const fence = value.slice(value.lastIndexOf("\n", cursor - 1) + 1, current.start);
    const isOpen = item.kind === "language" && !hasEnd(value, cursor, fence);
    const end = current.start + item.text.length;
    // A block of code that begins ends below the cursor.
    if (isOpen) replace(current.start, cursor, `${item.text}\n${fence}`, [end, end]);
    else replace(current.start, cursor, item.text);
  }

  textarea.addEventListener("input", update);
  textarea.addEventListener("click", update);
  textarea.addEventListener("blur", () => setTimeout(close, 150));
  textarea.addEventListener("keydown", (event) => {
    const current = choices.current();
    if (isComposing(event) || !current) return;
    const { key } = event;
    if ((key === "Enter" && !event.ctrlKey && !event.metaKey) || keyName(event) === "Tab") choose(current);
    else if (key === ">" && current.kind === "channel" && current.channel) {
      const [start, cursor] = [trigger?.start ?? 0, textarea.selectionStart];
      close();
      replace(start, cursor, `#**${current.channel.name}>`);
      update();
    } else if (key === "Escape") close();
    else if (!choices.key(event)) return;
    event.preventDefault();
    event.stopPropagation();
  });

  // Something is typed already.
  if (document.activeElement === textarea) update();
  return { isOpen: () => !choices.isEmpty(), close };
}
