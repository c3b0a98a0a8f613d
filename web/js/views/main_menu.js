/**
 * The menus of the bar above the middle column, and logging out.
 * @module
 */

import { logOut, updateSettings } from "../api/endpoints.js";
import { t } from "../lib/words.js";
import { GUEST } from "../store/users.js";
import { showMenu } from "./popover.js";
import { showStatusDialog } from "./status.js";
import { loginPath, setScheme } from "./visitor.js";

/** @typedef {import("../../types/app.js").App} App */

/** How long the browser may take to delete what it keeps of a session, in milliseconds. The login page deletes it again. */
const ERASE_TIMEOUT = 5_000;

/** Whether the theme is dark, also where the system decides. */
function isDarkNow() {
  const { theme } = document.documentElement.dataset;
  return theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
}

/** @param {App} app @param {Element} opener @param {HTMLElement} gear The button of the main menu. */
export function showPersonalMenu(app, opener, gear) {
  const { store } = app;
  const isDark = isDarkNow();
  showMenu(
    opener,
    [
      { label: t("Set status"), icon: "smile", run: () => showStatusDialog(app) },
      { label: t("Profile"), icon: "user", run: () => app.goFragment(`user/${store.selfId}`) },
      { label: t("Settings"), icon: "settings", run: () => app.goFragment("settings/profile") },
      {
        label: isDark ? t("Light theme") : t("Dark theme"),
        icon: "sun",
        run: () => void app.session.attempt(updateSettings({ color_scheme: isDark ? 3 : 2 })),
      },
      {
        label: t("Appear offline"),
        icon: "eye",
        checked: store.setting("presence_enabled") === false,
        run: () => void app.session.attempt(updateSettings({ presence_enabled: store.setting("presence_enabled") === false })),
      },
      // Where there is no room for its button.
      gear.offsetParent === null && { label: t("Main menu"), icon: "menu", run: () => showMainMenu(app, opener) },
      { label: t("Log out"), icon: "logout", run: () => void leave(app) },
    ],
    t("Your menu"),
  );
}

/** @param {App} app @param {Element} opener */
export function showMainMenu(app, opener) {
  const { store } = app;
  const isDark = isDarkNow();
  if (store.isVisitor) {
    showMenu(
      opener,
      [
        { label: isDark ? t("Light theme") : t("Dark theme"), icon: "sun", run: () => setScheme(app, isDark ? 3 : 2) },
        { label: t("Keyboard shortcuts"), icon: "keyboard", key: "?", run: () => app.goFragment("keyboard-shortcuts") },
        { label: t("Search operators"), icon: "search", run: () => app.goFragment("search-operators") },
        { label: t("About"), icon: "help", run: () => app.goFragment("about-zulip") },
        { label: t("Log in"), icon: "user", run: () => location.assign(loginPath()) },
      ],
      t("Main menu"),
    );
    return;
  }
  showMenu(
    opener,
    [
      { label: t("Channels"), icon: "hash", run: () => app.goFragment("channels/subscribed") },
      { label: t("Groups"), icon: "group", run: () => app.goFragment("groups/all") },
      { label: t("Organization settings"), icon: "settings", run: () => app.goFragment("organization/organization-profile") },
      app.mayInvite() && { label: t("Invite people"), icon: "plus", run: () => app.goFragment("invite") },
      // Guests can have no bots.
      store.self.role !== GUEST && { label: t("Connect another program"), icon: "link", run: () => app.goFragment("integrations") },
      { label: t("Keyboard shortcuts"), icon: "keyboard", key: "?", run: () => app.goFragment("keyboard-shortcuts") },
      { label: t("Message formatting"), icon: "bold", run: () => app.goFragment("message-formatting") },
      { label: t("Search operators"), icon: "search", run: () => app.goFragment("search-operators") },
      { label: t("About"), icon: "help", run: () => app.goFragment("about-zulip") },
    ],
    t("Main menu"),
  );
}

/** Logs out. @param {App} app */
export async function leave(app) {
  const { endPush } = await import("./push.js");
  app.composer.save(true);
  // What waits needs the session.
  await Promise.all([app.session.flushMarks(), app.session.flushDeletions()]);
  await app.session.queue.close();
  // The page goes on if that fails, and so do its push notifications.
  if (!(await app.session.attempt(logOut()))) return app.session.queue.start();
  const erased = endPush(app).then(() => app.session.offline.erase());
  // Another tab that is frozen can delay that for ever. The page has no session, so it does not stay.
  await Promise.race([erased, new Promise((resolve) => setTimeout(resolve, ERASE_TIMEOUT))]);
  location.assign("/");
}
