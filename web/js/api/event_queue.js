/**
 * The event queue: registers, polls, and keeps polling through lost networks, sleep and restarts of the server.
 * @module
 */

import { signal } from "../lib/signal.js";
import { ApiError } from "./client.js";
import { deleteQueue, getEvents, register } from "./endpoints.js";

/** @typedef {import("../../types/api.js").Event} Event */
/** @typedef {import("../../types/api.js").State} State */

/** The longest wait between two attempts, in milliseconds. */
const MAX_DELAY = 20_000;

/** The time limit of a registration, whose reply is large, in milliseconds. */
const REGISTRATION_TIMEOUT = 180_000;

/** `idle`: the queue was given up, since the page is hidden. */
/** @typedef {"starting" | "online" | "offline" | "idle"} Status */

/** @param {{ onState: (state: State) => void, onEvents: (events: Event[]) => void, onRecovered?: () => void }} handlers
 *   `onRecovered`: a poll succeeded after others had failed. */
export function createEventQueue({ onState, onEvents, onRecovered }) {
  /** @type {import("../lib/signal.js").Signal<Status>} */
  const status = signal("starting");
  /** @type {string | null} */
  let queueId = null;
  let lastEventId = -1;
  let timeout = 90_000;
  let isRunning = false;
  let failures = 0;
  /** Aborts the request that is under way. @type {AbortController | null} */
  let asking = null;
  let wakeUp = () => {};

  /** Sends a request that is aborted after a time, and when the connection may be dead.
   * @template T @param {number} milliseconds @param {(signal: AbortSignal) => Promise<T>} send @returns {Promise<T>} */
  async function ask(milliseconds, send) {
    const own = new AbortController();
    asking = own;
    const timer = setTimeout(() => own.abort(), milliseconds);
    try {
      return await send(own.signal);
    } finally {
      clearTimeout(timer);
      if (asking === own) asking = null;
    }
  }

  async function registerQueue() {
    const state = await ask(REGISTRATION_TIMEOUT, register);
    queueId = state.queue_id;
    lastEventId = state.last_event_id;
    timeout = (state.event_queue_longpoll_timeout_seconds ?? 90) * 1000;
    failures = 0;
    onState(state);
    status.value = "online";
  }

  async function pollOnce() {
    // The first poll after a failure returns at once, so that the page learns early that it is connected again.
    const params = { queue_id: queueId, last_event_id: lastEventId, ...(failures > 0 ? { dont_block: true } : {}) };
    const { events } = await ask(timeout, (signal) => getEvents(params, signal));
    const isRecovered = failures > 0;
    failures = 0;
    for (const event of events) lastEventId = Math.max(lastEventId, event.id);
    const news = events.filter((/** @type {Event} */ event) => event.type !== "heartbeat");
    if (news.length > 0) onEvents(news);
    status.value = "online";
    if (isRecovered) onRecovered?.();
  }

  /** @param {number} milliseconds */
  function pause(milliseconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      wakeUp = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
    });
  }

  /** Counts the loops: one that was stopped does not go on beside the next. */
  let loops = 0;

  async function run() {
    loops += 1;
    const own = loops;
    while (isRunning && own === loops) {
      try {
        if (queueId === null) await registerQueue();
        else await pollOnce();
        if (queueId === null) {
          // Visitors have no events. Their next start registers again, which brings the page up to date.
          isRunning = false;
          return;
        }
      } catch (error) {
        if (!isRunning || own !== loops) return;
        if (error instanceof DOMException) {
          // Aborted: the connection may be dead, or a new poll was requested.
          failures = Math.max(failures, 1);
          continue;
        }
        if (error instanceof ApiError && error.code === "BAD_EVENT_QUEUE_ID") {
          queueId = null;
          continue;
        }
        if (error instanceof ApiError && error.status === 401) {
          isRunning = false;
          return;
        }
        if (!(error instanceof ApiError)) console.error(error);
        failures += 1;
        if (failures > 1) status.value = "offline";
        const retryAfter = error instanceof ApiError ? Number(error.body["retry-after"] ?? 0) * 1000 : 0;
        const delay = Math.min(MAX_DELAY, 500 * 2 ** Math.min(failures, 6)) * (0.75 + Math.random() / 2);
        await pause(Math.max(delay, retryAfter));
      }
    }
  }

  return {
    status,
    get id() {
      return queueId;
    },
    start() {
      if (isRunning) return;
      isRunning = true;
      if (status.peek() === "idle") {
        status.value = "starting";
        failures = 1;
      }
      void run();
    },
    /** Stops polling. Continues where it was, if it starts again before the server forgot the queue. */
    stop() {
      isRunning = false;
      status.value = "idle";
      asking?.abort();
      wakeUp();
    },
    /** Asks again now: the connection may be dead although nothing said so. */
    kick() {
      asking?.abort();
      wakeUp();
    },
    /** Deletes the queue on the server. The next start registers another one. */
    async close() {
      isRunning = false;
      asking?.abort();
      const id = queueId;
      queueId = null;
      if (id) await deleteQueue(id).catch(() => {});
    },
  };
}
