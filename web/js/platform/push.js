/**
 * Web Push: the browser's subscription at its push service.
 * @module
 */

/** @typedef {"insecure" | "home-screen" | "unsupported" | "denied"} Obstacle */
/** @typedef {{ endpoint: string, p256dh: string, auth: string }} PushKeys */

/** iPhones and iPads, some of which say that they are Macs. */
const isApplePhone = () =>
  /iPhone|iPad|iPod/.test(navigator.userAgent) || (/Mac OS X/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);

/** Why this browser gets no push notifications; null if it can get them. @returns {Obstacle | null} */
export function pushObstacle() {
  if (!window.isSecureContext) return "insecure";
  const isSupported = "serviceWorker" in navigator && typeof PushManager !== "undefined" && "Notification" in window;
  // Safari has them only in pages of the home screen.
  if (!isSupported) return isApplePhone() && !matchMedia("(display-mode: standalone)").matches ? "home-screen" : "unsupported";
  return Notification.permission === "denied" ? "denied" : null;
}

/** The bytes of base64url. @param {string} text */
const bytesOf = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

/** @param {PushSubscription} subscription @param {Uint8Array} key */
function isFor(subscription, key) {
  const own = subscription.options.applicationServerKey;
  if (!own) return true;
  const bytes = new Uint8Array(own);
  return bytes.length === key.length && bytes.every((byte, index) => byte === key[index]);
}

/** Subscribes for the server's key, unless the browser is subscribed for it already. @param {string} publicKey @returns {Promise<PushKeys>} */
export async function subscribePush(publicKey) {
  const { pushManager } = await navigator.serviceWorker.ready;
  const applicationServerKey = bytesOf(publicKey);
  let subscription = await pushManager.getSubscription();
  if (subscription && !isFor(subscription, applicationServerKey)) {
    await subscription.unsubscribe();
    subscription = null;
  }
  subscription ??= await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  const { endpoint, keys } = subscription.toJSON();
  if (!endpoint || !keys?.p256dh || !keys.auth) throw new Error("The subscription has no keys.");
  return { endpoint, p256dh: keys.p256dh, auth: keys.auth };
}

/** Ends the browser's subscription, if it has one. */
export async function unsubscribePush() {
  const registration = await navigator.serviceWorker?.getRegistration();
  await (await registration?.pushManager?.getSubscription())?.unsubscribe();
}
