/**
 * Writing: to whom, what, and sending it now or later. Drafts are kept by conversation.
 * @module
 */

import { updateSettings } from "../api/endpoints.js";
import { closest, debounce, fill, h, icon, iconButton } from "../lib/dom.js";
import { effect } from "../lib/signal.js";
import { keyName } from "../platform/keyboard.js";
import { isTouch } from "../platform/viewport.js";
import { channelOfRoute } from "../selectors/narrow.js";
import { namesOf } from "../selectors/sidebar_items.js";
import { channelOf, subscribedChannels } from "../store/channels.js";
import { otherIds, recipientIds } from "../store/conversations.js";
import { draftKey } from "../store/drafts.js";
import { isInGroup } from "../store/lists.js";
import { createEditor } from "./editor.js";
import { quotation } from "./message_actions.js";
import { showSchedule, showSnippets, toggleResolved } from "./on_demand.js";
import { confirm, showMenu } from "./popover.js";
import { channelFields, peopleField } from "./recipients.js";
import { createTypingNotices } from "./typing_notices.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../store/outbox.js").Destination} Destination */
/** @typedef {import("../../types/api.js").Message} Message */
/** @typedef {import("../../types/app.js").Composer} Composer */

/** How many subscribers a channel has before mentioning all of them needs a second thought. */
const MANY = 15;

/** @param {App} app @returns {Composer} */
export function createComposer(app) {
  const { store, session } = app;
  /** @type {Destination | null} */
  let destination = null;
  /** The conversation that is open. @type {Destination | null} */
  let shown = null;
  const typing = createTypingNotices(store);

  const editor = createEditor(app, { label: "Message", onSend: () => void send(), onInput: input });
  const recipients = h("div", { class: "composer__to" });
  const banner = h("div", { class: "composer__banner", hidden: true, role: "status" });
  const sendButton = h(
    "button",
    {
      type: "button",
      class: "button button--primary composer__send",
      "aria-label": "Send",
      title: "Send (Ctrl+Enter)",
      onclick: () => void send(),
    },
    icon("send"),
  );
  const more = iconButton("chevron", "More ways to send", {
    class: "composer__more",
    "aria-haspopup": "menu",
    onclick: () => showSendMenu(),
  });
  editor.toolbar.append(h("span", { class: "composer__actions" }, sendButton, more));
  const form = h("div", { class: "composer__form" }, banner, recipients, editor.element);
  const closed = h(
    "div",
    { class: "composer__closed" },
    h(
      "button",
      { type: "button", class: "button", dataset: { key: "c" }, onclick: () => open({ type: "stream", to: channelHere(), topic: "" }) },
      icon("hash"),
      "New message",
    ),
    h(
      "button",
      { type: "button", class: "button", dataset: { key: "x" }, onclick: () => open({ type: "direct", to: [], topic: "" }) },
      icon("mail"),
      "Direct message",
    ),
  );
  const element = h("section", { class: "composer", "aria-label": "Compose" }, closed, form);

  /** The channel that is open, or else the only one there is to choose. @returns {number[]} */
  const channelHere = () => {
    const streamId = channelOfRoute(app.route.peek());
    if (streamId !== null) return [streamId];
    const ids = subscribedChannels(store).map((channel) => channel.stream_id);
    return ids.length === 1 ? ids : [];
  };
  /** Whether messages of the chosen channel need a topic. */
  const needsTopic = () => {
    const own = destination?.type === "stream" && destination.to.length > 0 ? channelOf(store, destination.to[0]).topics_policy : undefined;
    return (own === undefined || own === "inherit" ? store.state.realm_topics_policy : own) === "disable_empty_topic";
  };
  const isSame = (/** @type {Destination | null} */ one, /** @type {Destination | null} */ other) =>
    one !== null && other !== null && draftKey(one) === draftKey(other);
  const isComplete = (/** @type {Destination | null} */ to) => to !== null && to.to.length > 0;
  const now = () => Math.floor(Date.now() / 1000);

  const saveSoon = debounce(() => save(false), 300);
  const syncSoon = debounce(() => save(true), 3000);

  /** @param {boolean} sync */
  function save(sync) {
    if (destination) session.drafts.set(destination, editor.value(), now(), sync);
    store.touch("drafts");
  }

  function input() {
    saveSoon();
    syncSoon();
    typing.report(isComplete(destination) && !editor.isEmpty() ? destination : null);
    showBanner();
  }

  /** @param {Destination | null} next @param {{ content?: string, focus?: boolean }} [options] */
  function open(next, { content, focus = true } = {}) {
    if (destination) {
      saveSoon.cancel();
      syncSoon.cancel();
      save(true);
    }
    typing.stop();
    destination = next;
    editor.context.channel = next?.type === "stream" ? (next.to[0] ?? null) : null;
    editor.context.isChannel = next?.type === "stream";
    if (content !== undefined) editor.setValue(content);
    else editor.setValue((next && session.drafts.get(next)?.content) ?? "");
    render();
    if (!next || !focus) return;
    const empty = recipients.querySelector("[data-first]");
    if (!isComplete(next) && empty instanceof HTMLElement) empty.focus();
    else if (next.type === "stream" && next.topic === "" && !isSame(next, shown))
      /** @type {HTMLElement | null} */ (recipients.querySelector("input"))?.focus();
    else editor.focus();
  }

  function render() {
    form.hidden = destination === null;
    closed.hidden = destination !== null;
    if (!destination) return;
    const isFixed = isSame(destination, shown);
    recipients.hidden = isFixed;
    editor.textarea.placeholder = placeholder();
    if (!isFixed)
      fill(
        recipients,
        destination.type === "stream" ? channelFields(app, destination, change, needsTopic) : peopleField(app, destination, change),
        iconButton("close", "Close", { onclick: () => close() }),
      );
    showBanner();
  }

  function placeholder() {
    if (!destination) return "";
    if (destination.type === "direct")
      return destination.to.length > 0 ? `Message ${namesOf(store, destination.to)}` : "Write a direct message";
    const name = destination.to.length > 0 ? channelOf(store, destination.to[0]).name : "…";
    return destination.topic ? `Message #${name} > ${destination.topic}` : `Message #${name}`;
  }

  /** The recipient changed, and the text goes with it. @param {Partial<Destination>} changes */
  function change(changes) {
    if (!destination) return;
    typing.stop();
    session.drafts.remove(destination);
    destination = { ...destination, ...changes };
    editor.context.channel = destination.type === "stream" ? (destination.to[0] ?? null) : null;
    editor.textarea.placeholder = placeholder();
    saveSoon();
    showBanner();
  }

  /** Whether one may write there; the reason if not. @returns {string | null} */
  function refusal() {
    if (!destination || destination.type !== "stream" || destination.to.length === 0) return null;
    const channel = channelOf(store, destination.to[0]);
    if (channel.is_archived) return "This channel is archived.";
    if (channel.can_send_message_group !== undefined && !isInGroup(store, store.selfId, channel.can_send_message_group))
      return "You do not have permission to post in this channel.";
    return null;
  }

  function showBanner() {
    const reason = refusal();
    sendButton.disabled = reason !== null;
    const isResolved = destination?.type === "stream" && destination.topic.startsWith("✔ ");
    const text = editor.value();
    const isWide =
      destination?.type === "stream" &&
      /(^|\s)@\*\*(all|everyone|channel)\*\*/.test(text) &&
      (channelOf(store, destination.to[0]).subscriber_count ?? 0) > MANY;
    banner.hidden = reason === null && !(isResolved && text.trim()) && !isWide;
    if (reason) fill(banner, icon("warning"), reason);
    else if (isWide && destination)
      fill(banner, icon("warning"), `This mentions ${channelOf(store, destination.to[0]).subscriber_count} people.`);
    else if (isResolved && destination) {
      const [stream, topic] = [destination.to[0], destination.topic];
      fill(
        banner,
        icon("check"),
        "This topic is resolved. ",
        h("button", { type: "button", class: "link", onclick: () => void toggleResolved(app, stream, topic) }, "Mark as unresolved"),
      );
    }
  }

  /** @returns {Promise<{ destination: Destination, content: string } | null>} what would be sent, if it can be */
  async function checked() {
    const content = editor.value();
    if (!destination || content.trim() === "") return null;
    if (destination.to.length === 0)
      return refuse(destination.type === "direct" ? "Please choose whom to write to." : "Please choose a channel.");
    if (destination.type === "stream" && destination.topic.trim() === "" && needsTopic()) return refuse("Please choose a topic.");
    if (editor.isOver()) return refuse("The message is too long.");
    if (editor.isUploading()) return refuse("Please wait until the files are uploaded.");
    const reason = refusal();
    if (reason) return refuse(reason);
    if (destination.type === "stream" && /(^|\s)@\*\*(all|everyone|channel)\*\*/.test(content)) {
      const count = channelOf(store, destination.to[0]).subscriber_count ?? 0;
      if (count > MANY && !(await confirm("Mention everybody?", `All ${count} people in this channel are notified.`, "Send"))) return null;
    }
    return { destination: { ...destination, topic: destination.topic.trim() }, content };
  }

  /** @param {string} reason @returns {null} */
  function refuse(reason) {
    session.tell(reason, true);
    return null;
  }

  async function send() {
    if (await runCommand(editor.value().trim())) return;
    const message = await checked();
    if (!message) return;
    const { destination: to, content } = message;
    session.outbox.add(to, content, now());
    sent(to);
    if (isSame(to, shown)) {
      app.toNewest();
      editor.focus();
    } else if (store.setting("web_navigate_to_sent_message") !== false) {
      app.goConversation(to);
    } else {
      session.tell("Sent.");
    }
  }

  /** Commands that are not messages. @param {string} text */
  async function runCommand(text) {
    const scheme = { "/dark": 2, "/night": 2, "/light": 3, "/day": 3 }[text];
    if (scheme === undefined) return false;
    await session.attempt(updateSettings({ color_scheme: scheme }));
    editor.setValue("");
    return true;
  }

  /** What was written is on its way. @param {Destination} to */
  function sent(to) {
    saveSoon.cancel();
    syncSoon.cancel();
    typing.stop();
    session.drafts.remove(to);
    editor.setValue("");
    saveSoon.cancel();
    syncSoon.cancel();
    store.touch("drafts");
    if (!isSame(to, shown)) {
      destination = shown;
      if (shown) open(shown, { focus: false });
      else render();
    }
  }

  recipients.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !closest(event, "[data-next]")) return;
    event.preventDefault();
    editor.focus();
  });
  editor.textarea.addEventListener("keydown", (event) => {
    if (keyName(event) !== "Ctrl+'") return;
    event.preventDefault();
    showSnippets(app, editor);
  });

  /** @param {string} command @param {string} hint */
  function begin(command, hint) {
    editor.setValue(command);
    editor.focus();
    session.tell(hint);
  }

  function showSendMenu() {
    showMenu(
      more,
      [
        {
          label: "Send later",
          icon: "clock",
          run: async () => {
            const message = await checked();
            if (message) showSchedule(app, { ...message, onDone: () => sent(message.destination) });
          },
        },
        {
          label: "Save as draft",
          icon: "draft",
          run: () => {
            save(true);
            session.tell("Saved as draft.");
            open(shown, { focus: false, ...(shown ? {} : { content: "" }) });
          },
        },
        { label: "Insert a saved text", icon: "copy", key: "Ctrl+'", run: () => showSnippets(app, editor) },
        editor.isEmpty() && {
          label: "Poll",
          icon: "poll",
          run: () => begin("/poll ", "Write the question, and each option on a line below."),
        },
        editor.isEmpty() && {
          label: "List of tasks",
          icon: "todo",
          run: () => begin("/todo ", "Write the title, and each task on a line below, as in “bread: fresh”."),
        },
        {
          label: "Enter sends",
          icon: "keyboard",
          checked: Boolean(store.setting("enter_sends")),
          run: () => void session.attempt(updateSettings({ enter_sends: !store.setting("enter_sends") })),
        },
      ],
      "More ways to send",
    );
  }

  function close() {
    if (destination) save(true);
    typing.stop();
    destination = shown;
    open(shown, { focus: false });
    app.focusMain();
  }

  /** The conversation that a reply to a message goes to. @param {Message} message @returns {Destination} */
  const destinationOf = (message) =>
    message.type === "stream"
      ? { type: "stream", to: [Number(message.stream_id)], topic: message.subject }
      : { type: "direct", to: otherIds(store, recipientIds(message)), topic: "" };

  /** @type {Composer} */
  const composer = {
    element,
    editor,
    open,
    close,
    save,
    destinationOf,
    get destination() {
      return destination;
    },
    /** The conversation on the screen changed. @param {Destination | null} next */
    setShown(next) {
      const isElsewhere = destination !== null && !isSame(destination, shown);
      shown = next;
      // Written on, since it was opened for this conversation, or is for another on purpose.
      if (isSame(destination, next) || (isElsewhere && element.contains(document.activeElement))) return render();
      open(next, { focus: next !== null && !isTouch() });
    },
    /** @param {Message} message @param {string} [prefix] */
    replyTo(message, prefix = "") {
      const to = destinationOf(message);
      if (!isSame(to, destination)) open(to);
      if (prefix) editor.setValue(prefix + editor.value());
      editor.focus();
    },
    /** @param {Message} message */
    async quote(message) {
      const text = await session.attempt(quotation(app, message));
      if (!text) return;
      const to = destinationOf(message);
      if (!isSame(to, destination)) open(to);
      editor.insertBlock(text);
    },
    /** @param {Message} message */
    async forward(message) {
      const text = await session.attempt(quotation(app, message));
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

  // The conversation that is written to moved: the text goes with it.
  session.onMove((from, to) => {
    const goes = isSame(destination, from);
    if (isSame(shown, from)) shown = to;
    if (!goes) return;
    destination = to;
    editor.context.channel = to.to[0];
    render();
  });

  effect(() => {
    store.on("channels");
    if (destination && !isSame(destination, shown) && !recipients.contains(document.activeElement)) render();
    else showBanner();
  });
  return composer;
}
