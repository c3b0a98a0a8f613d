/**
 * Push notifications on this device: turning them on and off, and keeping the subscription.
 * @module
 */

import { errorText } from "../api/client.js";
import * as api from "../api/endpoints_on_demand.js";
import { h } from "../lib/dom.js";
import { signal } from "../lib/signal.js";
import { keep, kept } from "../lib/storage.js";
import { t } from "../lib/words.js";
import { askPermission } from "../platform/notifications.js";
import { pushObstacle, subscribePush, unsubscribePush } from "../platform/push.js";
import { checkbox, live } from "./form_parts.js";
import { createLoad } from "./load_state.js";
import { button } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */

/** The state of Web Push on the server; null until it is loaded. @type {import("../lib/signal.js").Signal<{ public_key: string | null, subscription: { endpoint: string, shows_content: boolean } | null } | null>} */
const state = signal(null);

/** @type {() => Record<import("../platform/push.js").Obstacle, string>} */
const obstacles = () => ({
  insecure: t("Push notifications need a secure connection (https)."),
  "home-screen": t(
    "On iPhone and iPad, push notifications need the home screen: choose Share and Add to Home Screen, then open this page from there.",
  ),
  unsupported: t("This browser does not support push notifications."),
  denied: t("This browser blocks notifications of this page. You can allow them in its settings."),
});

/** The choice of the user for this browser is kept here, since the server forgets it with the session: `on`, or `private` without
 * names and texts. @param {App} app */
const keyOf = ({ store }) => `push/${store.selfId}`;

/** @param {App} app */
const isOn = (app) => kept(keyOf(app)) !== null;

async function load() {
  state.value = await api.webPush();
}

/** Subscribes browser and session. @param {App} app @param {boolean} [showsContent] By default as it was. */
async function subscribe(app, showsContent) {
  const { public_key, subscription } = await api.webPush();
  if (!public_key) return;
  const shows = showsContent ?? subscription?.shows_content ?? kept(keyOf(app)) !== "private";
  await api.subscribeWebPush({ ...(await subscribePush(public_key)), shows_content: shows });
  keep(keyOf(app), shows ? "on" : "private");
}

/** Repeats the subscription at the start of the page: browsers and servers may have lost it. Ends that of another account.
 * @param {App} app */
export async function renewPush(app) {
  if (pushObstacle() || Notification.permission !== "granted") return;
  if (!isOn(app)) return unsubscribePush();
  await subscribe(app);
  // Open settings may have asked the server before.
  await load();
}

/** Ends the subscription of this browser after the session has ended: the server has ended its part with it. @param {App} app */
export async function endPush(app) {
  keep(keyOf(app), null);
  await unsubscribePush().catch(() => {});
}

/** Turns push notifications off on this device. @param {App} app */
const turnOff = (app) => Promise.allSettled([endPush(app), api.unsubscribeWebPush()]);

/** The part of the settings about push notifications on this device. @param {App} app */
export function pushSection(app) {
  const first = createLoad(app.session, load);
  if (!pushObstacle() && !state.peek()) {
    first.watch();
    void first.start();
  }
  return live(() => pushLines(app) ?? first.hint());
}

/** @param {App} app @returns {import("../lib/dom.js").Child} undefined before the server has answered */
function pushLines(app) {
  const { session } = app;
  const obstacle = pushObstacle();
  if (obstacle) return h("p", { class: "problem" }, obstacles()[obstacle]);
  const now = state.value;
  if (!now) return undefined;
  if (!now.public_key) return h("p", { class: "problem" }, t("The operator of this server has turned push notifications off."));
  const change = (/** @type {() => Promise<unknown>} */ work) => async () => {
    await session.attempt(work());
    await session.attempt(load());
  };
  if (!now.subscription || !isOn(app)) {
    const turnOn = async () => {
      if ((await askPermission()) !== "granted") return session.tell(t("This browser will show no notifications."));
      try {
        await subscribe(app);
        session.tell(t("Push notifications are on."));
      } catch (error) {
        session.tell(t("The push service of this browser cannot be reached: {error}", { error: errorText(error) }));
      }
    };
    return h("p", null, button(t("Turn on push notifications on this device"), change(turnOn), "primary"));
  }
  return h(
    "div",
    null,
    h("p", null, t("This device receives push notifications, even while this page is closed.")),
    checkbox(t("Show names and texts"), now.subscription.shows_content, (is) => void change(() => subscribe(app, is))()),
    h(
      "p",
      null,
      button(
        t("Turn off on this device"),
        change(() => turnOff(app)),
      ),
    ),
  );
}
