/**
 * Dialogs and menus, which the start of the page does not need: the module of each is loaded with the first call, or
 * once the page has come to rest.
 * @module
 */

import { t } from "../lib/words.js";
import { holdKeys } from "../platform/keyboard.js";
import { toast } from "./popover.js";

/** @type {Set<() => Promise<unknown>>} */
const loads = new Set();

/** A function that loads its module with the first call. Dialogs with editors, which open others of these, are named in
 * `message_commands.js`, so that no module imports itself.
 * @template {any[]} A @template R @param {() => Promise<(...args: A) => R>} load @returns {(...args: A) => Promise<R | undefined>} */
export function onDemand(load) {
  loads.add(load);
  return async (...args) => {
    const run = await holdKeys(load()).catch(() => toast(t("This could not be loaded. Please load the page again."), true));
    return run?.(...args);
  };
}

/** Loads all of them, so that they open at once, and also after the server has a new version. */
export const loadOnDemand = () => Promise.all([...loads].map((load) => load()));

export const loadRecipients = onDemand(async () => {
  const recipients = await import("./recipients.js");
  return () => recipients;
});
export const showEmojiPicker = onDemand(async () => (await import("./emoji_picker.js")).showEmojiPicker);
export const showMainMenu = onDemand(async () => (await import("./main_menu.js")).showMainMenu);
export const showPersonalMenu = onDemand(async () => (await import("./main_menu.js")).showPersonalMenu);
export const showPalette = onDemand(async () => (await import("./search.js")).showPalette);
export const showNewTime = onDemand(async () => (await import("./schedule.js")).showNewTime);
export const showReminder = onDemand(async () => (await import("./schedule.js")).showReminder);
export const showSnippets = onDemand(async () => (await import("./schedule.js")).showSnippets);
export const showSendMenu = onDemand(async () => (await import("./send_menu.js")).showSendMenu);
export const showStatusDialog = onDemand(async () => (await import("./status.js")).showStatusDialog);
export const showTimeDialog = onDemand(async () => (await import("./time_dialog.js")).showTimeDialog);
export const showUserCard = onDemand(async () => (await import("./user_card.js")).showUserCard);
export const showTopicMenu = onDemand(async () => (await import("./topic_actions.js")).showTopicMenu);
export const showChannelMenu = onDemand(async () => (await import("./topic_actions.js")).showChannelMenu);
export const setTopicPolicy = onDemand(async () => (await import("./topic_actions.js")).setTopicPolicy);
export const toggleResolved = onDemand(async () => (await import("./topic_actions.js")).toggleResolved);
