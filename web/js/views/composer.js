/**
 * Writing: to whom, what, and sending it now or later. Drafts are kept by conversation.
 * @module
 */

import { subscribe, updateSettings } from "../api/endpoints.js";
import { closest, fill, h, icon, iconButton } from "../lib/dom.js";
import { effect } from "../lib/signal.js";
import { sendHint } from "../lib/text_edits.js";
import { t } from "../lib/words.js";
import { endCommand, holdKeys, isComposing, keyName } from "../platform/keyboard.js";
import { isTouch } from "../platform/viewport.js";
import { channelOfRoute } from "../selectors/narrow.js";
import * as writing from "../selectors/writing.js";
import { channelOf, subscribedChannels } from "../store/channels.js";
import { createComposition } from "../store/composition.js";
import { destinationOf } from "../store/conversations.js";
import { isSameDestination } from "../store/drafts.js";
import { createEditor, isSureWithout } from "./editor.js";
import { onDemand } from "./loading.js";
import { confirm, loadRecipients, showSendMenu, showSnippets, toggleResolved } from "./on_demand.js";
import { createTypingNotices } from "./typing_notices.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../store/outbox.js").Destination} Destination */
/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {import("../../types/app.js").Composer} Composer */

const quotation = onDemand(async () => (await import("./quotation.js")).quotation);

const now = () => Math.floor(Date.now() / 1000);

/** @param {App} app @returns {Composer} */
export function createComposer(app) {
  const { store, session } = app;
  const typing = createTypingNotices(store);
  const editor = createEditor(app, { label: t("Message"), onSend: () => void send(), onInput: input });
  const composition = createComposition({
    drafts: () => session.drafts,
    text: editor.value,
    now,
    onSaved: () => store.touch("drafts"),
  });
  const parts = composerElements(app, editor, { send, open, openMenu });
  const { element, form, closed, recipients, banner, sendButton } = parts;

  /** Whether the text in the box is replaced by one that was written before. */
  let isReplaced = false;

  function input() {
    composition.changed();
    const { destination } = composition;
    if (!isReplaced) typing.report(writing.isComplete(destination) && !editor.isEmpty() ? destination : null);
    showBanner();
  }

  /** Shows a text that was written before, of which others get no notice. @param {string} text */
  function showText(text) {
    isReplaced = true;
    editor.setValue(text);
    isReplaced = false;
  }

  /** @param {Destination | null} next @param {{ content?: string, focus?: boolean }} [options] */
  function open(next, { content, focus = true } = {}) {
    typing.stop();
    const text = composition.open(next, content);
    setContext();
    // The box gets the height of its text, or else of its placeholder.
    render();
    showText(text);
    if (!next) return;
    if (fields || composition.isHere()) {
      if (focus) focusFirst(next);
      return;
    }
    isOpening = true;
    void loadRecipients().then((loaded) => {
      isOpening = false;
      fields ??= loaded;
      render();
      if (focus && composition.destination) focusFirst(composition.destination);
    });
  }

  /** The fields of recipients, whose module is loaded when a message goes elsewhere. @type {typeof import("./recipients.js") | undefined} */
  let fields;
  /** Whether they are about to have the focus. */
  let isOpening = false;

  /** Focuses the first field that is to be filled in. @param {Destination} next */
  function focusFirst(next) {
    const [empty, topic] = ["[data-first]", "[data-next]:enabled"].map((field) => recipients.querySelector(field));
    if (!writing.isComplete(next) && empty instanceof HTMLElement) empty.focus();
    else if (next.type === "stream" && next.topic === "" && !composition.isHere() && topic instanceof HTMLElement) topic.focus();
    else editor.focus();
  }

  function setContext() {
    editor.context.channel = writing.channelOfDestination(composition.destination);
    editor.context.isChannel = composition.destination?.type === "stream";
  }

  function render() {
    const { destination } = composition;
    form.hidden = destination === null;
    closed.hidden = destination !== null;
    if (!destination) return;
    const isFixed = composition.isHere();
    recipients.hidden = isFixed;
    if (!isFixed && fields)
      fill(
        recipients,
        destination.type === "stream"
          ? fields.channelFields(app, destination, change, {
              needsTopic: () => writing.needsTopic(store, composition.destination),
              mayHaveTopic: () => writing.mayHaveTopic(store, composition.destination),
            })
          : fields.peopleField(app, destination, change),
        iconButton("close", t("Close"), { onclick: close }),
      );
    follow();
  }

  /** The recipient changed, and the text goes with it. @param {Partial<Destination>} changes */
  function change(changes) {
    typing.stop();
    composition.change(changes);
    editor.context.channel = writing.channelOfDestination(composition.destination);
    follow();
  }

  /** What the banner says, as JSON. Drawn again, it would be announced with each key, and its button would lose the focus. */
  let shownRemark = "";
  function showBanner() {
    const remark = writing.remark(store, composition.destination, editor.value());
    const next = JSON.stringify(remark);
    if (next === shownRemark) return;
    shownRemark = next;
    sendButton.disabled = remark?.kind === "refused";
    banner.hidden = remark === null;
    if (remark) fill(banner, remarkParts(app, remark));
  }

  /** Shows the present names and rules, which others may have changed. */
  function follow() {
    const placeholder = writing.placeholderOf(store, composition.destination);
    if (editor.textarea.placeholder !== placeholder) editor.textarea.placeholder = placeholder;
    showBanner();
  }

  /** @returns {Promise<{ destination: Destination, content: string } | null>} what would be sent, if it can be */
  async function checked() {
    const text = editor.value();
    const content = session.uploads.withoutFailed(text);
    const { destination } = composition;
    if (!destination || content.trim() === "") return null;
    const problem = writing.problem(store, destination, { text: content, isOver: editor.isOver(), isUploading: editor.isUploading() });
    if (problem) {
      session.tellError(problem);
      return null;
    }
    if (!(await isSureWithout(app, text, t("Send")))) return null;
    const count = writing.manyMentioned(store, destination, content);
    if (
      count !== null &&
      !(await confirm(
        t("Mention everyone?"),
        t({ one: "One person in this channel is notified.", other: "All {count} people in this channel are notified." }, { count }),
        t("Send"),
      ))
    )
      return null;
    return { destination: { ...destination, topic: destination.topic.trim() }, content };
  }

  async function send() {
    if (await runCommand()) return;
    const message = await checked();
    if (!message) return;
    const { destination: to, content } = message;
    session.outbox.add(to, content, now());
    const isHere = isSameDestination(to, composition.shown);
    sent(to);
    if (isHere) {
      app.toNewest();
      editor.focus();
    } else if (store.setting("web_navigate_to_sent_message") !== false) {
      app.goConversation(to);
    } else {
      session.tell(t("Sent."), { label: t("Show the message"), run: () => app.goConversation(to) });
    }
  }

  /** Commands that are not messages. */
  async function runCommand() {
    const command = editor.value();
    const settings = writing.commandSettings(command);
    if (!settings) return false;
    if ((await session.attempt(updateSettings(settings))) && editor.value() === command) editor.setValue("");
    return true;
  }

  /** What was written is on its way. @param {Destination} to */
  function sent(to) {
    session.uploads.giveUpFailed(editor.value());
    typing.stop();
    composition.sent(to, () => editor.setValue(""));
    if (!composition.destination) openShown();
  }

  /** The box is for the conversation that is open again. */
  const openShown = () => open(composition.shown, { focus: false });

  /** Keeps what is written as a draft. */
  function putAside() {
    typing.stop();
    composition.leave();
    openShown();
  }

  function close() {
    putAside();
    app.focusMain();
  }

  function openMenu() {
    const { opened } = composition;
    showSendMenu(app, parts.more, {
      ...{ editor, checked },
      // Another conversation may have been opened during the request, or this one may have moved.
      sent: (to) => composition.opened === opened && sent(to),
      keep() {
        putAside();
        session.tell(t("Saved as draft."));
      },
    });
  }

  // On a phone, a side column is above the box.
  element.addEventListener("focusin", () => app.showColumn(null));
  recipients.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || isComposing(event) || !closest(event, "[data-next]")) return;
    event.preventDefault();
    editor.focus();
  });
  editor.textarea.addEventListener("keydown", (event) => {
    if (keyName(event) !== "Ctrl+'") return;
    event.preventDefault();
    showSnippets(app, editor);
  });

  /** Writes to the conversation of a message. @param {Message} message */
  function openFor(message) {
    const to = destinationOf(store, message);
    if (!isSameDestination(to, composition.destination)) open(to);
  }

  /** @type {Composer} */
  const composer = {
    element,
    editor,
    open,
    close,
    save: composition.save,
    destinationOf: (message) => destinationOf(store, message),
    get destination() {
      return composition.destination;
    },
    /** The conversation on the screen changed. @param {Destination | null} next */
    setShown(next) {
      const hadFocus = element.contains(document.activeElement);
      const wasHere = composition.isHere();
      const isCommanded = endCommand();
      if (!composition.show(next, hadFocus || isOpening)) return open(next, { focus: next !== null && !isTouch() && !isCommanded });
      // Fields that are drawn again lose the focus and what is half written.
      if (composition.isHere() !== wasHere) render();
      if (hadFocus && !element.contains(document.activeElement) && composition.destination) focusFirst(composition.destination);
    },
    /** @param {Message} message @param {string} [prefix] */
    replyTo(message, prefix = "") {
      openFor(message);
      if (prefix) editor.setValue(prefix + editor.value());
      editor.focus();
    },
    /** @param {Message} message */
    async quote(message) {
      const text = await holdKeys(session.attempt(quotation(app, message)));
      if (!text) return;
      openFor(message);
      editor.insertBlock(text);
    },
    /** @param {Message} message */
    async forward(message) {
      const text = await holdKeys(session.attempt(quotation(app, message)));
      if (text) open({ type: "stream", to: [], topic: "" }, { content: text });
    },
    /** Takes a message back that is not sent. @param {string} localId */
    takeBack(localId) {
      const item = session.outbox.remove(localId);
      if (item) open(item.destination, { content: item.content });
    },
    hasFocus: () => element.contains(document.activeElement),
    isEmpty: () => editor.isEmpty(),
  };

  session.onMove((from, to, places) => {
    if (!composition.moved(from, to, places)) return;
    setContext();
    render();
  });

  effect(() => {
    store.on("drafts");
    const text = composition.follow();
    if (text === null) return;
    showText(text);
    typing.stop();
  });
  effect(() => {
    store.on("uploads");
    session.recoveries.value;
    if (session.uploads.elsewhere().length === 0) return;
    // Without a connection, it is loaded once there is one.
    void import("./uploads.js").then(({ removeInterrupted }) => removeInterrupted(app)).catch(() => {});
  });
  effect(() => {
    store.on("channels");
    if (composition.destination && !composition.isHere() && !recipients.contains(document.activeElement)) render();
    else follow();
  });
  effect(() => {
    for (const topic of /** @type {const} */ (["realm", "users", "groups", "recents", "subscribers"])) store.on(topic);
    follow();
  });
  return composer;
}

/** The elements of the composer.
 * @param {App} app @param {import("../../types/app.js").Editor} editor
 * @param {{ send: () => unknown, open: (next: Destination) => void, openMenu: () => void }} does */
function composerElements({ store, route }, editor, { send, open, openMenu }) {
  const recipients = h("div", { class: "composer__to" });
  const banner = h("div", { class: "composer__banner", hidden: true, role: "status" });
  const sendButton = h(
    "button",
    {
      type: "button",
      class: "button button--primary composer__send",
      "aria-label": t("Send"),
      onclick: () => void send(),
    },
    icon("send"),
  );
  const more = iconButton("chevron", t("More ways to send"), { class: "composer__more", "aria-haspopup": "menu", onclick: openMenu });
  const hint = h("span", { class: "composer__hint" });
  editor.toolbar.append(h("span", { class: "composer__actions" }, hint, sendButton, more));
  effect(() => {
    store.on("settings");
    const text = sendHint(Boolean(store.setting("enter_sends")), isTouch());
    hint.textContent = text;
    sendButton.title = text ? t("Send ({hint})", { hint: text }) : t("Send");
  });
  const form = h("div", { class: "composer__form" }, banner, recipients, editor.element);

  /** The channel that is open, or else the only one there is to choose. @returns {number[]} */
  const channelHere = () => {
    const streamId = channelOfRoute(route.peek());
    if (streamId !== null) return [streamId];
    const ids = subscribedChannels(store).map((channel) => channel.stream_id);
    return ids.length === 1 ? ids : [];
  };
  /** @param {keyof import("../lib/icons.js")["icons"]} name @param {import("../lib/dom.js").Child} label @param {string} key @param {() => Destination} to */
  const opener = (name, label, key, to) =>
    h("button", { type: "button", class: "button", dataset: { key }, onclick: () => open(to()) }, icon(name), label);
  const newMessage = h("span");
  const closed = h(
    "div",
    { class: "composer__closed" },
    opener("hash", newMessage, "c", () => ({ type: "stream", to: channelHere(), topic: "" })),
    opener("mail", h("span", null, t("Direct message")), "x", () => ({ type: "direct", to: [], topic: "" })),
  );
  // In a channel the button is the box in which one writes.
  effect(() => {
    store.on("channels");
    const streamId = channelOfRoute(route.value);
    closed.dataset.place = streamId === null ? "" : "channel";
    newMessage.textContent = streamId === null ? t("New message") : t("Message #{channel}", { channel: channelOf(store, streamId).name });
  });
  const element = h("section", { class: "composer", "aria-label": t("Compose") }, closed, form);
  return { element, form, closed, recipients, banner, sendButton, more };
}

/** @param {App} app @param {NonNullable<ReturnType<typeof writing.remark>>} remark @returns {import("../lib/dom.js").Child[]} */
function remarkParts(app, remark) {
  if (remark.kind === "refused") return [icon("warning"), remark.reason];
  if (remark.kind === "many")
    return [icon("warning"), t({ one: "This mentions one person.", other: "This mentions {count} people." }, { count: remark.count })];
  if (remark.kind === "guests") return [icon("warning"), t("Not members of this organization: {names}.", { names: remark.names })];
  if (remark.kind === "outside") {
    const params = { subscriptions: [{ name: channelOf(app.store, remark.streamId).name }], principals: remark.ids };
    const add = () => app.session.attempt(subscribe(params));
    return [
      icon("warning"),
      t("Not subscribed to this channel, so not notified: {names}.", { names: remark.names }),
      " ",
      remark.mayAdd && h("button", { type: "button", class: "link", onclick: () => void add() }, t("Add")),
    ];
  }
  const { streamId, topic } = remark;
  return [
    icon("check"),
    t("This topic is resolved."),
    " ",
    remark.mayResolve &&
      h("button", { type: "button", class: "link", onclick: () => void toggleResolved(app, streamId, topic) }, t("Mark as unresolved")),
  ];
}
