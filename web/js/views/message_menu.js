/**
 * The menu of a message.
 * @module
 */

import { t } from "../lib/words.js";
import { channelLink } from "../selectors/links.js";
import { mayDelete, mayMove } from "../selectors/message_rights.js";
import { channelOf } from "../store/channels.js";
import {
  canEdit,
  editMessage,
  hasHistory,
  markUnreadFrom,
  showHistory,
  showMove,
  showReceipts,
  showReport,
  showSource,
  toggleFlag,
} from "./message_commands.js";
import { showReminder } from "./on_demand.js";
import { showMenu } from "./popover.js";
import { linkTo } from "./quotation.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/app.js").Timeline} Timeline */
/** @typedef {import("../../types/api.js").Message} Message */

/** @param {App} app @param {Message} asked @param {Element} opener @param {Timeline | null} timeline @param {{ x: number, y: number }} [at] */
export function showMessageMenu(app, asked, opener, timeline, at) {
  const { store, session } = app;
  // It may have changed while this was loading.
  const message = store.messages.byId.get(asked.id) ?? asked;
  if (store.isVisitor) {
    showMenu(
      opener,
      [
        { label: t("View source"), icon: "code", key: "e", run: () => void showSource(app, message) },
        { label: t("Copy link to message"), icon: "link", run: () => void app.copy(linkTo(app, message), t("Link copied.")) },
      ],
      t("Actions on the message"),
      at,
    );
    return;
  }
  const isOwn = message.sender_id === store.selfId;
  const isChannel = message.type === "stream";
  showMenu(
    opener,
    [
      { label: t("Quote and reply"), icon: "quote", key: ">", run: () => void app.composer.quote(message) },
      { label: t("Forward"), icon: "send", key: "<", run: () => void app.composer.forward(message) },
      canEdit(app, message)
        ? { label: t("Edit"), icon: "edit", key: "e", run: () => void editMessage(app, message, timeline) }
        : { label: t("View source"), icon: "code", key: "e", run: () => void showSource(app, message) },
      mayMove(store, message) && { label: t("Move messages"), icon: "move", key: "m", run: () => showMove(app, message) },
      { label: t("Mark as unread from here"), icon: "mail", key: "U", run: () => void markUnreadFrom(app, message, timeline) },
      {
        label: message.flags.includes("starred") ? t("Remove star") : t("Star"),
        icon: "star",
        key: "Ctrl+s",
        run: () => void toggleFlag(app, message, "starred"),
      },
      { label: t("Remind me"), icon: "clock", run: () => showReminder(app, message) },
      {
        label: message.flags.includes("collapsed") ? t("Show") : t("Collapse"),
        icon: "chevron",
        key: "-",
        run: () => void toggleFlag(app, message, "collapsed"),
      },
      { label: t("Copy link to message"), icon: "link", run: () => void app.copy(linkTo(app, message), t("Link copied.")) },
      isChannel && {
        label: t("Copy as link in text"),
        icon: "hash",
        run: () => void app.copy(channelLink(store, channelOf(store, Number(message.stream_id)), message.subject), t("Copied.")),
      },
      hasHistory(app) && (message.last_edit_timestamp || message.last_moved_timestamp)
        ? { label: t("Edit history"), icon: "history", key: "H", run: () => void showHistory(app, message) }
        : null,
      store.state.realm_enable_read_receipts && {
        label: t("Who has read this"),
        icon: "eye",
        key: "V",
        run: () => void showReceipts(app, message),
      },
      !isOwn &&
        (store.state.realm_moderation_request_channel_id ?? -1) > 0 && {
          label: t("Report"),
          icon: "warning",
          run: () => void showReport(app, message),
        },
      mayDelete(store, message) && { label: t("Delete"), icon: "trash", isDanger: true, run: () => session.deleteMessage(message.id) },
    ],
    t("Actions on the message"),
    at,
  );
}
