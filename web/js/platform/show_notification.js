/**
 * Showing desktop notifications, in one of several tabs.
 * @module
 */

import { bridge, close, inTurn, permission, shown } from "./notifications.js";
import { go } from "./router.js";

/** @typedef {{ title: string, body: string, icon: string | null, tag: string, fragment: string, id: number }} Notice `id`: of the message. */

/** How long a claim keeps other tabs from showing the same message, in milliseconds. */
const CLAIM = 3_000;

/** Whether this tab is the first to ask for a name; the others leave the work to it. Without secure context all may.
 * @param {string} name @returns {Promise<boolean>} */
export function claim(name) {
  return new Promise((resolve) => {
    if (!navigator.locks) return resolve(true);
    void navigator.locks.request(`teamchat/${name}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock && new Promise((release) => setTimeout(release, CLAIM));
    });
  });
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
