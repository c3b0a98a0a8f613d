/**
 * Notifications of the desktop.
 * @module
 */

/** The interface that the published desktop application adds to the page. @returns {any} */
export function bridge() {
  const found = /** @type {any} */ (window).electron_bridge;
  return found && !(found instanceof Element) ? found : null;
}

/** The permission to show notifications. `unsupported`: the page has no secure context. @returns {NotificationPermission | "unsupported"} */
export function permission() {
  if (bridge()?.new_notification) return "granted";
  if (!("Notification" in window) || !window.isSecureContext) return "unsupported";
  return Notification.permission;
}

/** Asks for the permission. Browsers require a click for it. */
export async function askPermission() {
  return permission() === "unsupported" ? "unsupported" : Notification.requestPermission();
}

/** The notifications that are shown, by tag. @type {Map<string, { close(): void }>} */
export const shown = new Map();

/** Resolves when all earlier calls of `inTurn` have ended. @type {Promise<unknown>} */
let latest = Promise.resolve();

/** Uses the notifications of the service worker, one after the other: Chromium forgets one that it is about to show while it is
 * asked for those that are shown. @template T @param {() => Promise<T>} use @returns {Promise<T>} */
export function inTurn(use) {
  const used = latest.then(use);
  latest = used.catch(() => {});
  return used;
}

/** @param {string} tag */
export function close(tag) {
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
