/**
 * The line under the messages of a channel without a subscription, with a button to subscribe; and the page of an inaccessible channel.
 * @module
 */

import { subscribe } from "../api/endpoints.js";
import { fill, h, icon } from "../lib/dom.js";
import { effect } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { button } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */

/** @param {App} app @param {number} streamId */
export function joinChannel({ session, store }, streamId) {
  const channel = store.channels.get(streamId);
  return session.attempt(subscribe({ subscriptions: [{ name: channel?.name }] }));
}

/** @param {App} app @param {number} streamId @returns {HTMLElement} */
export function subscriptionNotice(app, streamId) {
  const { store } = app;
  const element = h("div", { class: "timeline__notice", role: "status", hidden: true });
  let wasSubscribed = store.channels.get(streamId)?.subscribed === true;
  let shown = "";
  effect(() => {
    store.on("channels");
    const channel = store.channels.get(streamId);
    element.hidden = channel ? channel.subscribed || channel.is_archived : !wasSubscribed;
    wasSubscribed ||= channel?.subscribed === true;
    const what = channel ? (wasSubscribed ? "left" : "outside") : "lost";
    // Its button stays, with the focus and a click under way.
    if (element.hidden || what === shown) return;
    shown = what;
    if (!channel) return fill(element, t("You are no longer in this channel, and cannot see what is written there."));
    fill(
      element,
      wasSubscribed ? t("You are no longer subscribed to this channel.") : t("You are not subscribed to this channel."),
      " ",
      t("New messages do not appear automatically."),
      " ",
      button(t("Subscribe"), () => joinChannel(app, streamId), "small"),
    );
  });
  return element;
}

/** The page of a channel that does not exist or is not accessible. */
export const unknownChannel = () =>
  h(
    "div",
    { class: "empty" },
    icon("lock"),
    h("p", null, t("This channel does not exist, or you do not have access to it.")),
    h("p", { class: "choices" }, h("a", { class: "button", href: "#channels/all" }, t("Browse channels"))),
  );
