/**
 * Typing notices: sending them, and showing those of others.
 * @module
 */

import { sendTyping } from "../api/endpoints.js";
import { onEnd } from "../lib/signal.js";
import { listed, t } from "../lib/words.js";
import { typistsOf, userOf } from "../store/users.js";

/** @typedef {import("../store/outbox.js").Destination} Destination */

/** @param {import("../store/store.js").Store} store */
export function createTypingNotices(store) {
  /** @type {{ destination: Destination, at: number } | null} */
  let sent = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {Destination} destination @param {"start" | "stop"} op */
  function send({ type, to, topic }, op) {
    const where = type === "direct" ? { type, to } : { type: "channel", stream_id: to[0], topic };
    void sendTyping({ op, ...where }).catch(() => {});
  }

  function stop() {
    clearTimeout(timer);
    if (sent) send(sent.destination, "stop");
    sent = null;
  }

  return {
    stop,
    /** Something was typed. @param {Destination | null} destination Null if nothing is written any more. */
    report(destination) {
      if (!destination) return stop();
      if (!store.setting(destination.type === "direct" ? "send_private_typing_notifications" : "send_stream_typing_notifications")) return;
      const wait = store.state.server_typing_started_wait_period_milliseconds ?? 30_000;
      if (!sent || Date.now() - sent.at > wait) {
        sent = { destination, at: Date.now() };
        send(destination, "start");
      }
      clearTimeout(timer);
      timer = setTimeout(stop, store.state.server_typing_stopped_wait_period_milliseconds ?? 12_000);
    },
  };
}

/** Shows who is typing in a conversation, until their notices end. @param {HTMLElement} line @param {import("../store/store.js").Store} store @param {string} conversation Its key. */
export function showTypists(line, store, conversation) {
  store.on("typing");
  const names = typistsOf(store, conversation).map((id) => userOf(store, id).full_name);
  line.textContent = typingText(names);
  if (names.length === 0) return;
  const timer = setTimeout(() => showTypists(line, store, conversation), 5000);
  onEnd(() => clearTimeout(timer));
}

/** @param {string[]} names */
function typingText(names) {
  if (names.length === 0) return "";
  if (names.length === 1) return t("{name} is typing…", { name: names[0] });
  return names.length < 4 ? t("{names} are typing…", { names: listed(names) }) : t("Several people are typing…");
}
