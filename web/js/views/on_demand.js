/**
 * Dialogs and menus that the first picture of the page can do without: the module of each is loaded with the first call, or
 * once the page has come to rest.
 * @module
 */

import { holdKeys } from "../platform/keyboard.js";
import { toast } from "./popover.js";

/** @type {Set<() => Promise<unknown>>} */
const loads = new Set();

/** @template {any[]} A @template R @param {() => Promise<(...args: A) => R>} load @returns {(...args: A) => Promise<R | undefined>} */
function onDemand(load) {
  loads.add(load);
  return async (...args) => {
    const run = await holdKeys(load()).catch(() => toast("This could not be loaded. Please load the page again.", true));
    return run?.(...args);
  };
}

/** Loads all of them, so that they open at once, and also after the server has a new version. */
export const loadOnDemand = () => Promise.all([...loads].map((load) => load()));

export const editMessage = onDemand(async () => (await import("./message_dialogs.js")).editMessage);
export const showSource = onDemand(async () => (await import("./message_dialogs.js")).showSource);
export const showMove = onDemand(async () => (await import("./message_dialogs.js")).showMove);
export const confirmDelete = onDemand(async () => (await import("./message_dialogs.js")).confirmDelete);
export const showHistory = onDemand(async () => (await import("./message_dialogs.js")).showHistory);
export const showReceipts = onDemand(async () => (await import("./message_dialogs.js")).showReceipts);
export const showSchedule = onDemand(async () => (await import("./schedule.js")).showSchedule);
export const showReminder = onDemand(async () => (await import("./schedule.js")).showReminder);
export const showSnippets = onDemand(async () => (await import("./schedule.js")).showSnippets);
export const showStatusDialog = onDemand(async () => (await import("./status.js")).showStatusDialog);
export const showUserCard = onDemand(async () => (await import("./user_card.js")).showUserCard);
export const showTopicMenu = onDemand(async () => (await import("./topic_actions.js")).showTopicMenu);
export const showChannelMenu = onDemand(async () => (await import("./topic_actions.js")).showChannelMenu);
export const setTopicPolicy = onDemand(async () => (await import("./topic_actions.js")).setTopicPolicy);
export const toggleResolved = onDemand(async () => (await import("./topic_actions.js")).toggleResolved);
