/**
 * Reading without an account: the bar in place of the composer, and the questions to log in.
 * @module
 */

import { whenBlocked } from "../api/client.js";
import { h, icon } from "../lib/dom.js";
import { keep, kept } from "../lib/storage.js";
import { t } from "../lib/words.js";
import { isVisible } from "../platform/lifecycle.js";
import { opensOnDemand } from "./loading.js";

/** @typedef {import("../../types/app.js").App} App */

/** How often the open conversation is asked for again, in milliseconds: visitors have no events. */
const REFRESH = 60_000;

const showDialog = opensOnDemand(async () => (await import("./popover.js")).showDialog);

/** The overlays that visitors may open: help. */
const OVERLAYS = ["keyboard-shortcuts", "message-formatting", "search-operators", "about-zulip"];

/** Whether people can create an account without an invitation. */
let maySignUp = false;

/** The login page, which leads back to this place. */
export const loginPath = () => `/login/?next=${encodeURIComponent(`/${location.hash}`)}`;

/** @param {string} words @param {string} [kind] */
export const loginLink = (words, kind = "") =>
  h(
    "a",
    {
      class: `button ${kind}`,
      href: loginPath(),
      // The place may have changed since the link was drawn.
      onclick: (/** @type {Event} */ event) => /** @type {HTMLAnchorElement} */ (event.currentTarget).setAttribute("href", loginPath()),
    },
    words,
  );

/** The page where people create an account. @param {string} [kind] */
export const signUpLink = (kind = "") => h("a", { class: kind, href: "/register/" }, t("Sign up"));

/** Says that an account is needed. */
export function askToLogIn() {
  if (document.querySelector("dialog[open].dialog--login")) return;
  void showDialog(
    t("Log in"),
    () => [
      h("p", null, t("You are reading without an account. To write, to react and to see everything, log in.")),
      h("p", { class: "choices" }, loginLink(t("Log in"), "button--primary"), maySignUp && signUpLink("button")),
    ],
    { class: "dialog--login" },
  );
}

/** Whether a visitor may open an overlay. @param {string} fragment */
export const isOverlayForVisitors = (fragment) => OVERLAYS.includes(fragment.split("/")[0]);

/** The page of a conversation that visitors may not read, or that does not exist: the server does not tell which. */
export const hiddenPage = () =>
  h(
    "div",
    { class: "empty" },
    icon("lock"),
    h("p", null, t("This conversation does not exist, or it cannot be read without an account.")),
    h(
      "p",
      { class: "choices" },
      loginLink(t("Log in"), "button--primary"),
      h("a", { class: "button", href: "#recent" }, t("Recent conversations")),
    ),
  );

/** The bar in place of the composer. @returns {import("../../types/app.js").Composer} */
export function createVisitorBar() {
  const blocked = () => askToLogIn();
  const nothing = () => {};
  const textarea = h("textarea");
  /** @type {import("../../types/app.js").Editor} */
  const editor = {
    ...{ element: textarea, textarea, toolbar: textarea, context: { channel: null, isChannel: false } },
    ...{ upload: blocked, insert: blocked, insertBlock: blocked, togglePreview: async () => {}, focus: nothing },
    ...{ value: () => "", setValue: nothing, isEmpty: () => true, isOver: () => false, isUploading: () => false },
  };
  return {
    element: h("div", { class: "composer" }, h("div", { class: "composer__closed" }, loginLink(t("Log in to reply"), "button--primary"))),
    editor,
    destination: null,
    ...{ open: blocked, close: nothing, save: nothing, setShown: nothing, replyTo: blocked, takeBack: nothing },
    ...{ quote: async () => blocked(), forward: async () => blocked(), hasFocus: () => false, isEmpty: () => true },
    // Visitors read channels only.
    destinationOf: (message) => ({ type: "stream", to: [Number(message.stream_id)], topic: message.subject }),
  };
}

/** Starts what keeps the page of a visitor up to date, and what asks for a login. @param {App} app */
export function startVisit(app) {
  const { store } = app;
  document.body.dataset.visitor = "";
  whenBlocked(() => askToLogIn());
  setInterval(() => {
    const range = app.timeline?.range;
    if (range?.isLoaded && isVisible.peek()) range.markStale();
  }, REFRESH);
  const scheme = Number(kept("visitor/scheme") ?? 0);
  if (scheme) setScheme(app, scheme);
  store.touch("settings");
}

/** Chooses a theme, which the browser keeps. @param {App} app @param {number} scheme */
export function setScheme({ store }, scheme) {
  store.state.user_settings.color_scheme = /** @type {1 | 2 | 3} */ (scheme);
  keep("visitor/scheme", String(scheme));
  store.touch("settings");
}

/** Whether the server lets this browser read without an account. @param {() => Promise<Record<string, unknown>>} serverSettings */
export async function mayVisit(serverSettings) {
  if (location.pathname !== "/") return false;
  const settings = await serverSettings().catch(() => null);
  maySignUp = settings?.realm_sign_up_enabled === true;
  return settings?.realm_web_public_access_enabled === true;
}
