/**
 * The icons of the page and of the installed application, with the count of unread messages.
 * @module
 */

import { effect } from "../lib/signal.js";
import { throttle } from "../lib/timing.js";
import { setBadge, setIcon } from "../platform/icon.js";
import { titleCount } from "../selectors/title.js";
import { unreadCounts } from "../store/unread.js";
import { ownPath } from "./parts.js";

/** How often the icon is drawn, at most, in milliseconds: in a busy organization the count changes with each message. */
const ICON_INTERVAL = 2000;

/** @param {import("../../types/app.js").App} app */
export function startIcon({ store }) {
  const showIcon = throttle(() => {
    const plain = ownPath(store.state.realm_icon_url ?? "/static/images/organization.png");
    const count = titleCount(store);
    setIcon(count, unreadCounts(store).directs > 0, plain);
    setBadge(count);
  }, ICON_INTERVAL);
  let shown = "";
  effect(() => {
    store.on("unread", "settings", "realm", "channels");
    const now = `${titleCount(store)} ${unreadCounts(store).directs > 0} ${store.state.realm_icon_url}`;
    if (now === shown) return;
    shown = now;
    showIcon();
  });
}
