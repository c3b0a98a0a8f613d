/**
 * The order in which the page starts: log in if need be, register, draw, then everything that can wait.
 * @module
 */

import { catalogueUrl, csrfToken, whenLoggedOut } from "./api/client.js";
import * as api from "./api/endpoints.js";
import { parseUrl } from "./lib/parse.js";
import { effect } from "./lib/signal.js";
import { bestLanguage, t } from "./lib/words.js";
import { isActive, returnInput, tabs, takeInput, watchLifecycle } from "./platform/lifecycle.js";
import { bridge } from "./platform/notifications.js";
import { go } from "./platform/router.js";
import { watchViewport } from "./platform/viewport.js";
import { registerWorker, takeShared } from "./platform/worker.js";
import { matches, requestTerms } from "./selectors/narrow.js";
import { meansMessages } from "./selectors/routes.js";
import { forgetKnownDrafts } from "./store/drafts.js";
import { applyLatest } from "./store/events.js";
import { isOtherLanguage, languageAtStart, useLanguage } from "./store/language.js";
import { createSession } from "./store/session.js";
import { applyPresences } from "./store/users.js";
import { startAlerts } from "./views/alerts.js";
import { createApp, loadOverviews } from "./views/app.js";
import { applyAppearance } from "./views/appearance.js";
import { showUnreachable } from "./views/banner.js";
import { failure } from "./views/boundary.js";
import { loadOnDemand } from "./views/loading.js";
import { confirm } from "./views/on_demand.js";
import { loadOverlays } from "./views/overlays.js";
import { mayVisit, startVisit } from "./views/visitor.js";

/** When the page has come to rest after the start, in milliseconds. */
const REST = 5_000;

/** How often the copy of the newest conversations is written, in milliseconds. */
const COPY_INTERVAL = 10_000;

/** @typedef {import("../types/app.js").App} App */
/** @typedef {import("./store/session.js").Session} Session */

const root = /** @type {HTMLElement} */ (document.getElementById("root"));

/** Where the login page leads: a path of this server. */
function nextPath() {
  const next = new URLSearchParams(location.search).get("next");
  return next && parseUrl(next)?.origin === location.origin ? next : `/${location.hash}`;
}

async function start() {
  watchViewport();
  let isLoggedIn = true;
  const words = useLanguage(languageAtStart());
  const session = createSession({ matches, requestTerms, tabs });
  /** Removes what a session has left in the browser, for the next person there. */
  const forget = () => {
    forgetKnownDrafts();
    void session.offline.erase();
  };
  const login = async () => {
    forget();
    const [{ showLogin }] = await Promise.all([import("./views/login.js"), words]);
    await showLogin(root);
    history.replaceState(null, "", nextPath());
    location.reload();
  };
  whenLoggedOut(() => {
    if (!isLoggedIn) return;
    isLoggedIn = false;
    if (session.store.selfId) location.reload();
    else void login().catch(fail);
  });
  // Visitors do not see what a session has left.
  if (!csrfToken()) forget();
  // Without a session the server need not be asked to know that, but whether it lets visitors read.
  if (!csrfToken() && !(await mayVisit(api.serverSettings))) return login();
  session.queue.start();
  // A page that begins with messages loads the lists of conversations when it has come to rest.
  const overviews = meansMessages(location.hash.slice(1)) ? null : loadOverviews().catch(() => {});
  const language = () => session.store.setting("default_language") ?? "en";

  await Promise.all([words, overviews]);
  // The first state draws the page; later ones change it.
  await new Promise((resolve) => {
    const end = effect(() => {
      if (session.store.generation.value > 0) setTimeout(() => resolve(end()));
      else if (session.queue.status.value === "offline") void showOffline(session);
    });
  });
  await useLanguage(language());
  if (location.pathname !== "/") history.replaceState(null, "", nextPath());
  effect(() => applyAppearance(session.store));
  const app = createApp(session);
  root.replaceChildren(app.element);
  effect(() => {
    session.store.on("settings");
    if (isOtherLanguage(language())) changeLanguage(app);
  });
  startAlerts(app);
  if (session.store.isVisitor) startVisit(app);
  const reportPresence = session.store.isVisitor ? null : startPresence(session);
  watchLifecycle(session.queue, {
    onHide() {
      app.composer.save(true);
      void session.flushMarks();
      void session.flushDeletions();
      if (!session.store.isVisitor) void session.offline.save(true);
    },
    onWake() {
      if (!reportPresence) return;
      // A frozen page does not hear what other tabs keep.
      session.readDrafts();
      session.readEdits();
      void reportPresence(true);
    },
  });
  setTimeout(() => startRest(app), REST);
  if (session.store.isVisitor) return;
  registerWorker(catalogueUrl(bestLanguage([language()])));
  void openShared(app);
  setInterval(() => void session.offline.save(), COPY_INTERVAL);
  followDesktop(app);
}

/** Shows the copy of the newest conversations, or else that the server does not answer. @param {Session} session */
async function showOffline(session) {
  const isShown = (await session.showCopy()) || session.store.generation.peek() > 0;
  if (!isShown) showUnreachable(root, () => session.queue.kick());
}

/** Starts the page again with the words of another language, and keeps unsent text. @param {App} app */
function changeLanguage({ composer, session }) {
  composer.save(true);
  void session.flushMarks();
  location.reload();
}

/** Puts what another program has shared into the composer. @param {App} app */
async function openShared({ composer }) {
  const shared = await takeShared();
  if (!shared) return;
  composer.open({ type: "stream", to: [], topic: "" }, { content: shared.text });
  // A page of another site can share something, too: nothing of it is sent before the user agrees.
  const names = shared.files.map(({ name }) => name).join(", ");
  if (names && (await confirm(t("Upload files"), names, t("Upload files")))) composer.editor.upload(shared.files);
}

/** Runs work that can wait; again when the connection is back, if it fails. @param {Session} session @param {() => Promise<unknown>} run */
function whenConnected(session, run) {
  let isBegun = false;
  effect(() => {
    session.recoveries.value;
    if (isBegun) return;
    isBegun = true;
    run().catch(() => {
      isBegun = false;
    });
  });
}

/** Loads the parts of the page that can wait, and runs their work. @param {App} app */
function startRest(app) {
  const { session } = app;
  const showIcon = async () => (await import("./views/page_icon.js")).startIcon(app);
  const followZone = async () => (await import("./views/time_zone.js")).followTimeZone(app);
  const keepPush = async () => (await import("./views/push.js")).renewPush(app);
  const ofUsers = session.store.isVisitor ? [] : [followZone, keepPush];
  for (const run of [loadOverviews, loadOnDemand, loadOverlays, showIcon, ...ofUsers]) whenConnected(session, run);
}

/** Reports the presence of the user to the server, at intervals. @param {Session} session @returns {(isPing: boolean) => Promise<void>} reports it now */
function startPresence({ store, queue, take }) {
  let lastUpdate = -1;
  /** @param {boolean} isPing */
  async function report(isPing) {
    const idle = await bridge()?.get_idle_on_system?.();
    const status = (idle === undefined || idle === null ? isActive() : !idle) ? "active" : "idle";
    const input = takeInput();
    try {
      await take(
        () => api.updatePresence({ status, new_user_input: input, ping_only: isPing, last_update_id: lastUpdate }),
        (reply, since) => {
          if (reply.presence_last_update_id !== undefined) lastUpdate = reply.presence_last_update_id;
          applyPresences(store, reply);
          applyLatest(store, since, ["presence"]);
        },
      );
    } catch {
      // The next report is a minute away.
      returnInput(input);
    }
  }
  const reportUnlessIdle = () => {
    if (queue.status.peek() !== "idle") void report(false);
  };
  reportUnlessIdle();
  setInterval(reportUnlessIdle, (store.state.server_presence_ping_interval_seconds ?? 60) * 1000);
  return report;
}

/** Follows the menus of the published desktop application. @param {App} app */
function followDesktop(app) {
  const leave = async () => (await import("./views/main_menu.js")).leave(app);
  bridge()?.on_event?.("logout", () => void leave());
  bridge()?.on_event?.("show-keyboard-shortcuts", () => go("keyboard-shortcuts"));
  bridge()?.on_event?.("show-notification-settings", () => go("settings/notifications"));
}

/** @param {unknown} error */
function fail(error) {
  console.error("the page cannot be shown", error);
  root.replaceChildren(failure(t("This page")));
}

start().catch(fail);
