/**
 * What one can do with a message: the toolbar of the row under the pointer, its menu, and the keys.
 * @module
 */

import { getMessage, updateFlags } from "../api/endpoints.js";
import { closest, h, iconButton } from "../lib/dom.js";
import { onEnd } from "../lib/signal.js";
import { fenced } from "../lib/text_edits.js";
import { t } from "../lib/words.js";
import { bind } from "../platform/keyboard.js";
import { channelLink } from "../selectors/links.js";
import { conversationTerms, hasPartialConversations, messageTerms } from "../selectors/narrow.js";
import { channelOf, FOLLOWED, INHERIT, MUTED, policyOf, UNMUTED } from "../store/channels.js";
import { may } from "../store/lists.js";
import { mentionName, userOf } from "../store/users.js";
import { onDemand, setTopicPolicy, showEmojiPicker, showReminder, showUserCard } from "./on_demand.js";
import { selectedMarkdown } from "./paste.js";
import { closePopover, showMenu } from "./popover.js";
import { toggleReaction } from "./reactions.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/app.js").Timeline} Timeline */
/** @typedef {import("../../types/api.js").Message} Message */

export const editMessage = onDemand(async () => (await import("./message_dialogs.js")).editMessage);
const showSource = onDemand(async () => (await import("./message_dialogs.js")).showSource);
const showMove = onDemand(async () => (await import("./move_dialog.js")).showMove);
const showReport = onDemand(async () => (await import("./message_dialogs.js")).showReport);
const showHistory = onDemand(async () => (await import("./message_dialogs.js")).showHistory);
const showReceipts = onDemand(async () => (await import("./message_dialogs.js")).showReceipts);

/** @param {App} app @param {Message} message */
export const canEdit = ({ store }, message) => {
  if (message.sender_id !== store.selfId || store.state.realm_allow_message_editing === false || message.submessages?.length > 0)
    return false;
  const limit = store.state.realm_message_content_edit_limit_seconds;
  return !limit || store.now() - message.timestamp < limit;
};

/** @param {App} app @param {Message} message */
export function toggleStar({ session }, message) {
  return session.attempt(updateFlags([message.id], message.flags.includes("starred") ? "remove" : "add", "starred"));
}

/** @param {App} app @param {Message} message @param {Timeline | null} timeline */
async function markUnreadFrom({ session }, message, timeline) {
  timeline?.block();
  const terms = timeline ? timeline.terms.filter(({ operator }) => operator !== "near") : conversationTerms(session.store, message);
  await session.attempt(session.markNarrow(terms, "remove", message.id));
}

/** The quotation of a message, or of what is selected of it, as the published clients write it. @param {App} app @param {Message} message @returns {Promise<string>} */
export async function quotation(app, message) {
  const selected = selectedMarkdown(document.getElementById(`content-${message.id}`));
  const content = selected || (await getMessage(message.id, false)).message.content;
  const sender = userOf(app.store, message.sender_id);
  return `@_**${sender.full_name}|${sender.user_id}** [said](${linkTo(app, message)}):\n${fenced(content, "quote")}`;
}

/** @param {App} app @param {Message} message */
export const linkTo = (app, message) => `${location.origin}/#${app.fragmentOf(messageTerms(app.store, message))}`;

/** @param {App} app @param {Message} message @param {Element} opener @param {Timeline | null} timeline @param {{ x: number, y: number }} [at] */
export function showMessageMenu(app, message, opener, timeline, at) {
  const { store, session } = app;
  if (store.isVisitor) {
    showMenu(
      opener,
      [
        { label: t("View source"), icon: "code", key: "e", run: () => void showSource(app, message) },
        { label: t("Copy link to message"), icon: "link", run: () => void app.copy(linkTo(app, message), t("Link copied.")) },
      ],
      t("Actions on the message"),
      at,
    );
    return;
  }
  const isOwn = message.sender_id === store.selfId;
  const isChannel = message.type === "stream";
  const isCollapsed = message.flags.includes("collapsed");
  const mayDelete = isOwn
    ? may(store, "can_delete_own_message_group") || may(store, "can_delete_any_message_group")
    : may(store, "can_delete_any_message_group");
  showMenu(
    opener,
    [
      { label: t("Quote and reply"), icon: "quote", key: ">", run: () => void app.composer.quote(message) },
      { label: t("Forward"), icon: "send", key: "<", run: () => void app.composer.forward(message) },
      canEdit(app, message)
        ? { label: t("Edit"), icon: "edit", key: "e", run: () => void editMessage(app, message, timeline) }
        : { label: t("View source"), icon: "code", key: "e", run: () => void showSource(app, message) },
      isChannel && { label: t("Move messages"), icon: "move", key: "m", run: () => showMove(app, message) },
      { label: t("Mark as unread from here"), icon: "mail", key: "U", run: () => void markUnreadFrom(app, message, timeline) },
      {
        label: message.flags.includes("starred") ? t("Remove star") : t("Star"),
        icon: "star",
        key: "Ctrl+s",
        run: () => void toggleStar(app, message),
      },
      { label: t("Remind me"), icon: "clock", run: () => showReminder(app, message) },
      {
        label: isCollapsed ? t("Show") : t("Collapse"),
        icon: "chevron",
        key: "-",
        run: () => void session.attempt(updateFlags([message.id], isCollapsed ? "remove" : "add", "collapsed")),
      },
      { label: t("Copy link to message"), icon: "link", run: () => void app.copy(linkTo(app, message), t("Link copied.")) },
      isChannel && {
        label: t("Copy as link in text"),
        icon: "hash",
        run: () => void app.copy(channelLink(store, channelOf(store, Number(message.stream_id)), message.subject), t("Copied.")),
      },
      message.last_edit_timestamp || message.last_moved_timestamp
        ? { label: t("Edit history"), icon: "history", key: "H", run: () => void showHistory(app, message) }
        : null,
      store.state.realm_enable_read_receipts && {
        label: t("Who has read this"),
        icon: "eye",
        key: "V",
        run: () => void showReceipts(app, message),
      },
      !isOwn &&
        (store.state.realm_moderation_request_channel_id ?? -1) > 0 && {
          label: t("Report"),
          icon: "warning",
          run: () => void showReport(app, message),
        },
      mayDelete && { label: t("Delete"), icon: "trash", isDanger: true, run: () => session.deleteMessage(message.id) },
    ],
    t("Actions on the message"),
    at,
  );
}

/** @param {App} app @param {HTMLElement} link @param {Message} message */
const openLightbox = async (app, link, message) => (await import("./lightbox.js")).showLightbox(app, link, message);

/** One toolbar, moved to the row under the pointer or with the focus; clicks; keys. @param {App} app @param {Timeline} timeline */
export function attachActions(app, timeline) {
  const { store, session } = app;
  const { list } = timeline;
  /** @type {HTMLElement | null} */
  let host = null;
  const star = iconButton("star", t("Star"));
  const edit = iconButton("edit", t("Edit"));
  const menu = iconButton("dots", t("More actions"), { dataset: { action: "menu" }, "aria-haspopup": "menu" });
  const writing = [
    iconButton("smile", t("Add a reaction"), { dataset: { action: "react" } }),
    iconButton("reply", t("Quote and reply"), { dataset: { action: "quote" } }),
    edit,
    star,
  ];
  const toolbar = h("div", { class: "message-actions", role: "group", "aria-label": t("Actions") }, store.isVisitor ? null : writing, menu);
  edit.dataset.action = "edit";
  star.dataset.action = "star";

  /** @param {EventTarget | null} target */
  const showOn = (target) => {
    const row = target instanceof Element ? target.closest(".message-row") : null;
    if (!(row instanceof HTMLElement) || row === host || row.dataset.state) return;
    const message = store.messages.byId.get(Number(row.dataset.id));
    if (!message) return;
    host = row;
    edit.hidden = !canEdit(app, message);
    star.setAttribute("aria-pressed", String(message.flags.includes("starred")));
    row.querySelector(".message-row__main")?.append(toolbar);
  };
  list.addEventListener("pointerover", (event) => event.pointerType !== "touch" && showOn(event.target));
  list.addEventListener("focusin", (event) => showOn(event.target));

  /** @param {Event} event @returns {Message | undefined} */
  const messageOf = (event) => store.messages.byId.get(Number(closest(event, ".message-row")?.dataset.id));

  /** @type {Record<string, (event: Event, control: HTMLElement, message: Message) => void>} */
  const actions = {
    react: (_, control, message) => showEmojiPicker(app, control, (emoji) => void toggleReaction(app, message, emoji)),
    reply: (_, __, message) => app.composer.replyTo(message),
    quote: (_, __, message) => void app.composer.quote(message),
    edit: (_, __, message) => void editMessage(app, message, timeline),
    star: (_, __, message) => void toggleStar(app, message),
    menu: (_, control, message) => showMessageMenu(app, message, control, timeline),
    user: (_, control) => showUserCard(app, Number(control.dataset.userId), control),
    lightbox: (event, control, message) => {
      event.preventDefault();
      void openLightbox(app, control, message);
    },
    expand: (_, control) => control.closest(".message-row")?.classList.add("is-expanded"),
  };
  list.addEventListener("click", (event) => {
    const control = closest(event, "[data-action]");
    if (!control) return;
    const { action } = control.dataset;
    if (action === "reveal") timeline.reveal(Number(control.dataset.id));
    if (action === "retry") session.outbox.retry(String(control.dataset.localId));
    if (action === "take-back") app.composer.takeBack(String(control.dataset.localId));
    const message = messageOf(event);
    if (message && action && actions[action]) actions[action](event, control, message);
  });
  list.addEventListener("keydown", (event) => {
    const control = closest(event, "span[data-action]");
    if (control && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      control.click();
    }
  });
  list.addEventListener("contextmenu", (event) => {
    if (!matchMedia("(pointer: coarse)").matches || closest(event, "a, img")) return;
    const message = messageOf(event);
    const row = closest(event, ".message-row");
    if (!message || !row) return;
    event.preventDefault();
    showMessageMenu(app, message, row, timeline, { x: event.clientX, y: event.clientY });
  });
  onEnd(closePopover);
  bindKeys(app, timeline);
}

/** @param {App} app @param {Timeline} timeline */
function bindKeys(app, timeline) {
  const { store, session } = app;
  /** @param {string[]} keys @param {string} label @param {string} group @param {(message: Message, row: HTMLElement, event: KeyboardEvent) => unknown} run */
  const on = (keys, label, group, run) =>
    onEnd(
      bind({
        keys,
        label,
        group,
        run: (event) => {
          const message = timeline.message();
          const row = message && timeline.rowOf(message.id);
          if (!message || !row) return false;
          run(message, row, event);
        },
      }),
    );
  /** @param {string[]} keys @param {string} label @param {() => unknown} run */
  const scroll = (keys, label, run) =>
    onEnd(
      bind({
        keys,
        label,
        group: t("Reading"),
        run: () => {
          run();
        },
      }),
    );
  scroll(["ArrowDown", "j"], t("Next message"), () => timeline.move(1));
  scroll(["ArrowUp", "k"], t("Previous message"), () => timeline.move(-1));
  scroll(["PageDown", "J", "Space"], t("Page down"), () => timeline.page(1));
  scroll(["PageUp", "K", "Shift+Space"], t("Page up"), () => timeline.page(-1));
  scroll(["End", "G"], t("Newest message"), () => timeline.toNewest());
  scroll(["Home"], t("Oldest message"), () => timeline.toOldest());
  on(["Enter", "r"], t("Reply"), t("Writing"), (message, _row, { key }) =>
    key === "Enter" && hasPartialConversations(timeline.terms) ? app.goNarrow(messageTerms(store, message)) : app.composer.replyTo(message),
  );
  on(["R"], t("Direct message to the sender"), t("Writing"), (message) =>
    app.composer.open({ type: "direct", to: [message.sender_id], topic: "" }),
  );
  on(["@"], t("Reply mentioning the sender"), t("Writing"), (message) =>
    app.composer.replyTo(message, `@**${mentionName(store, userOf(store, message.sender_id))}** `),
  );
  on([">"], t("Quote and reply"), t("Writing"), (message) => app.composer.quote(message));
  on(["<"], t("Forward"), t("Writing"), (message) => app.composer.forward(message));
  on(["e"], t("Edit, or view the source"), t("Messages"), (message) =>
    canEdit(app, message) ? editMessage(app, message, timeline) : showSource(app, message),
  );
  on(["m"], t("Move messages or the topic"), t("Messages"), (message) => message.type === "stream" && showMove(app, message));
  on(["H"], t("Edit history"), t("Messages"), (message) => showHistory(app, message));
  on(["V"], t("Who has read it"), t("Messages"), (message) => showReceipts(app, message));
  on(["i"], t("Menu of the message"), t("Messages"), (message, row) =>
    showMessageMenu(app, message, row.querySelector("[data-action=menu]") ?? row, timeline),
  );
  on(["u"], t("Card of the sender"), t("Messages"), (message, row) =>
    showUserCard(app, message.sender_id, row.querySelector(".message-row__sender") ?? row),
  );
  on([":"], t("Add a reaction"), t("Messages"), (message, row) =>
    showEmojiPicker(
      app,
      row.querySelector(".message-actions [data-action=react]") ?? row,
      (emoji) => void toggleReaction(app, message, emoji),
    ),
  );
  on(["+"], t("React with 👍"), t("Messages"), (message) =>
    toggleReaction(app, message, { emoji_name: "thumbs_up", emoji_code: "1f44d", reaction_type: "unicode_emoji" }),
  );
  on(
    ["="],
    t("Vote for the first reaction"),
    t("Messages"),
    (message) => message.reactions[0] && toggleReaction(app, message, message.reactions[0]),
  );
  on(["Ctrl+s"], t("Star"), t("Messages"), (message) => toggleStar(app, message));
  on(["U"], t("Mark as unread from here"), t("Messages"), (message) => markUnreadFrom(app, message, timeline));
  on(["-"], t("Collapse or show"), t("Messages"), (message) =>
    session.attempt(updateFlags([message.id], message.flags.includes("collapsed") ? "remove" : "add", "collapsed")),
  );
  on(["v"], t("Show pictures"), t("Messages"), (message, row) => {
    const picture = row.querySelector("[data-action=lightbox]");
    if (picture instanceof HTMLElement) return openLightbox(app, picture, message);
  });
  on(["s"], t("Narrow to the conversation, or from it to the channel"), t("Navigation"), (message) => {
    if (timeline.kind.kind === "topic") app.goNarrow([{ operator: "channel", operand: timeline.kind.streamId }]);
    else if (timeline.kind.kind !== "dm") app.goNarrow(messageTerms(store, message));
  });
  on(["z"], t("Conversation around the message"), t("Navigation"), (message) => app.goNarrow(messageTerms(store, message)));
  on(["M"], t("Mute or unmute the topic"), t("Messages"), (message) => {
    if (message.type !== "stream") return;
    const policy = policyOf(store, Number(message.stream_id), message.subject);
    const isMutedChannel = channelOf(store, Number(message.stream_id)).is_muted;
    const next = isMutedChannel ? (policy === UNMUTED || policy === FOLLOWED ? INHERIT : UNMUTED) : policy === MUTED ? INHERIT : MUTED;
    return setTopicPolicy(app, Number(message.stream_id), message.subject, next);
  });
  onEnd(
    bind({
      keys: ["ArrowLeft"],
      label: t("Edit your last message"),
      group: t("Writing"),
      run: () => {
        const last = timeline.range.ids
          .toReversed()
          .map((id) => store.messages.byId.get(id))
          .find((message) => message && canEdit(app, message));
        if (!last) return false;
        void editMessage(app, last, timeline);
      },
    }),
  );
}
