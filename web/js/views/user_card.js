/**
 * A person's card: who they are, and what one can do with them; and the whole profile.
 * @module
 */

import { muteUser } from "../api/endpoints.js";
import { h, icon } from "../lib/dom.js";
import { asList, parseJson } from "../lib/parse.js";
import { relativeTime } from "../lib/time.js";
import { presenceOf, userOf } from "../store/users.js";
import { parseHtml } from "./message_content.js";
import { avatar, emojiElement, ownPath, presenceDot } from "./parts.js";
import { closePopover, confirm, showDialog, showPopover } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").User} User */

/** @type {Record<number, string>} */
export const ROLES = { 100: "Owner", 200: "Administrator", 300: "Moderator", 400: "Member", 600: "Guest" };

/** Whether one may make a link with which somebody else sets a new password. @param {App} app @param {User} user */
export const mayResetPassword = ({ store }, user) =>
  Boolean(store.state.is_admin) &&
  !user.is_bot &&
  user.is_active !== false &&
  user.user_id !== store.selfId &&
  (user.role !== 100 || Boolean(store.state.is_owner));

/** The time of day in a zone such as `Europe/Paris`; empty if the browser does not know it. @param {string} timeZone */
function timeInZone(timeZone) {
  try {
    return new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit", timeZone }).format();
  } catch {
    return "";
  }
}

/** @param {App} app @param {User} user */
function facts({ store }, user) {
  const status = store.statuses.get(user.user_id);
  const presence = presenceOf(store, user.user_id, store.now());
  const last = Math.max(store.presences.get(user.user_id)?.active_timestamp ?? 0, store.presences.get(user.user_id)?.idle_timestamp ?? 0);
  const local = user.timezone ? timeInZone(user.timezone) : "";
  const words =
    user.is_active === false
      ? "Deactivated"
      : user.is_bot
        ? "Bot"
        : presence === "active"
          ? "Active now"
          : presence === "idle"
            ? "Away"
            : last > 0
              ? `Last active ${relativeTime(last, Boolean(store.setting("twenty_four_hour_time")))}`
              : "Offline";
  const owner = user.bot_owner_id ? userOf(store, user.bot_owner_id).full_name : "";
  return h(
    "div",
    { class: "card__facts" },
    status &&
      (status.status_text || status.emoji_code) &&
      h("p", null, status.emoji_code && emojiElement(store, status), " ", status.status_text),
    h("p", null, presenceDot(presence), " ", words),
    h("p", { class: "muted" }, user.is_bot ? (owner ? `Belongs to ${owner}` : "") : (ROLES[user.role] ?? "")),
    user.delivery_email && h("p", { class: "muted" }, user.delivery_email),
    local && h("p", { class: "muted" }, `Local time: ${local}`),
  );
}

/** @param {App} app @param {number} userId @param {Element} opener */
export function showUserCard(app, userId, opener) {
  const { store, session } = app;
  const user = userOf(store, userId);
  const isSelf = userId === store.selfId;
  const isMuted = store.mutedUsers.has(userId);
  // Two people of one name are told apart by their ids.
  const isShared = [...store.users.values()].filter((one) => one.full_name.toLowerCase() === user.full_name.toLowerCase()).length > 1;
  const mention = `@**${user.full_name}${isShared ? `|${userId}` : ""}**`;
  const button = (/** @type {any} */ name, /** @type {string} */ label, /** @type {() => void} */ run) =>
    h(
      "button",
      {
        type: "button",
        class: "menu__item",
        onclick: () => {
          closePopover();
          run();
        },
      },
      icon(name),
      h("span", { class: "menu__label" }, label),
    );
  showPopover(
    opener,
    h(
      "div",
      { class: "card" },
      h("div", { class: "card__head" }, avatar(user, 56), h("strong", null, user.full_name)),
      facts(app, user),
      h(
        "div",
        { class: "menu" },
        user.is_active !== false &&
          button("message", isSelf ? "Notes to yourself" : "Send direct message", () =>
            app.goNarrow([{ operator: "dm", operand: [userId] }]),
          ),
        app.composer.destination && button("at", "Mention", () => app.composer.editor.insertBlock(`${mention} `)),
        button("search", "Messages sent", () => app.goNarrow([{ operator: "sender", operand: userId }])),
        !isSelf && button("mail", "Direct messages including", () => app.goNarrow([{ operator: "dm-including", operand: [userId] }])),
        button("user", "Profile", () => app.goFragment(`user/${userId}`)),
        button("link", "Copy mention", () => void app.copy(mention, "Copied.")),
        isSelf && button("settings", "Settings", () => app.goFragment("settings/profile")),
        !isSelf &&
          !user.is_bot &&
          button("mute", isMuted ? "Unmute" : "Mute", async () => {
            if (
              isMuted ||
              (await confirm(
                `Mute ${user.full_name}?`,
                "You will not be notified of their messages, and they are hidden until you ask for them.",
                "Mute",
              ))
            )
              await session.attempt(muteUser(userId, !isMuted));
          }),
        mayResetPassword(app, user) &&
          button("key", "Link for a new password", async () => (await import("./password_link.js")).showPasswordLink(app, user)),
      ),
    ),
    { label: `Card of ${user.full_name}` },
  );
}

/** @param {App} app @param {number} userId @param {() => void} onClose */
export function showProfile(app, userId, onClose) {
  const { store } = app;
  const user = store.users.get(userId);
  if (!user)
    return showDialog("There is no such user", () => [h("p", null, "This person does not exist, or you cannot see them.")], {
      onClose,
      class: "dialog--small",
    });
  const fields = (store.state.custom_profile_fields ?? []).flatMap((/** @type {any} */ definition) => {
    const data = user.profile_data?.[definition.id];
    if (!data?.value) return [];
    return [h("dt", null, definition.name), h("dd", null, profileValue(app, definition, data))];
  });
  const channels = userId === store.selfId ? [...store.channels.values()].filter((channel) => channel.subscribed) : [];
  return showDialog(
    user.full_name,
    () => [
      h(
        "div",
        { class: "profile" },
        h("img", { class: "avatar", src: ownPath(`/avatar/${userId}/medium`), alt: "", width: 120, height: 120 }),
        facts(app, user),
      ),
      h(
        "dl",
        { class: "facts" },
        fields,
        user.date_joined && [h("dt", null, "Joined"), h("dd", null, user.date_joined.slice(0, 10))],
        channels.length > 0 && [h("dt", null, "Channels"), h("dd", null, channels.map((channel) => channel.name).join(", "))],
      ),
      h(
        "div",
        { class: "dialog__buttons" },
        h(
          "a",
          { class: "button button--primary", href: `#${app.fragmentOf([{ operator: "dm", operand: [userId] }])}` },
          "Send direct message",
        ),
      ),
    ],
    { onClose },
  );
}

/** @param {App} app @param {any} definition @param {{ value: string, rendered_value?: string }} data */
function profileValue({ store }, definition, data) {
  if (data.rendered_value) return parseHtml(data.rendered_value);
  if (definition.type === 3) return parseJson(definition.field_data)?.[data.value]?.text ?? data.value;
  if (definition.type === 5)
    return h("a", { href: /^https?:/.test(data.value) ? data.value : null, target: "_blank", rel: "noopener noreferrer" }, data.value);
  if (definition.type === 6)
    return asList(parseJson(data.value))
      .map((/** @type {number} */ id) => userOf(store, id).full_name)
      .join(", ");
  return data.value;
}
