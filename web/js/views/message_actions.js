/**
 * Actions on messages: the toolbar of the row under the pointer, and keys.
 * @module
 */

import { closest, h, iconButton } from "../lib/dom.js";
import { onEnd } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { bind, isOpening, keyName } from "../platform/keyboard.js";
import { channelTerms, hasPartialConversations, messageTerms } from "../selectors/narrow.js";
import { toggledMute } from "../store/channels.js";
import { mentionName, userOf } from "../store/users.js";
import { opensOnDemand } from "./loading.js";
import {
  canEdit,
  editMessage,
  hasHistory,
  markUnreadFrom,
  showHistory,
  showMove,
  showReceipts,
  showSource,
  toggleFlag,
} from "./message_commands.js";
import { setTopicPolicy, showEmojiPicker, showUserCard } from "./on_demand.js";
import { closePopover } from "./open_popover.js";
import { toggleReaction } from "./reactions.js";
import { askToLogIn } from "./visitor.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/app.js").Timeline} Timeline */
/** @typedef {import("../../types/api.js").Message} Message */

const showMessageMenu = opensOnDemand(async () => (await import("./message_menu.js")).showMessageMenu);
const showLightbox = opensOnDemand(async () => (await import("./lightbox.js")).showLightbox);

/** Keys that need no account. */
const FOR_VISITORS = ["Enter", "e", "i", "u", "v", "s", "z"];

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
    // What is about to open may open beside the toolbar, and is for the message that has it.
    if (isOpening()) return;
    const row = target instanceof Element ? target.closest(".message-row") : null;
    if (!(row instanceof HTMLElement) || row === host || row.dataset.state) return;
    const message = store.messages.byId.get(Number(row.dataset.id));
    if (!message) return;
    host = row;
    edit.hidden = !canEdit(app, message);
    star.setAttribute("aria-pressed", String(message.flags.includes("starred")));
    // A row that is drawn again has it already, perhaps with the focus.
    if (!row.contains(toolbar)) row.querySelector(".message-row__main")?.append(toolbar);
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
    star: (_, __, message) => void toggleFlag(app, message, "starred"),
    menu: (_, control, message) => showMessageMenu(app, message, control, timeline),
    user: (_, control) => showUserCard(app, Number(control.dataset.userId), control),
    group: (_, control) => app.goFragment(`groups/${control.dataset.userGroupId}`),
    lightbox: (event, control, message) => {
      event.preventDefault();
      showLightbox(app, control, message);
    },
    expand: (_, __, { id }) => {
      const row = timeline.rowOf(id);
      row?.classList.add("is-expanded");
      // The button has gone.
      row?.focus({ preventScroll: true });
    },
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
  const { store } = app;
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
          if (store.isVisitor && !FOR_VISITORS.includes(keyName(event))) askToLogIn();
          else run(message, row, event);
        },
      }),
    );
  /** @param {string[]} keys @param {string} label @param {() => unknown} run */
  const scroll = (keys, label, run) => onEnd(bind({ keys, label, group: t("Reading"), run: () => void run() }));
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
  on(["H"], t("Edit history"), t("Messages"), (message) => hasHistory(app) && showHistory(app, message));
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
  on(["Ctrl+s"], t("Star"), t("Messages"), (message) => toggleFlag(app, message, "starred"));
  on(["U"], t("Mark as unread from here"), t("Messages"), (message) => markUnreadFrom(app, message, timeline));
  on(["-"], t("Collapse or show"), t("Messages"), (message) => toggleFlag(app, message, "collapsed"));
  on(["v"], t("Show pictures"), t("Messages"), (message, row) => {
    const picture = row.querySelector("[data-action=lightbox]");
    if (picture instanceof HTMLElement) return showLightbox(app, picture, message);
  });
  on(["s"], t("Switch between the conversation and its channel"), t("Navigation"), (message) => {
    if (timeline.kind.kind === "topic") app.goNarrow(channelTerms(timeline.kind.streamId));
    else if (timeline.kind.kind !== "dm") app.goNarrow(messageTerms(store, message));
  });
  on(["z"], t("Conversation around the message"), t("Navigation"), (message) => app.goNarrow(messageTerms(store, message)));
  on(["M"], t("Mute or unmute the topic"), t("Messages"), (message) => {
    if (message.type !== "stream") return;
    const streamId = Number(message.stream_id);
    return setTopicPolicy(app, streamId, message.subject, toggledMute(store, streamId, message.subject));
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
          .find((message) => message && canEdit(app, message) && timeline.rowOf(message.id));
        if (!last) return false;
        timeline.rowOf(last.id)?.scrollIntoView({ block: "nearest" });
        void editMessage(app, last, timeline);
      },
    }),
  );
}
