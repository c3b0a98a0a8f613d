/**
 * Telling others that one writes to them.
 * @module
 */

import { sendTyping } from "../api/endpoints.js";

/** @typedef {import("../store/outbox.js").Destination} Destination */

/** @param {import("../store/store.js").Store} store */
export function createTypingNotices(store) {
  /** @type {{ destination: Destination, at: number } | null} */
  let told = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {Destination} destination @param {"start" | "stop"} op */
  function send({ type, to, topic }, op) {
    const where = type === "direct" ? { type, to } : { type: "channel", stream_id: to[0], topic };
    void sendTyping({ op, ...where }).catch(() => {});
  }

  function stop() {
    clearTimeout(timer);
    if (told) send(told.destination, "stop");
    told = null;
  }

  return {
    stop,
    /** Something was typed. @param {Destination | null} destination Null if nothing is written any more. */
    report(destination) {
      if (!destination) return stop();
      if (!store.setting(destination.type === "direct" ? "send_private_typing_notifications" : "send_stream_typing_notifications")) return;
      const wait = store.state.server_typing_started_wait_period_milliseconds ?? 30_000;
      if (!told || Date.now() - told.at > wait) {
        told = { destination, at: Date.now() };
        send(destination, "start");
      }
      clearTimeout(timer);
      timer = setTimeout(stop, store.state.server_typing_stopped_wait_period_milliseconds ?? 12_000);
    },
  };
}
