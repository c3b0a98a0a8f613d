/**
 * A person's card with actions, and the whole profile.
 * @module
 */

import { channelsOf, muteUser } from "../api/endpoints_on_demand.js";
import { fill, h, icon } from "../lib/dom.js";
import { asList, parseJson } from "../lib/parse.js";
import { effect } from "../lib/signal.js";
import { relativeTime } from "../lib/time.js";
import { dayText } from "../lib/time_on_demand.js";
import { locale, t } from "../lib/words.js";
import { channelTerms, directTerms } from "../selectors/narrow.js";
import { accountUrl, KINDS } from "../selectors/profile_fields.js";
import { mayResetPassword, roleNames } from "../selectors/roles.js";
import { channelOf, subscribedChannels } from "../store/channels.js";
import { ownGroups } from "../store/lists.js";
import { mentionName, presenceOf, userOf } from "../store/users.js";
import { live } from "./form_parts.js";
import { contentElement } from "./message_content.js";
import { closePopover } from "./open_popover.js";
import { avatar, button, emojiElement, ownPath, presenceDot } from "./parts.js";
import { confirm, showDialog, showPopover } from "./popover.js";
import { later } from "./replies.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").User} User */

/** The time of day in a zone such as `Europe/Paris`; empty if the browser does not know it. @param {string} timeZone */
function timeInZone(timeZone) {
  try {
    return new Intl.DateTimeFormat(locale(), { hour: "numeric", minute: "2-digit", timeZone }).format();
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
      ? t("Deactivated")
      : user.is_bot
        ? t("Bot")
        : presence === "active"
          ? t("Active now")
          : presence === "idle"
            ? t("Away")
            : last > 0
              ? t("Last active {time}", { time: relativeTime(last, store.is24Hours) })
              : t("Offline");
  const owner = user.bot_owner_id ? userOf(store, user.bot_owner_id).full_name : "";
  return h(
    "div",
    { class: "card__facts" },
    status &&
      (status.status_text || status.emoji_code) &&
      h("p", null, status.emoji_code && emojiElement(store, status), " ", status.status_text),
    // Visitors do not know who is online.
    (!store.isVisitor || user.is_bot || user.is_active === false) && h("p", null, presenceDot(presence), " ", words),
    h("p", { class: "muted" }, user.is_bot ? (owner ? t("Belongs to {name}", { name: owner }) : "") : (roleNames()[user.role] ?? "")),
    user.delivery_email && h("p", { class: "muted" }, user.delivery_email),
    local && h("p", { class: "muted" }, t("Local time: {time}", { time: local })),
  );
}

/** What a person has written into profile fields. @param {App} app @param {number} userId @param {boolean} [isCard] Only the fields for cards. */
const profileLines = (app, userId, isCard = false) =>
  (app.store.state.custom_profile_fields ?? []).flatMap((definition) => {
    const data = app.store.users.get(userId)?.profile_data?.[definition.id];
    if (!data?.value || (isCard && !definition.display_in_profile_summary)) return [];
    return [h("dt", null, definition.name), h("dd", null, profileValue(app, definition, data))];
  });

/** @param {App} app @param {number} userId @param {Element} opener */
export function showUserCard(app, userId, opener) {
  const { store, session } = app;
  const user = userOf(store, userId);
  const isSelf = userId === store.selfId;
  const isVisitorOrSelf = isSelf || store.isVisitor;
  const isMuted = store.mutedUsers.has(userId);
  const mention = `@**${mentionName(store, user)}**`;
  const fields = profileLines(app, userId, true);
  const button = (
    /** @type {keyof import("../lib/icons.js")["icons"]} */ name,
    /** @type {string} */ label,
    /** @type {() => void} */ run,
  ) =>
    h(
      "button",
      {
        type: "button",
        class: "menu__item",
        // Links in profile fields come before the first one.
        autofocus: true,
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
      fields.length > 0 && h("dl", { class: "facts card__facts" }, fields),
      h(
        "div",
        { class: "menu" },
        store.isVisitor && user.date_joined && h("p", { class: "muted" }, t("Joined"), " ", dayText(user.date_joined)),
        !store.isVisitor &&
          user.is_active !== false &&
          button("message", isSelf ? t("Notes to yourself") : t("Send direct message"), () => app.goNarrow(directTerms([userId]))),
        app.composer.destination && button("at", t("Mention"), () => app.composer.editor.insert(`${mention} `)),
        button("search", t("Messages sent"), () => app.goNarrow([{ operator: "sender", operand: userId }])),
        !isVisitorOrSelf &&
          button("mail", t("Direct messages including"), () => app.goNarrow([{ operator: "dm-including", operand: [userId] }])),
        !store.isVisitor && button("user", t("Profile"), () => app.goFragment(`user/${userId}`)),
        !store.isVisitor && button("link", t("Copy mention"), () => void app.copy(mention, t("Copied."))),
        isSelf && button("settings", t("Settings"), () => app.goFragment("settings/profile")),
        !isVisitorOrSelf &&
          !user.is_bot &&
          button("mute", isMuted ? t("Unmute") : t("Mute"), async () => {
            const undo = { label: t("Undo"), run: () => void session.attempt(muteUser(userId, isMuted)) };
            if (
              isMuted ||
              (await confirm(
                t("Mute {name}?", { name: user.full_name }),
                t("Their messages do not notify you, and are hidden until you choose to see them."),
                t("Mute"),
              ))
            )
              if (await session.attempt(muteUser(userId, !isMuted)))
                session.tell(
                  isMuted ? t("{name} is unmuted.", { name: user.full_name }) : t("{name} is muted.", { name: user.full_name }),
                  undo,
                );
          }),
        mayResetPassword(store, user) &&
          button("key", t("Link for a new password"), async () => (await import("./password_link.js")).showPasswordLink(app, user)),
      ),
    ),
    { label: t("Card of {name}", { name: user.full_name }) },
  );
}

/** What administrators change. @param {App} app @param {User} user */
async function edit(app, user) {
  if (user.is_bot) (await import("./bot_dialog.js")).editBot(app, user);
  else (await import("./person_dialog.js")).editPerson(app, user);
}

/** @param {App} app @param {number} userId @param {() => void} onClose */
export function showProfile(app, userId, onClose) {
  const { store } = app;
  const user = store.users.get(userId);
  if (!user)
    return showDialog(t("There is no such user"), () => [h("p", null, t("This person does not exist, or you cannot see them."))], {
      onClose,
      class: "dialog--small",
    });
  const groups = () => ownGroups(store).filter((group) => group.members.includes(userId));
  const ask = async () => (userId === store.selfId ? subscribedChannels(store).map(({ stream_id }) => stream_id) : channelsOf(userId));
  const channels = () =>
    later(
      app,
      ask,
      (ids) => {
        const found = ids.map((id) => channelOf(store, id)).sort((a, b) => a.name.localeCompare(b.name));
        const links = found.map(({ stream_id, name }) => h("a", { href: `#${app.fragmentOf(channelTerms(stream_id))}` }, name));
        return h("span", null, links.length > 0 ? links.flatMap((link, at) => [at > 0 && ", ", link]) : "–");
      },
      // Events say nothing of channels that others are in, and the user is not.
      () => store.on("channels"),
    );
  const list = h("dl", { class: "facts" });
  /** @param {HTMLElement} place Of the channels. */
  const showFacts = (place) => {
    store.on("users", "groups");
    const shared = groups();
    fill(list, [
      profileLines(app, userId),
      user.date_joined && [h("dt", null, t("Joined")), h("dd", null, dayText(user.date_joined))],
      shared.length > 0 && [h("dt", null, t("Groups")), h("dd", null, shared.map(({ name }) => name).join(", "))],
      h("dt", null, t("Channels")),
      h("dd", null, place),
    ]);
  };
  return showDialog(
    user.full_name,
    () => {
      const place = channels();
      effect(() => showFacts(place));
      return [
        h(
          "div",
          { class: "profile" },
          h("img", { class: "avatar", src: ownPath(`/avatar/${userId}/medium`), alt: "", width: 120, height: 120 }),
          live(() => {
            store.on("users", "presence", "status");
            return facts(app, userOf(store, userId));
          }),
        ),
        list,
        h(
          "div",
          { class: "dialog__buttons" },
          store.state.is_admin && button(t("Edit"), () => edit(app, user)),
          h("a", { class: "button button--primary", href: `#${app.fragmentOf(directTerms([userId]))}` }, t("Send direct message")),
        ),
      ];
    },
    { onClose },
  );
}

/** @param {App} app @param {import("../../types/api.js").ProfileField} definition @param {{ value: string, rendered_value?: string }} data */
function profileValue(app, definition, data) {
  if (data.rendered_value) return contentElement(app, data.rendered_value, null);
  if (definition.type === KINDS.choice) return parseJson(definition.field_data)?.[data.value]?.text ?? data.value;
  if (definition.type === KINDS.link || definition.type === KINDS.account) {
    const url = definition.type === KINDS.link ? data.value : accountUrl(app.store, definition, data.value);
    return h("a", { href: /^https?:/.test(url) ? url : null, target: "_blank", rel: "noopener noreferrer" }, data.value);
  }
  if (definition.type === KINDS.people)
    return asList(parseJson(data.value))
      .map((id) => userOf(app.store, id).full_name)
      .join(", ");
  return data.value;
}
