/**
 * Alerts by the user's settings: the title of the page, and notifications and sounds, which `notify.js` makes.
 * @module
 */

import { effect } from "../lib/signal.js";
import { throttle } from "../lib/timing.js";
import { hasFocus, isVisible } from "../platform/lifecycle.js";
import { bridge, closeWhere } from "../platform/notifications.js";
import { titleCount } from "../selectors/title.js";
import { unreadCount } from "../store/unread.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Message} Message */

/** How often the title is set, at most, in milliseconds: in a busy organization the count changes with each message. */
const TITLE_INTERVAL = 500;

/** How often notifications of what is read are looked for, at most, in milliseconds. */
const CLOSE_INTERVAL = 1000;

/** @param {App & { viewName: (route: import("../../types/app.js").Route) => string }} app */
export function startAlerts(app) {
  const { store, session } = app;
  /** How many messages a conversation was notified of since the window had the focus, or the conversation was read. @type {Map<string, number>} */
  const notified = new Map();
  /** The messages that the settings wanted to be shown or heard. @type {Set<number>} */
  const alerted = new Set();

  /** Goes by the settings of this moment: once `notify.js` is loaded, it is called at once. @type {typeof import("./notify.js").notify | undefined} */
  let notify;
  /** @param {Message} message */
  const alert = async (message) => {
    if (message.sender_id === store.selfId || message.flags.includes("read")) return;
    // If it cannot be loaded, the next message asks again.
    notify ??= await import("./notify.js").then((loaded) => loaded.notify).catch(() => undefined);
    await notify?.(app, message, alerted, notified);
  };
  session.onMessage(alert);
  // An edit may add a mention or an alert word.
  session.onEdit(alert);

  effect(() => {
    if (hasFocus.value && isVisible.value) {
      void closeWhere(() => true);
      notified.clear();
    }
  });

  // Read elsewhere.
  const closeRead = throttle(() => {
    const isRead = (/** @type {string} */ key) => unreadCount(store, key) === 0;
    for (const key of [...notified.keys()].filter(isRead)) notified.delete(key);
    void closeWhere(isRead);
  }, CLOSE_INTERVAL);
  effect(() => {
    store.on("unread");
    closeRead();
  });

  let title = "";
  const showTitle = throttle(() => {
    document.title = title;
  }, TITLE_INTERVAL);
  effect(() => {
    store.on("unread", "settings", "realm", "channels", "users");
    const count = titleCount(store);
    title = `${count > 0 ? `(${count}) ` : ""}${app.viewName(app.route.value)} - ${store.state.realm_name} - teamchat`;
    showTitle();
  });

  effect(() => {
    store.on("realm");
    bridge()?.send_event?.("realm_name", store.state.realm_name);
    bridge()?.send_event?.("realm_icon_url", store.state.realm_icon_url);
  });
}
