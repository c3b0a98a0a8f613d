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
      else if (session.queue.status.value === "offline") void showOffline();
    });
  });
  await useLanguage(language());
  if (location.pathname !== "/") history.replaceState(null, "", nextPath());
  effect(() => applyAppearance(session.store));
  const app = createApp(session);
  root.replaceChildren(app.element);
  effect(() => {
    session.store.on("settings");
    if (isOtherLanguage(language())) changeLanguage();
  });
  startAlerts(app);
  if (session.store.isVisitor) startVisit(app);
  watchLifecycle(session.queue, {
    onHide() {
      app.composer.save(true);
      void session.flushMarks();
      void session.flushDeletions();
      if (!session.store.isVisitor) void session.offline.save();
    },
    onWake() {
      if (session.store.isVisitor) return;
      // A frozen page does not hear what other tabs keep.
      session.readDrafts();
      session.readEdits();
      void reportPresence(true);
    },
  });
  const ofUsers = session.store.isVisitor ? [] : [followZone, keepPush];
  setTimeout(() => [loadOverviews, loadOnDemand, loadOverlays, showIcon, ...ofUsers].forEach(whenConnected), REST);
  if (session.store.isVisitor) return;
  startPresence();
  registerWorker(catalogueUrl(bestLanguage([language()])));
  void takeShared().then(async (shared) => {
    if (!shared) return;
    app.composer.open({ type: "stream", to: [], topic: "" }, { content: shared.text });
    // A page of another site can share something, too: nothing of it is sent before the user agrees.
    const names = shared.files.map(({ name }) => name).join(", ");
    if (names && (await confirm(t("Upload files"), names, t("Upload files")))) app.composer.editor.upload(shared.files);
  });
  setInterval(() => void session.offline.save(), COPY_INTERVAL);

  /** The words of a view stay as they are, so the page starts again, and keeps what is written. */
  function changeLanguage() {
    app.composer.save(true);
    void session.flushMarks();
    location.reload();
  }

  async function showOffline() {
    const isShown = (await session.showCopy()) || session.store.generation.peek() > 0;
    if (!isShown) showUnreachable(root, () => session.queue.kick());
  }

  /** Runs what can wait; again when the connection is back, if it fails. @param {() => Promise<unknown>} run */
  function whenConnected(run) {
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

  async function showIcon() {
    const { startIcon } = await import("./views/page_icon.js");
    startIcon(app);
  }

  async function followZone() {
    const { followTimeZone } = await import("./views/time_zone.js");
    await followTimeZone(app);
  }

  async function keepPush() {
    const { renewPush } = await import("./views/push.js");
    await renewPush(app);
  }

  async function leave() {
    const menu = await import("./views/main_menu.js");
    await menu.leave(app);
  }

  let lastUpdate = -1;
  /** @param {boolean} isPing */
  async function reportPresence(isPing) {
    const idle = await bridge()?.get_idle_on_system?.();
    const status = (idle === undefined || idle === null ? isActive() : !idle) ? "active" : "idle";
    const input = takeInput();
    try {
      await session.take(
        () => api.updatePresence({ status, new_user_input: input, ping_only: isPing, last_update_id: lastUpdate }),
        (reply, since) => {
          if (reply.presence_last_update_id !== undefined) lastUpdate = reply.presence_last_update_id;
          applyPresences(session.store, reply);
          applyLatest(session.store, since, ["presence"]);
        },
      );
    } catch {
      // The next report is a minute away.
      returnInput(input);
    }
  }

  function startPresence() {
    const interval = (session.store.state.server_presence_ping_interval_seconds ?? 60) * 1000;
    const report = () => {
      if (session.queue.status.peek() !== "idle") void reportPresence(false);
    };
    report();
    setInterval(report, interval);
  }

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
