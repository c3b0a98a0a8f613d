/**
 * Overlays: what the fragment shows over the page, and closes with it.
 * @module
 */

import { leaveOverlay } from "../platform/router.js";
import { showChannels } from "./channels.js";
import { showDrafts, showScheduled } from "./drafts_view.js";
import { showGroups } from "./groups.js";
import { showAbout, showFormatting, showKeys, showOperators } from "./help.js";
import { showInvite } from "./invite.js";
import { showOrganization } from "./organization.js";
import { showSettings } from "./settings.js";
import { showProfile } from "./user_card.js";

/** @typedef {import("../../types/app.js").App} App */

/** @type {Record<string, (app: App, parts: string[], onClose: () => void) => HTMLDialogElement>} */
const OVERLAYS = {
  settings: showSettings,
  organization: showOrganization,
  channels: showChannels,
  streams: showChannels,
  groups: showGroups,
  user: (app, parts, onClose) => showProfile(app, Number(parts[0]), onClose),
  drafts: (app, _, onClose) => showDrafts(app, onClose),
  scheduled: (app, _, onClose) => showScheduled(app, onClose),
  reminders: (app, _, onClose) => showScheduled(app, onClose),
  invite: (app, _, onClose) => showInvite(app, onClose),
  "keyboard-shortcuts": (_app, _, onClose) => showKeys(onClose),
  "message-formatting": (app, _, onClose) => showFormatting(app, onClose),
  "search-operators": (_app, _, onClose) => showOperators(onClose),
  "about-zulip": (app, _, onClose) => showAbout(app, onClose),
};

/** @param {App} app @param {string} fragment @returns {HTMLDialogElement} */
export function showOverlay(app, fragment) {
  const [name, ...parts] = fragment.split("/");
  /** @type {HTMLDialogElement} */
  const dialog = OVERLAYS[name](app, parts, () => {
    // Closed by the user, and not because the fragment changed.
    if (location.hash.slice(1).split("/")[0] === name) leaveOverlay();
  });
  return dialog;
}
