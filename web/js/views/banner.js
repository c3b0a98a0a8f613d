/**
 * The banner about a lost connection, or about notifications; and the page that is shown if the server cannot be reached at the start.
 * @module
 */

import { fill, h } from "../lib/dom.js";
import { distinct, effect, onEnd, signal } from "../lib/signal.js";
import { keep, kept } from "../lib/storage.js";
import { t } from "../lib/words.js";
import { askPermission, permission } from "../platform/notifications.js";

/** How long the connection is lost before the banner says so, in milliseconds. */
const OFFLINE_DELAY = 5000;

/** @param {import("../../types/app.js").App} app */
export function createBanner({ session, store }) {
  const element = h("div", { class: "banner", role: "status", hidden: true });
  const isLate = signal(false);
  const asked = signal(kept("asked") !== null);
  effect(() => {
    const isOffline = session.queue.status.value === "offline";
    if (!isOffline) {
      isLate.value = false;
      return;
    }
    const timer = setTimeout(() => {
      isLate.value = true;
    }, OFFLINE_DELAY);
    onEnd(() => clearTimeout(timer));
  });
  // Drawn again only if its kind changes, so that its buttons keep the focus.
  const kind = distinct(() => {
    store.on("settings");
    if (isLate.value) return "offline";
    const isUndecided = !store.isVisitor && !asked.value && permission() === "default" && store.setting("enable_desktop_notifications");
    return isUndecided ? "question" : null;
  });
  const done = () => {
    keep("asked", "1");
    asked.value = true;
  };
  effect(() => {
    const now = kind.value;
    element.hidden = now === null;
    if (now === null) return;
    element.dataset.kind = now;
    if (now === "offline") {
      fill(
        element,
        store.isVisitor ? t("No connection") : t("No connection. Messages that you write are kept, and sent when the connection is back."),
        " ",
        h("button", { type: "button", class: "link", onclick: () => session.queue.kick() }, t("Try now")),
      );
    } else {
      fill(
        element,
        t("Would you like to be notified of messages for you?"),
        " ",
        h(
          "button",
          { type: "button", class: "button button--small button--primary", onclick: () => void askPermission().then(done) },
          t("Turn on notifications"),
        ),
        " ",
        h("button", { type: "button", class: "link", onclick: done }, t("Not now")),
      );
    }
  });
  return element;
}

/** Shows that the server does not answer at the start, and lets the user try again.
 * @param {HTMLElement} root @param {() => void} retry */
export function showUnreachable(root, retry) {
  const again = h("button", { type: "button", class: "button button--primary", onclick: retry }, t("Try again"));
  root.replaceChildren(
    h(
      "main",
      { class: "login" },
      h(
        "div",
        { class: "login__box", role: "alert" },
        h("h1", null, t("No connection")),
        h("p", null, t("The server cannot be reached. This page will reconnect automatically.")),
        again,
      ),
    ),
  );
}
