/**
 * The page's life: visible or hidden, focused, asleep, online; and which of several tabs works in the background.
 *
 * Browsers allow six connections to a server. A tab that is hidden for a minute stops polling, except the one that holds
 * the lock `background`, which notifies. Without secure context there are no locks: hidden tabs then poll once a minute, and the database of
 * a tab takes the place of its lock.
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

/** Whether this is the tab that keeps polling in the background. */
let holdsBackground = false;

/** When a tab had the focus last, shared by all tabs. */
const FOCUS = "focus";

function noteFocus() {
  if (document.hasFocus()) keep(FOCUS, String(Date.now()));
  else if (hasFocus.peek()) keep(FOCUS, null);
}

/** Whether this tab or another one of this browser has the focus. */
export const isBrowserFocused = () => document.hasFocus() || Date.now() - Number(kept(FOCUS)) < 2 * TICK;

/** The name of this tab. */
const TAB = Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join("");

/** The name of the lock that a tab holds until it ends, and of the database that takes its place. @param {string} id */
const lockOf = (id) => `teamchat/tab/${id}`;

void navigator.locks?.request(lockOf(TAB), () => new Promise(() => {}));

/** Without locks: a database that is open until the tab ends, so that others can delete it only then, also if the tab is busy or frozen.
 * Null if the browser refuses it. */
const database = navigator.locks ? null : openDatabase();

function openDatabase() {
  try {
    return indexedDB.open(lockOf(TAB));
  } catch {
    return null;
  }
}

/** Deletes the databases of other tabs, each when its tab has ended. */
async function deleteDatabases() {
  for (const { name } of await indexedDB.databases())
    if (name?.startsWith(lockOf("")) && name !== lockOf(TAB)) indexedDB.deleteDatabase(name);
}

// What cannot be deleted is empty.
if (database) void deleteDatabases().catch(() => {});

/** The tabs of this browser. */
export const tabs = {
  id: TAB,
  /** Runs `run` once a tab has ended. @param {string} id @param {() => void} run */
  whenEnded(id, run) {
    if (navigator.locks) return void navigator.locks.request(lockOf(id), () => run());
    if (!database) return void setTimeout(run);
    const request = indexedDB.deleteDatabase(lockOf(id));
    request.onsuccess = request.onerror = () => run();
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

/** Makes the next call of `takeInput` return this as well, because the report did not reach the server. @param {boolean} had */
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
