/**
 * Overlays: dialogs with a fragment, which open and close with it. Their modules are loaded when they are needed, or once the page is
 * idle.
 * @module
 */

import { leaveOverlay } from "../platform/router.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {(app: App, parts: string[], onClose: () => void) => HTMLDialogElement} ShowOverlay */

/** @type {Record<string, () => Promise<ShowOverlay>>} */
const OVERLAYS = {
  settings: async () => (await import("./settings.js")).showSettings,
  organization: async () => (await import("./organization.js")).showOrganization,
  channels: async () => (await import("./channels.js")).showChannels,
  groups: async () => (await import("./groups.js")).showGroups,
  user: async () => {
    const { showProfile } = await import("./user_card.js");
    return (app, parts, onClose) => showProfile(app, Number(parts[0]), onClose);
  },
  drafts: async () => (await import("./drafts_view.js")).showDrafts,
  scheduled: async () => (await import("./drafts_view.js")).showScheduled,
  invite: async () => (await import("./invite.js")).showInvite,
  integrations: async () => (await import("./integrations.js")).showIntegrations,
  "keyboard-shortcuts": async () => (await import("./help.js")).showKeys,
  "message-formatting": async () => (await import("./help.js")).showFormatting,
  "search-operators": async () => (await import("./help.js")).showOperators,
  "about-zulip": async () => (await import("./help.js")).showAbout,
};

/** @type {Record<string, string>} */
const OLDER = { streams: "channels", reminders: "scheduled" };

/** Loads the modules of all overlays, so that they open at once, and also after the server has a new version. */
export const loadOverlays = () => Promise.all(Object.values(OVERLAYS).map((load) => load()));

/** Shows an overlay, unless the fragment has changed until its module is there.
 * @param {App} app @param {string} fragment @param {() => boolean} isCurrent @returns {Promise<HTMLDialogElement | null>} */
export async function showOverlay(app, fragment, isCurrent) {
  const [name, ...parts] = fragment.split("/");
  const show = await OVERLAYS[OLDER[name] ?? name]();
  if (!isCurrent()) return null;
  return show(app, parts, () => {
    // Closed by the user, and not because the fragment changed.
    if (location.hash.slice(1).split("/")[0] === name) leaveOverlay();
  });
}
