/**
 * The settings of a channel: of the channel itself, and one's own for it.
 * @module
 */

import { channelMembers, subscribe } from "../api/endpoints.js";
import * as api from "../api/endpoints_on_demand.js";
import { fill, h, icon, iconButton } from "../lib/dom.js";
import { parseJson } from "../lib/parse.js";
import { effect, signal } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { go } from "../platform/router.js";
import { mayAddTo, mayAdminister, mayHaveKind, mayRemoveFrom } from "../selectors/group_settings.js";
import { channelTerms } from "../selectors/narrow.js";
import { channelOf } from "../store/channels.js";
import { may } from "../store/lists.js";
import { userOf } from "../store/users.js";
import { checkbox, field, followChanges, form, lineForm, live, rows, rowWithPicture, saving, submit, submitButton } from "./form_parts.js";
import { groupSelect } from "./group_select.js";
import { membersPicker } from "./members_picker.js";
import { contentElement } from "./message_content.js";
import { retentionField } from "./organization_rules.js";
import { avatar, button, channelIcon, select } from "./parts.js";
import { confirm } from "./popover.js";
import { later } from "./replies.js";
import { joinChannel } from "./subscription_notice.js";
import { leaveChannel } from "./topic_actions.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Channel} Channel */
/** @typedef {import("../lib/dom.js").Child} Child */

/** The kinds of access that people know. @type {() => [string, string][]} */
export const channelKinds = () => [
  ["public", t("Public: everyone except guests can join and read everything")],
  ["private", t("Private, with the whole history for new members")],
  ["protected", t("Private, with history from the time of joining")],
  ["web-public", t("Web-public: anybody on the internet")],
];

/** @param {Channel} channel */
const kindOf = (channel) =>
  channel.is_web_public ? "web-public" : !channel.invite_only ? "public" : channel.history_public_to_subscribers ? "private" : "protected";

/** @param {string} kind */
export const kindParams = (kind) => ({
  is_private: kind === "private" || kind === "protected",
  is_web_public: kind === "web-public",
  history_public_to_subscribers: kind !== "protected",
});

/** @type {() => [string, string][]} */
const channelPermissions = () => [
  ["can_send_message_group", t("Who can post")],
  ["can_create_topic_group", t("Who can begin topics")],
  ["can_add_subscribers_group", t("Who can add people")],
  ["can_subscribe_group", t("Who can join by themselves")],
  ["can_remove_subscribers_group", t("Who can remove people")],
  ["can_move_messages_within_channel_group", t("Who can move messages in it")],
  ["can_move_messages_out_of_channel_group", t("Who can move messages out of it")],
  ["can_resolve_topics_group", t("Who can resolve topics")],
  ["can_delete_own_message_group", t("Who can delete their own messages")],
  ["can_delete_any_message_group", t("Who can delete messages of others")],
  ["can_administer_channel_group", t("Who administers the channel")],
];

/** @type {() => [string, string][]} */
export const topicsPolicies = () => [
  ["inherit", t("Same as the organization")],
  ["allow_empty_topic", t("Messages without a topic are allowed")],
  ["disable_empty_topic", t("A topic is required")],
  ["empty_topic_only", t("No topics")],
];

/** @param {App} app @param {Channel} channel @param {boolean} [isInList] */
export function subscriptionButton(app, { stream_id: id, name: channel, subscribed }, isInList = false) {
  // The button may be older than the latest change.
  const toggle = () => (channelOf(app.store, id).subscribed ? leaveChannel(app, id) : joinChannel(app, id));
  const kind = `button ${isInList ? "button--small" : ""} ${isInList && !subscribed ? "button--primary" : ""}`;
  const label = subscribed ? t("Unsubscribe from #{channel}", { channel }) : t("Subscribe to #{channel}", { channel });
  return button(subscribed ? t("Unsubscribe") : t("Subscribe"), toggle, "", { class: kind, "aria-label": label });
}

/** The context of the sections. @typedef {{ app: App, id: number, channel: () => Channel, mayAdmin: () => boolean,
 *   change: (params: Record<string, unknown>) => unknown }} Context */

/** The sections: their names, titles and contents. @type {() => [string, string, (context: Context) => Child][]} */
const channelSections = () => [
  ["general", t("General"), general],
  ["personal", t("Personal"), personal],
  ["subscribers", t("Members"), members],
  ["permissions", t("Permissions"), permissions],
];

/** @param {App} app @param {HTMLElement} body @param {number} id @param {string} wanted The section. */
export function channelSettings(app, body, id, wanted) {
  const { store, session } = app;
  const [section, , render] = channelSections().find(([key]) => key === wanted) ?? channelSections()[0];
  /** The channel as it is now. Elements that read it are drawn again when it changes. */
  const channel = () => {
    store.on("channels");
    return channelOf(store, id);
  };
  const mayAdmin = () => {
    store.on("groups", "users");
    return mayAdminister(store, channel());
  };
  const change = (/** @type {Record<string, unknown>} */ params) => saving(session, api.updateChannel(id, params));
  fill(
    body,
    live(() => head(app, channel(), section)),
    h("div", { class: "form" }, render({ app, id, channel, mayAdmin, change })),
  );
}

/** @param {App} app @param {Channel} channel @param {string} section */
const head = (app, channel, section) => [
  h(
    "div",
    { class: "page__tools", style: { "--channel": channel.color } },
    h("a", { class: "icon-button", href: "#channels/subscribed", "aria-label": t("All channels") }, icon("back")),
    h("h3", null, channelIcon(channel), " ", channel.name),
    h("a", { class: "button", href: `#${app.fragmentOf(channelTerms(channel.stream_id))}` }, t("Go to the channel")),
    subscriptionButton(app, channel),
  ),
  h(
    "nav",
    { class: "page__tools", "aria-label": t("Sections") },
    channelSections().map(([key, label]) => {
      const href = `#channels/${channel.stream_id}/${encodeURIComponent(channel.name)}/${key}`;
      return h("a", { class: "button button--small", href, "aria-current": key === section ? "page" : null }, label);
    }),
  ),
];

/** @param {Context} context */
function general({ app, id, channel, mayAdmin, change }) {
  const { store, session } = app;
  const name = h("input", { type: "text", value: channel().name, maxlength: store.state.max_stream_name_length ?? 60 });
  const description = h("textarea", { rows: 3, value: channel().description });
  const saveLine = submitButton(t("Save"));
  effect(() => {
    name.disabled = description.disabled = saveLine.hidden = !mayAdmin();
  });
  followChanges(
    () => store.on("channels"),
    [
      [name, () => channel().name],
      [description, () => channel().description],
    ],
  );
  const save = () =>
    change({
      ...(name.value.trim() !== channel().name ? { new_name: name.value.trim() } : {}),
      ...(description.value !== channel().description ? { description: description.value } : {}),
    });
  const archive = async () => {
    const title = t("Archive #{name}?", { name: channel().name });
    if (!(await confirm(title, t("No one will be able to post in it. Its messages are kept."), t("Archive"), { isDanger: true }))) return;
    if (!(await session.attempt(api.archiveChannel(id)))) return;
    go("channels/subscribed");
    const back = () => void session.attempt(api.updateChannel(id, { is_archived: false }));
    session.tell(t("#{channel} is archived.", { channel: channel().name }), { label: t("Undo"), run: back });
  };
  return [
    live(() => channel().rendered_description && contentElement(app, channel().rendered_description, null)),
    form(save, field(t("Name"), name), field(t("Description"), description), saveLine),
    emailAddress(app, channel()),
    live(() => {
      const { folder_id, topics_policy, creator_id } = channel();
      const disabled = !mayAdmin();
      const folders = (store.state.channel_folders ?? []).filter((folder) => !folder.is_archived);
      /** @type {[string | number, string][]} */
      const options = [["null", t("None")], ...folders.map((folder) => /** @type {[number, string]} */ ([folder.id, folder.name]))];
      const setFolder = (/** @type {string} */ value) => void change({ folder_id: value === "null" ? null : Number(value) });
      store.on("realm");
      const isDefault = (store.state.realm_default_streams ?? []).includes(id);
      const setDefault = (/** @type {boolean} */ is) => void session.attempt(api.setDefaultChannel(id, is));
      const setPolicy = (/** @type {string} */ value) => void change({ topics_policy: value });
      const isPolicyFixed = disabled || !may(store, "can_set_topics_policy_group");
      return [
        (folders.length > 0 || !disabled) && field(t("Folder"), select(options, folder_id ?? "null", setFolder, { disabled })),
        Boolean(store.state.is_admin) && !channel().invite_only && checkbox(t("New people are subscribed to it"), isDefault, setDefault),
        topics_policy !== undefined && field(t("Topics"), select(topicsPolicies(), topics_policy, setPolicy, { disabled: isPolicyFixed })),
        retentionField(channel().message_retention_days, (days) => void change({ message_retention_days: days }), {
          disabled: !store.state.is_owner,
          isChannel: true,
          common: store.state.realm_message_retention_days,
        }),
        h(
          "p",
          { class: "muted" },
          creator_id
            ? t("Created by {name}. ID {id}.", { name: userOf(store, creator_id).full_name, id: String(id) })
            : t("Created by the server. ID {id}.", { id: String(id) }),
        ),
      ];
    }),
    live(() => {
      if (!mayAdmin()) return null;
      const isArchived = channel().is_archived;
      const label = isArchived ? t("Restore from the archive") : t("Archive channel");
      return h("div", null, isArchived ? button(label, () => change({ is_archived: false })) : button(label, archive, "danger"));
    }),
  ];
}

/** The address for mail to the channel, if the server receives mail. @param {App} app @param {Channel} channel */
function emailAddress(app, { stream_id: id, subscribed, invite_only: isPrivate, is_web_public: isWebPublic, is_archived: isArchived }) {
  const place = h("div", { class: "form", hidden: true });
  const { session, store } = app;
  const mayRead = subscribed || isWebPublic || (!isPrivate && !store.state.is_guest);
  if (!mayRead || isArchived) return place;
  void session.attempt(api.channelEmail(id)).then((reply) => {
    if (!reply?.email) return;
    const address = h("input", { type: "text", readonly: true, value: reply.email });
    const words = t(
      "Emails to this address are posted in the channel with your permissions. Keep it secret: anyone who knows it can post.",
    );
    const end = t("When you set a new password or log out all other devices, this address stops working, and a new one is shown here.");
    const copy = button(t("Copy"), () => app.copy(reply.email, t("Copied.")));
    fill(place, field(t("Email address"), address, words), h("p", { class: "muted" }, end), h("div", null, copy));
    place.hidden = false;
  });
  return place;
}

/** @param {Context} context */
function personal({ app, id, channel }) {
  return live(() => {
    const own = channel();
    app.store.on("realm");
    const set = (/** @type {string} */ name, /** @type {unknown} */ value) =>
      void app.session.attempt(api.updateSubscription(id, name, value));
    const disabled = !own.subscribed;
    const notification = (/** @type {string} */ label, /** @type {string} */ name) =>
      triState(label, own[name], (value) => set(name, value), disabled);
    const color = h("input", { type: "color", value: own.color, disabled, onchange: () => set("color", color.value) });
    return [
      !own.subscribed && h("p", { class: "muted" }, t("You are not subscribed.")),
      checkbox(t("Mute"), own.is_muted, (is) => set("is_muted", is), { disabled }),
      checkbox(t("Pin to top"), own.pin_to_top, (is) => set("pin_to_top", is), { disabled }),
      notification(t("Desktop notifications"), "desktop_notifications"),
      notification(t("Push notifications"), "push_notifications"),
      app.store.state.settings_send_digest_emails === true && notification(t("Email notifications"), "email_notifications"),
      notification(t("Sounds"), "audible_notifications"),
      notification(t("Mentions of everyone"), "wildcard_mentions_notify"),
      field(t("Colour"), color),
    ];
  });
}

/** @param {string} label @param {boolean | null | undefined} value @param {(value: boolean | null) => void} change @param {boolean} disabled */
function triState(label, value, change, disabled) {
  /** @type {[string, string][]} */
  const options = [
    // The interface has no way back to that.
    ...(typeof value === "boolean" ? [] : /** @type {[string, string][]} */ ([["null", t("Same as your settings")]])),
    ["true", t("On")],
    ["false", t("Off")],
  ];
  return field(
    label,
    select(options, String(value ?? null), (text) => change(parseJson(text)), { disabled }),
  );
}

/** @param {Context} context */
function permissions({ app, channel, mayAdmin, change }) {
  return live(() => {
    const own = channel();
    const disabled = !mayAdmin();
    app.store.on("realm");
    const kinds = channelKinds().filter(([kind]) => kind === kindOf(own) || mayHaveKind(app.store, kind));
    return [
      field(
        t("Who can read it"),
        select(kinds, kindOf(own), (kind) => void change(kindParams(kind)), { disabled }),
      ),
      channelPermissions()
        .filter(([name]) => own[name] !== undefined)
        .map(([name, label]) => {
          const set = (/** @type {unknown} */ next, /** @type {unknown} */ old) => void change({ [name]: { new: next, old } });
          return field(label, groupSelect(app, own[name], set, { disabled, setting: name, kind: "stream", label }));
        }),
    ];
  });
}

/** @param {Context} context */
function members({ app, id, channel }) {
  const { store, session } = app;
  const picker = membersPicker(app, { label: t("Add people"), chosen: [] });
  const params = (/** @type {number[]} */ principals) => ({ subscriptions: [{ name: channel().name }], principals });
  const add = async () => {
    if (picker.ids().length > 0 && (await session.attempt(subscribe(params(picker.ids()))))) picker.clear();
  };
  /** @param {import("../../types/api.js").User} user */
  const memberRow = (user) => {
    const remove = () => void session.attempt(api.unsubscribe(params([user.user_id])));
    const mayRemove = mayRemoveFrom(store, channel(), user);
    return rowWithPicture(
      avatar(user, 28),
      user.full_name,
      null,
      mayRemove && iconButton("close", t("Remove {name}", { name: user.full_name }), { onclick: remove }),
    );
  };
  /** Depends on the areas that decide on the rights of the user, besides the channel, and on the names of people. */
  const listen = () => {
    store.on("groups", "realm", "users");
  };
  const adding = lineForm(add, h("div", { class: "grow" }, picker.element), submit(t("Add")));
  effect(() => {
    listen();
    adding.hidden = !mayAddTo(store, channel());
  });
  /** The people of the channel as they were loaded last. */
  const people = signal(/** @type {number[]} */ ([]));
  const list = live(() => {
    listen();
    const users = people.value.map((userId) => userOf(store, userId)).sort((a, b) => a.full_name.localeCompare(b.full_name));
    return rows(users.map(memberRow));
  });
  return h(
    "div",
    { class: "form" },
    adding,
    later(
      app,
      () => channelMembers(id),
      ({ subscribers }) => {
        people.value = subscribers;
        return list;
      },
      () => store.on("subscribers"),
    ),
  );
}
