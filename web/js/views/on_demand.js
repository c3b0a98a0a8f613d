/**
 * Dialogs and menus, whose modules are loaded on demand. Those with editors, which open others of these, are named in
 * `message_commands.js`, and that of visitors in `visitor.js`, so that no module imports itself.
 * @module
 */

import { onDemand, opensOnDemand } from "./loading.js";

export const loadRecipients = onDemand(async () => {
  const recipients = await import("./recipients.js");
  return () => recipients;
});
export const ask = opensOnDemand(async () => (await import("./popover.js")).ask);
export const confirm = opensOnDemand(async () => (await import("./popover.js")).confirm);
export const showEmojiPicker = opensOnDemand(async () => (await import("./emoji_picker.js")).showEmojiPicker);
export const showMainMenu = opensOnDemand(async () => (await import("./main_menu.js")).showMainMenu);
export const showPersonalMenu = opensOnDemand(async () => (await import("./main_menu.js")).showPersonalMenu);
export const showPalette = opensOnDemand(async () => (await import("./search.js")).showPalette);
export const showNewTime = opensOnDemand(async () => (await import("./schedule.js")).showNewTime);
export const showReminder = opensOnDemand(async () => (await import("./schedule.js")).showReminder);
export const showSnippets = opensOnDemand(async () => (await import("./schedule.js")).showSnippets);
export const showSendMenu = opensOnDemand(async () => (await import("./send_menu.js")).showSendMenu);
export const showTimeDialog = opensOnDemand(async () => (await import("./time_dialog.js")).showTimeDialog);
export const showUserCard = opensOnDemand(async () => (await import("./user_card.js")).showUserCard);
export const showTopicMenu = opensOnDemand(async () => (await import("./topic_actions.js")).showTopicMenu);
export const showChannelMenu = opensOnDemand(async () => (await import("./topic_actions.js")).showChannelMenu);
export const showAddMenu = opensOnDemand(async () => (await import("./topic_actions.js")).showAddMenu);
export const setTopicPolicy = onDemand(async () => (await import("./topic_actions.js")).setTopicPolicy);
export const toggleResolved = onDemand(async () => (await import("./topic_actions.js")).toggleResolved);
