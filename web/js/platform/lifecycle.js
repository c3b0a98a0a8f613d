/**
 * The page's life: visible or hidden, focused, asleep, online; and which of several tabs works in the background.
 *
 * Browsers allow six connections to a server. A tab that is hidden for a minute stops polling, except the one that holds
 * the lock `background`, which notifies. Without secure context there are no locks: hidden tabs then poll once a minute, and tabs ask
 * whether another one is still there.
 * @module
 */

import { signal } from "../lib/signal.js";
import { keep, kept } from "../lib/storage.js";

/** How long a hidden tab keeps polling, and how often one without locks polls then, in milliseconds. */
const HIDDEN_GRACE = 60_000;

/** A timer that is this much late means that the device was asleep. */
const TICK = 5_000;
const SLEPT = 20_000;

/** How long the user counts as active after the last input. */
const IDLE_AFTER = 5 * 60_000;

export const isVisible = signal(!document.hidden);
export const hasFocus = signal(document.hasFocus());

/** The day, for texts such as “Today”. */
export const today = signal(new Date().toDateString());

const quarterNow = () => Math.floor(Date.now() / 900_000);

/** Changes each quarter of an hour, for lists that show the times of the last 24 hours. */
export const quarter = signal(quarterNow());

let lastInput = Date.now();
let hadInput = true;

/** Whether this is the tab that goes on in the background. */
let holdsBackground = false;

/** When a tab had the focus last, shared by all tabs. */
const FOCUS = "focus";

function noteFocus() {
  if (document.hasFocus()) keep(FOCUS, String(Date.now()));
  else if (hasFocus.peek()) keep(FOCUS, null);
}

/** Whether this tab or another one of this browser has the focus. */
export const isBrowserFocused = () => document.hasFocus() || Date.now() - Number(kept(FOCUS)) < 2 * TICK;

/** The name of this tab. Its lock of that name is held until the tab ends. */
const TAB = Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join("");
void navigator.locks?.request(`teamchat/tab/${TAB}`, () => new Promise(() => {}));

/** How long a tab may take to answer where there are no locks, in milliseconds. */
const PATIENCE = 2_000;

/** Where tabs ask each other whether they are there, without locks. Null if the browser does not allow that either. */
const questions = openQuestions();
questions?.addEventListener("message", ({ data }) => data === `ask/${TAB}` && questions?.postMessage(`here/${TAB}`));

function openQuestions() {
  try {
    return navigator.locks ? null : new BroadcastChannel("teamchat/tabs");
  } catch {
    return null;
  }
}

/** Runs `run` once a tab gives no answer. A frozen tab gives none either. @param {BroadcastChannel} channel @param {string} id @param {() => void} run */
function whenSilent(channel, id, run) {
  const timer = setTimeout(() => {
    channel.removeEventListener("message", hear);
    run();
  }, PATIENCE);
  /** @param {MessageEvent} event */
  const hear = ({ data }) => {
    if (data !== `here/${id}`) return;
    clearTimeout(timer);
    channel.removeEventListener("message", hear);
    setTimeout(() => whenSilent(channel, id, run), TICK);
  };
  channel.addEventListener("message", hear);
  channel.postMessage(`ask/${id}`);
}

/** The tabs of this browser. */
export const tabs = {
  id: TAB,
  /** Runs `run` once a tab has ended. @param {string} id @param {() => void} run */
  whenEnded(id, run) {
    if (navigator.locks) void navigator.locks.request(`teamchat/tab/${id}`, () => run());
    else if (questions) whenSilent(questions, id, run);
    else setTimeout(run);
  },
  /** Whether this is the tab that works for all, where only one should. */
  isFirst: () => !navigator.locks || holdsBackground,
};

/** Whether the user is at the device. */
export const isActive = () => document.hasFocus() || Date.now() - lastInput < IDLE_AFTER;

/** Whether there was any input since the last call. */
export function takeInput() {
  const had = hadInput;
  hadInput = false;
  return had;
}

/** The next call of `takeInput` has this answer as well, as it did not reach the server. @param {boolean} had */
export function returnInput(had) {
  hadInput ||= had;
}

/** Watches the page, and starts and stops the queue with it.
 * @param {{ start(): void, stop(): void, kick(): void }} queue @param {{ onHide?: () => void, onWake?: () => void }} [handlers] */
export function watchLifecycle(queue, { onHide, onWake } = {}) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let hiddenTimer;
  /** Whether the page goes away. It is hidden after `pagehide`, when all is sent already. */
  let isLeaving = false;
  let ticked = Date.now();

  // The lock is held until the page goes away; the next tab gets it then.
  void navigator.locks?.request("teamchat/background", () => {
    holdsBackground = true;
    return new Promise(() => {});
  });

  const pollNow = () => {
    queue.start();
    queue.kick();
    onWake?.();
  };

  const hiddenForLong = () => {
    if (!document.hidden || holdsBackground) return;
    queue.stop();
    if (navigator.locks) return;
    hiddenTimer = setTimeout(() => {
      queue.start();
      hiddenTimer = setTimeout(hiddenForLong, TICK);
    }, HIDDEN_GRACE);
  };

  document.addEventListener("visibilitychange", () => {
    isVisible.value = !document.hidden;
    clearTimeout(hiddenTimer);
    if (document.hidden) {
      if (!isLeaving) onHide?.();
      hiddenTimer = setTimeout(hiddenForLong, HIDDEN_GRACE);
    } else {
      queue.start();
      if (Date.now() - ticked > SLEPT) pollNow();
    }
  });
  noteFocus();
  const focusChanged = () => {
    noteFocus();
    hasFocus.value = document.hasFocus();
  };
  addEventListener("focus", focusChanged);
  addEventListener("blur", focusChanged);
  addEventListener("online", pollNow);
  // A response that arrives while the page is frozen may be lost, however short the sleep.
  document.addEventListener("resume", pollNow);
  addEventListener("offline", () => queue.kick());
  addEventListener("pagehide", () => {
    isLeaving = true;
    onHide?.();
  });
  addEventListener("pageshow", (event) => {
    isLeaving = false;
    if (event.persisted) pollNow();
  });
  for (const type of ["pointermove", "keydown", "touchstart"]) {
    addEventListener(
      type,
      () => {
        lastInput = Date.now();
        hadInput = true;
      },
      { passive: true },
    );
  }
  setInterval(() => {
    const late = Date.now() - ticked > SLEPT;
    ticked = Date.now();
    today.value = new Date().toDateString();
    quarter.value = quarterNow();
    noteFocus();
    if (late && !document.hidden) pollNow();
  }, TICK);
}
