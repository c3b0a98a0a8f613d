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

/** Loads a module, and holds keys meanwhile. @template T @param {() => Promise<T>} load */
const loaded = (load) => holdKeys(load()).catch(() => toast(t("This could not be loaded. Please load the page again."), true));

/** A function that loads its module with the first call.
 * @template {any[]} A @template R @param {() => Promise<(...args: A) => R>} load @returns {(...args: A) => Promise<R | undefined>} */
export function onDemand(load) {
  loads.add(load);
  return async (...args) => {
    const run = await loaded(load);
    return run?.(...args);
  };
}

/** How often something was to open. */
let requests = 0;

/** The same for what opens over the page: of several that are asked for while they load, as by a double click, the last one opens.
 * Dialogs with editors, which open others of these, are named in `message_commands.js`, so that no module imports itself.
 * @template {any[]} A @template R @param {() => Promise<(...args: A) => R>} load @returns {(...args: A) => Promise<R | undefined>} */
export function opensOnDemand(load) {
  loads.add(load);
  return async (...args) => {
    requests += 1;
    const own = requests;
    const run = await loaded(load);
    return own === requests ? run?.(...args) : undefined;
  };
}

/** Loads all of them, so that they open at once, and also after the server has a new version. */
export const loadOnDemand = () => Promise.all([...loads].map((load) => load()));

export const loadRecipients = onDemand(async () => {
  const recipients = await import("./recipients.js");
  return () => recipients;
});
export const showEmojiPicker = opensOnDemand(async () => (await import("./emoji_picker.js")).showEmojiPicker);
export const showMainMenu = opensOnDemand(async () => (await import("./main_menu.js")).showMainMenu);
export const showPersonalMenu = opensOnDemand(async () => (await import("./main_menu.js")).showPersonalMenu);
export const showPalette = opensOnDemand(async () => (await import("./search.js")).showPalette);
export const showNewTime = opensOnDemand(async () => (await import("./schedule.js")).showNewTime);
export const showReminder = opensOnDemand(async () => (await import("./schedule.js")).showReminder);
export const showSnippets = opensOnDemand(async () => (await import("./schedule.js")).showSnippets);
export const showSendMenu = opensOnDemand(async () => (await import("./send_menu.js")).showSendMenu);
export const showStatusDialog = opensOnDemand(async () => (await import("./status.js")).showStatusDialog);
export const showTimeDialog = opensOnDemand(async () => (await import("./time_dialog.js")).showTimeDialog);
export const showUserCard = opensOnDemand(async () => (await import("./user_card.js")).showUserCard);
export const showTopicMenu = opensOnDemand(async () => (await import("./topic_actions.js")).showTopicMenu);
export const showChannelMenu = opensOnDemand(async () => (await import("./topic_actions.js")).showChannelMenu);
export const setTopicPolicy = onDemand(async () => (await import("./topic_actions.js")).setTopicPolicy);
export const toggleResolved = onDemand(async () => (await import("./topic_actions.js")).toggleResolved);
