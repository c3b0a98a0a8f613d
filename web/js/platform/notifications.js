/**
 * Notifications of the desktop.
 * @module
 */

import { go } from "./router.js";

/** @typedef {{ title: string, body: string, icon: string | null, tag: string, fragment: string, id: number }} Notice `id`: of the message. */

/** What the published desktop application adds to the page. @returns {any} */
export function bridge() {
  const found = /** @type {any} */ (window).electron_bridge;
  return found && !(found instanceof Element) ? found : null;
}

/** `unsupported`: without a secure context there are none. @returns {NotificationPermission | "unsupported"} */
export function permission() {
  if (bridge()?.new_notification) return "granted";
  if (!("Notification" in window) || !window.isSecureContext) return "unsupported";
  return Notification.permission;
}

/** Asks; browsers want a click for it. */
export async function askPermission() {
  return permission() === "unsupported" ? "unsupported" : Notification.requestPermission();
}

/** What is shown, by tag. @type {Map<string, { close(): void }>} */
const shown = new Map();

/** Ends when those that came before have used the notifications of the service worker. @type {Promise<unknown>} */
let latest = Promise.resolve();

/** Uses the notifications of the service worker, one after the other: Chromium forgets one that it is about to show while it is
 * asked for those that are shown. @template T @param {() => Promise<T>} use @returns {Promise<T>} */
function inTurn(use) {
  const used = latest.then(use);
  latest = used.catch(() => {});
  return used;
}

/** Shows a notification in place of the one with the same tag. The service worker shows it where there is one: phones know
 * no other way. @param {Notice} notice */
export const show = (notice) => inTurn(() => showNow(notice));

/** @param {Notice} notice */
async function showNow({ title, body, icon, tag, fragment, id }) {
  const options = { body, tag, icon: icon ?? undefined, silent: true, renotify: true, data: { fragment, id, count: 1 } };
  const clicked = () => {
    window.focus();
    go(fragment);
    close(tag);
  };
  const app = bridge();
  if (app?.new_notification) {
    shown.set(
      tag,
      app.new_notification(title, options, (/** @type {string} */ type) => type === "click" && clicked()),
    );
    return;
  }
  if (permission() !== "granted") return;
  const worker = await navigator.serviceWorker?.getRegistration();
  if (worker?.active) {
    // A push notification may show the message already.
    const others = await worker.getNotifications({ tag });
    if (others.some((one) => one.data?.id >= id)) return;
    shown.set(tag, {
      close: () => void inTurn(() => worker.getNotifications({ tag })).then((found) => found.forEach((one) => one.close())),
    });
    return worker.showNotification(title, options);
  }
  const notification = new Notification(title, options);
  notification.onclick = clicked;
  shown.set(tag, notification);
}

/** @param {string} tag */
function close(tag) {
  shown.get(tag)?.close();
  shown.delete(tag);
}

/** Closes the notifications whose tags fit, also those that the service worker shows. @param {(tag: string) => boolean} fits */
export async function closeWhere(fits) {
  for (const tag of [...shown.keys()]) if (fits(tag)) close(tag);
  const worker = await navigator.serviceWorker?.getRegistration();
  const others = await inTurn(async () => worker?.getNotifications?.({}) ?? []);
  for (const one of others) if (one.tag && fits(one.tag)) one.close();
}
