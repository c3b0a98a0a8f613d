/**
 * A row of the timeline: one message with its sender, content, reactions and marks; or one that is on its way.
 * @module
 */

import { fill, focusedIndex, h, icon, iconButton } from "../lib/dom.js";
import { drawRow } from "../lib/keyed_list.js";
import { clockTime, fullTime } from "../lib/time.js";
import { t } from "../lib/words.js";
import { channelTerms, directTerms, messageFragment, topicTerms } from "../selectors/narrow.js";
import { namesOf } from "../selectors/sidebar_items.js";
import { topicName } from "../selectors/title.js";
import { channelOf } from "../store/channels.js";
import { otherIds, recipientIds } from "../store/conversations.js";
import { userOf } from "../store/users.js";
import { failedLoad } from "./load_state.js";
import { contentElement, parseHtml } from "./message_content.js";
import { avatar, channelIcon, guestBadge } from "./parts.js";
import { reactionsElement } from "./reactions.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../selectors/timeline_rows.js").Row} Row */
/** @typedef {import("../../types/api.js").Message} Message */

/** Messages that may have more lines than this are measured, as each of them may be too high to be shown whole at first. */
const MANY_LINES = 24;

/** The fewest characters of a full line, on a phone. */
const LINE = 32;

/** The lines that a picture takes, at most. */
const PICTURE_LINES = 14;

/** The height of a rest, in pixels, that is not worth a button. */
const SLACK = 60;

/** What a search found in a message, with marks. @typedef {{ match_content?: string, match_subject?: string } | undefined} Match */

/** @param {App} app @param {Row} row @param {Match} match @returns {HTMLElement} */
export function messageRow(app, row, match) {
  const { store } = app;
  const { message } = row;
  const sender = userOf(store, message.sender_id);
  const name = store.users.has(message.sender_id) ? sender.full_name : message.sender_full_name;
  const { is24Hours } = store;
  const time = h(
    "a",
    {
      class: "message-row__time",
      href: `#${messageFragment(store, message)}`,
      title: fullTime(message.timestamp, is24Hours),
    },
    clockTime(message.timestamp, is24Hours),
  );
  const isMe = message.is_me_message === true || message.content.startsWith("<p>/me ");
  const flags = message.flags;
  const mention = flags.includes("mentioned") ? "direct" : flags.some((flag) => flag.endsWith("mentioned")) ? "group" : null;

  const element = h(
    "article",
    {
      class: "message-row",
      tabindex: "-1",
      dataset: {
        id: String(message.id),
        shows: row.showsSender ? "sender" : "content",
        ...(row.isUnread ? { unread: "" } : {}),
        ...(mention ? { mention } : {}),
        ...(flags.includes("starred") ? { starred: "" } : {}),
        ...(message.sender_id === store.selfId ? { own: "" } : {}),
        ...(flags.includes("collapsed") ? { collapsed: "" } : {}),
      },
      "aria-label": row.isHidden ? hiddenText() : `${name}, ${clockTime(message.timestamp, is24Hours)}`,
    },
    row.day && h("div", { class: "message-row__day" }, h("span", null, row.day)),
    row.change && h("div", { class: "message-row__day" }, h("span", null, changeText(store, row))),
    row.isFirstUnread && h("div", { class: "message-row__new" }, h("span", null, t("New"))),
    row.hasBar && recipientBar(app, message, match),
    row.isHidden
      ? hiddenBody(message)
      : h(
          "div",
          { class: "message-row__main" },
          h(
            "div",
            { class: "message-row__gutter" },
            row.showsSender
              ? h(
                  "button",
                  {
                    type: "button",
                    class: "message-row__avatar",
                    dataset: { action: "user", userId: String(sender.user_id) },
                    "aria-label": t("Card of {name}", { name }),
                    tabindex: "-1",
                  },
                  avatar(sender),
                )
              : time,
          ),
          h(
            "div",
            { class: "message-row__body" },
            row.showsSender &&
              !isMe &&
              h(
                "div",
                { class: "message-row__head" },
                h(
                  "button",
                  { type: "button", class: "message-row__sender", dataset: { action: "user", userId: String(sender.user_id) } },
                  h("bdi", null, name),
                  sender.is_bot && h("span", { class: "badge" }, t("bot")),
                  guestBadge(store, sender),
                ),
                time,
                ...marks(message),
              ),
            isMe && h("div", { class: "message-row__aside" }, time, ...marks(message)),
            drawRow(() => (isMe ? meBody(app, name, message, match) : body(app, message, match)), contentError),
            !isMe && !row.showsSender && h("div", { class: "message-row__marks" }, ...marks(message)),
            message.reactions.length > 0 && reactionsElement(app, message),
          ),
        ),
  );
  describe(element, message.id);
  return element;
}

/** @param {import("../store/store.js").Store} store @param {Row} row */
function changeText(store, { change, message }) {
  const channel = channelOf(store, Number(message.stream_id)).name;
  return change === "subscribed" ? t("You subscribed to #{channel}", { channel }) : t("You unsubscribed from #{channel}", { channel });
}

/** Makes the content the description of the row for screen readers. @param {Element} row @param {number} id */
function describe(row, id) {
  const content = row.querySelector(".content, .widget");
  if (!content) return;
  content.id = `content-${id}`;
  row.setAttribute("aria-describedby", content.id);
}

const contentError = () => h("p", { class: "content message-row__hidden" }, t("This message cannot be shown."));

/** The row of a message that cannot be drawn.
 * @param {number | string} id @param {boolean} isUnread @returns {HTMLElement} */
export function errorRow(id, isUnread) {
  return h(
    "article",
    { class: "message-row", tabindex: "-1", dataset: { id: String(id), shows: "sender", ...(isUnread ? { unread: "" } : {}) } },
    bareBody(contentError()),
  );
}

/** Controls that keep the focus when a row is drawn again. */
const CONTROLS = [".widget__add input", ".widget__list :is(button, input)", ".reaction"];

/** The control of the new row that corresponds to the focused control of the old row. @param {HTMLElement} old @param {HTMLElement} next */
function focusedControl(old, next) {
  for (const selector of CONTROLS) {
    const at = focusedIndex([...old.querySelectorAll(selector)]);
    if (at >= 0) return /** @type {HTMLElement | undefined} */ ([...next.querySelectorAll(selector)][at]);
  }
  return undefined;
}

/** Moves the state of a row to the one that replaces it: an edit, unsaved text, open spoilers, the focus, and the toolbar with its open
 * menu.
 * @param {HTMLElement} old @param {HTMLElement} next */
export function carryOver(old, next) {
  const [written, field] = [old, next].map((row) => row.querySelector(".widget__add input"));
  if (written instanceof HTMLInputElement && field instanceof HTMLInputElement) {
    field.value = written.value;
    field.setSelectionRange(written.selectionStart, written.selectionEnd);
  }
  const focused = document.activeElement;
  const hadFocus = old.contains(focused);
  const [toolbar, form] = [old.querySelector(".message-actions"), old.querySelector(".editor-form")];
  if (toolbar) next.querySelector(".message-row__main")?.append(toolbar);
  const content = next.querySelector(".content");
  if (form && content instanceof HTMLElement) {
    content.hidden = true;
    content.after(form);
  }
  const control = next.contains(focused) ? focused : (focusedControl(old, next) ?? next);
  if (hadFocus && control instanceof HTMLElement) queueMicrotask(() => control.focus({ preventScroll: true }));
  next.classList.toggle("is-expanded", old.classList.contains("is-expanded"));
  const spoilers = old.querySelectorAll("details");
  for (const [index, spoiler] of next.querySelectorAll("details").entries()) spoiler.open = spoilers[index]?.open ?? false;
}

/** The module of widgets, once a message has needed it. @type {typeof import("./widgets.js") | null} */
let widgets = null;

/** Loads of the module of widgets that have failed. @type {Set<() => void>} */
const failed = new Set();

/** Loads it again, since the connection is back. */
export function retryWidgets() {
  for (const load of [...failed]) load();
}

/** Takes the place of a widget until the module of widgets is loaded.
 * @param {App} app @param {Message} message @param {Match} match */
function pendingWidget(app, message, match) {
  const element = h("div", { class: "widget" });
  const show = () => {
    const row = element.closest(".message-row");
    // Others may have voted meanwhile.
    const current = app.store.messages.byId.get(message.id) ?? message;
    element.replaceWith(drawRow(() => body(app, current, match), contentError));
    if (row) describe(row, message.id);
  };
  const load = () => {
    failed.delete(load);
    fill(element, t("Loading…"));
    void import("./widgets.js").then(
      (loaded) => {
        widgets = loaded;
        show();
      },
      () => {
        // A row that was drawn again has another one.
        if (element.isConnected) failed.add(load);
        fill(element, failedLoad(load));
      },
    );
  };
  load();
  return element;
}

/** @param {App} app @param {Message} message @param {Match} match @returns {HTMLElement} */
function body(app, message, match) {
  if (message.submessages?.length > 0) {
    if (!widgets) return pendingWidget(app, message, match);
    const widget = widgets.widgetElement(app, message);
    if (widget) return widget;
  }
  return foldable(contentElement(app, match?.match_content ?? message.content, message), message);
}

/** The content of a message, in an element that has room for the button of what is folded if it may be high.
 * @param {HTMLElement} content @param {Message} message */
function foldable(content, message) {
  if (!mayBeHigh(message.content)) return content;
  content.classList.add("is-long");
  return h("div", null, content);
}

/** Whether a message may be higher than what is shown at first, by its HTML. Only such messages are measured. @param {string} html */
function mayBeHigh(html) {
  const breaks = html.split("\n").length;
  if (breaks > MANY_LINES || html.length > 20 * LINE * MANY_LINES) return true;
  const pictures = html.match(/class="(?:message_inline|message_embed|inline-image|katex-display)|<(?:video|audio)/g)?.length ?? 0;
  const characters = html.replace(/<[^>]*>/g, "").length;
  return breaks + pictures * PICTURE_LINES + characters / LINE > MANY_LINES;
}

/** Shows the beginning of messages that are high, with a button for the rest. @param {HTMLElement} list
 * @param {boolean} [isAgain] Whether those are measured as well that were before: the page has another size. */
export function foldHigh(list, isAgain = false) {
  const contents = /** @type {NodeListOf<HTMLElement>} */ (list.querySelectorAll(`.content.is-long${isAgain ? "" : ":not([data-fold])"}`));
  if (isAgain) for (const content of contents) delete content.dataset.fold;
  // All are measured before the first change.
  const high = [...contents].filter((content) => content.scrollHeight > content.clientHeight + SLACK);
  for (const content of contents) {
    content.dataset.fold = high.includes(content) ? "yes" : "no";
    const button = content.parentElement?.querySelector(":scope > .content__more");
    if (content.dataset.fold === "no") button?.remove();
    else if (!button)
      content.after(h("button", { type: "button", class: "link content__more", dataset: { action: "expand" } }, t("Show more")));
  }
}

/** The command at the beginning of the content, whose word a search may have marked. */
const ME = /^<p>\/(?:<span class="highlight">me<\/span>|me) /;

/** @param {App} app @param {string} name @param {Message} message @param {Match} match */
function meBody(app, name, message, match) {
  const content = contentElement(app, (match?.match_content ?? message.content).replace(ME, "<p>"), message);
  const first = content.querySelector("p") ?? content;
  first.prepend(
    h("button", { type: "button", class: "message-row__sender", dataset: { action: "user", userId: String(message.sender_id) } }, name),
    " ",
  );
  return foldable(content, message);
}

/** @param {Message} message */
function marks(message) {
  return [
    message.last_edit_timestamp ? h("span", { class: "mark" }, t("edited")) : null,
    message.last_moved_timestamp && !message.last_edit_timestamp ? h("span", { class: "mark" }, t("moved")) : null,
    message.flags.includes("starred")
      ? h("span", { class: "mark mark--star", role: "img", "aria-label": t("Starred") }, icon("star"))
      : null,
  ];
}

/** @param {HTMLElement} text */
const bareBody = (text) => h("div", { class: "message-row__main" }, h("div", { class: "message-row__gutter" }), text);

const hiddenText = () => t("A message from someone you muted.");

/** @param {Message} message */
function hiddenBody(message) {
  return bareBody(
    h(
      "p",
      { class: "message-row__hidden" },
      hiddenText(),
      " ",
      h("button", { type: "button", class: "link", dataset: { action: "reveal", id: String(message.id) } }, t("Show the message")),
    ),
  );
}

/** The bar above messages of another conversation than those before. @param {App} app @param {Message} message @param {Match} [match] */
export function recipientBar(app, message, match) {
  const { store } = app;
  if (message.type === "private") {
    const others = otherIds(store, recipientIds(message));
    return h(
      "header",
      { class: "recipient-bar" },
      h(
        "a",
        { href: `#${app.fragmentOf(directTerms(others))}` },
        icon("mail"),
        others.length === 1 && others[0] === store.selfId
          ? t("Messages with yourself")
          : t("You and {names}", { names: namesOf(store, others) }),
      ),
      replyButton(),
    );
  }
  const channel = channelOf(store, Number(message.stream_id));
  // The topic may be another one since.
  const found = match?.match_subject ? parseHtml(match.match_subject) : null;
  return h(
    "header",
    { class: "recipient-bar", style: { "--channel": channel.color } },
    h(
      "a",
      { href: `#${app.fragmentOf(channelTerms(channel.stream_id))}`, class: "recipient-bar__channel" },
      channelIcon(channel),
      channel.name,
    ),
    h(
      "a",
      { href: `#${app.fragmentOf(topicTerms(channel.stream_id, message.subject))}`, class: "recipient-bar__topic" },
      h("bdi", null, found?.textContent === message.subject ? found : topicName(store, message.subject)),
    ),
    replyButton(),
  );
}

const replyButton = () =>
  h("button", { type: "button", class: "recipient-bar__reply", dataset: { action: "reply" } }, icon("reply"), t("Reply"));

/** The row of a message that is being sent. @param {App} app @param {import("../store/outbox.js").OutgoingMessage} item @returns {HTMLElement} */
export function outgoingRow(app, item) {
  const words = {
    // Behind one that is merely slow.
    waiting: app.session.queue.status.peek() === "online" ? t("Sending…") : t("Waiting for the connection…"),
    sending: t("Sending…"),
    unsure: item.error ?? t("Waiting for the connection…"),
    failed: item.error ?? t("It could not be sent."),
  };
  return h(
    "article",
    {
      class: "message-row",
      tabindex: "-1",
      dataset: { id: item.localId, shows: "sender", state: item.state, own: "" },
      "aria-label": `${app.store.self.full_name}, ${words[item.state]}`,
    },
    h(
      "div",
      { class: "message-row__main" },
      h("div", { class: "message-row__gutter" }, avatar(app.store.self)),
      h(
        "div",
        { class: "message-row__body" },
        h("div", { class: "message-row__head" }, h("span", { class: "message-row__sender" }, app.store.self.full_name)),
        h("div", { class: "content content--source", dir: "auto" }, item.content),
        h(
          "div",
          { class: "message-row__sending" },
          item.state === "failed" && icon("warning"),
          words[item.state],
          item.state === "failed" && iconButton("refresh", t("Send again"), { dataset: { action: "retry", localId: item.localId } }),
          item.state !== "sending" &&
            iconButton("edit", t("Take back and edit"), { dataset: { action: "take-back", localId: item.localId } }),
        ),
      ),
    ),
  );
}
