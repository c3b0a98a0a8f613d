/**
 * The settings of a channel: of the channel itself, and one's own for it.
 * @module
 */

import * as api from "../api/endpoints.js";
import { fill, h, icon, iconButton } from "../lib/dom.js";
import { parseJson } from "../lib/parse.js";
import { go } from "../platform/router.js";
import { channelOf } from "../store/channels.js";
import { isInGroup } from "../store/lists.js";
import { userOf } from "../store/users.js";
import { groupSelect } from "./group_select.js";
import { contentElement } from "./message_content.js";
import { avatar, button, channelIcon, checkbox, field, form, lineForm, live, row, rows, select, submitButton } from "./parts.js";
import { userPicker } from "./pickers.js";
import { confirm } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Channel} Channel */
/** @typedef {import("../lib/dom.js").Child} Child */

/** The kinds of access that people know. @type {[string, string][]} */
export const KINDS = [
  ["public", "Public: everybody but guests can join and read all"],
  ["private", "Private, with the whole history for new members"],
  ["protected", "Private, with the history from joining on"],
  ["web-public", "Web-public: anybody on the internet"],
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

/** @type {[string, string][]} */
const PERMISSIONS = [
  ["can_send_message_group", "Who can post"],
  ["can_create_topic_group", "Who can begin topics"],
  ["can_add_subscribers_group", "Who can add people"],
  ["can_subscribe_group", "Who can join by themselves"],
  ["can_remove_subscribers_group", "Who can remove people"],
  ["can_move_messages_within_channel_group", "Who can move messages in it"],
  ["can_move_messages_out_of_channel_group", "Who can move messages out of it"],
  ["can_resolve_topics_group", "Who can resolve topics"],
  ["can_delete_own_message_group", "Who can delete their own messages"],
  ["can_delete_any_message_group", "Who can delete messages of others"],
  ["can_administer_channel_group", "Who administers the channel"],
];

/** @type {[string, string][]} */
const TOPICS_POLICIES = [
  ["inherit", "As the organization"],
  ["allow_empty_topic", "Messages without topic are allowed"],
  ["disable_empty_topic", "A topic is required"],
  ["empty_topic_only", "No topics"],
];

/** @param {App} app @param {Channel} channel @param {boolean} [isInList] */
export function subscriptionButton({ session, store }, channel, isInList = false) {
  const toggle = () => {
    const { name, subscribed } = channelOf(store, channel.stream_id);
    return session.attempt(subscribed ? api.unsubscribe({ subscriptions: [name] }) : api.subscribe({ subscriptions: [{ name }] }));
  };
  const kind = `button ${isInList ? "button--small" : ""} ${isInList && !channel.subscribed ? "button--primary" : ""}`;
  return button(channel.subscribed ? "Unsubscribe" : "Subscribe", toggle, "", { class: kind });
}

/** What the sections share. @typedef {{ app: App, id: number, channel: () => Channel, mayAdmin: () => boolean,
 *   change: (params: Record<string, any>) => unknown }} Context */

/** The sections: their names, titles and contents. @type {[string, string, (context: Context) => Child][]} */
const SECTIONS = [
  ["general", "General", general],
  ["personal", "Personal", personal],
  ["subscribers", "Members", members],
  ["permissions", "Permissions", permissions],
];

/** @param {App} app @param {HTMLElement} body @param {number} id @param {string} wanted The section. */
export function channelSettings(app, body, id, wanted) {
  const { store, session } = app;
  const [section, , render] = SECTIONS.find(([key]) => key === wanted) ?? SECTIONS[0];
  /** The channel as it is now; what reads it is drawn anew with it. */
  const channel = () => {
    store.on("channels");
    return channelOf(store, id);
  };
  const mayAdmin = () => {
    store.on("groups");
    const group = channel().can_administer_channel_group;
    return Boolean(store.state.is_admin) || (group !== undefined && isInGroup(store, store.selfId, group));
  };
  const change = (/** @type {Record<string, any>} */ params) =>
    session.attempt(api.updateChannel(id, params).then(() => session.tell("Saved.")));
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
    h("a", { class: "icon-button", href: "#channels/subscribed", "aria-label": "All channels" }, icon("back")),
    h("h3", null, channelIcon(channel), " ", channel.name),
    h("a", { class: "button", href: `#${app.fragmentOf([{ operator: "channel", operand: channel.stream_id }])}` }, "View"),
    subscriptionButton(app, channel),
  ),
  h(
    "nav",
    { class: "page__tools", "aria-label": "Sections" },
    SECTIONS.map(([key, label]) => {
      const href = `#channels/${channel.stream_id}/${encodeURIComponent(channel.name)}/${key}`;
      return h("a", { class: "button button--small", href, "aria-current": key === section ? "page" : null }, label);
    }),
  ),
];

/** @param {Context} context */
function general({ app, id, channel, mayAdmin, change }) {
  const { store, session } = app;
  const disabled = !mayAdmin();
  const name = h("input", { type: "text", value: channel().name, maxlength: store.state.max_stream_name_length ?? 60, disabled });
  const description = h("textarea", { rows: 3, value: channel().description, disabled });
  const save = () =>
    change({
      ...(name.value.trim() !== channel().name ? { new_name: name.value.trim() } : {}),
      ...(description.value !== channel().description ? { description: description.value } : {}),
    });
  const archive = async () => {
    const title = `Archive #${channel().name}?`;
    if (!(await confirm(title, "Nobody can post in it any more. Its messages stay.", "Archive", { isDanger: true }))) return;
    if (await session.attempt(api.archiveChannel(id))) go("channels/subscribed");
  };
  return [
    live(() => channel().rendered_description && contentElement(app, channel().rendered_description, null)),
    form(save, field("Name", name), field("Description", description), !disabled && submitButton("Save")),
    live(() => {
      const { folder_id, topics_policy, creator_id } = channel();
      const folders = (store.state.channel_folders ?? []).filter((/** @type {any} */ folder) => !folder.is_archived);
      /** @type {[string | number, string][]} */
      const options = [["null", "None"], ...folders.map((/** @type {any} */ folder) => [folder.id, folder.name])];
      const setFolder = (/** @type {string} */ value) => void change({ folder_id: value === "null" ? null : Number(value) });
      const setPolicy = (/** @type {string} */ value) => void change({ topics_policy: value });
      return [
        (folders.length > 0 || !disabled) && field("Folder", select(options, folder_id ?? "null", setFolder, { disabled })),
        topics_policy !== undefined && field("Topics", select(TOPICS_POLICIES, topics_policy, setPolicy, { disabled })),
        h("p", { class: "muted" }, `Made by ${creator_id ? userOf(store, creator_id).full_name : "the server"}. Id ${id}.`),
      ];
    }),
    !disabled && h("div", null, button("Archive channel", archive, "danger")),
  ];
}

/** @param {Context} context */
function personal({ app, id, channel }) {
  return live(() => {
    const own = channel();
    const set = (/** @type {string} */ name, /** @type {unknown} */ value) =>
      void app.session.attempt(api.updateSubscription(id, name, value));
    const color = h("input", { type: "color", value: own.color, onchange: () => set("color", color.value) });
    return [
      !own.subscribed && h("p", { class: "muted" }, "You are not subscribed."),
      checkbox("Mute", own.is_muted, (is) => set("is_muted", is)),
      checkbox("Pin to top", own.pin_to_top, (is) => set("pin_to_top", is)),
      triState("Desktop notifications", own.desktop_notifications, (value) => set("desktop_notifications", value)),
      triState("Sounds", own.audible_notifications, (value) => set("audible_notifications", value)),
      triState("Mentions of everybody", own.wildcard_mentions_notify, (value) => set("wildcard_mentions_notify", value)),
      field("Colour", color),
    ];
  });
}

/** @param {string} label @param {boolean | null | undefined} value @param {(value: boolean | null) => void} change */
function triState(label, value, change) {
  /** @type {[string, string][]} */
  const options = [
    ["null", "As your settings"],
    ["true", "On"],
    ["false", "Off"],
  ];
  return field(
    label,
    select(options, String(value ?? null), (text) => change(parseJson(text))),
  );
}

/** @param {Context} context */
function permissions({ app, channel, mayAdmin, change }) {
  return live(() => {
    const own = channel();
    const disabled = !mayAdmin();
    const kinds = KINDS.filter(([key]) => key !== "web-public" || app.store.state.realm_enable_spectator_access || own.is_web_public);
    return [
      field(
        "Who can read it",
        select(kinds, kindOf(own), (kind) => void change(kindParams(kind)), { disabled }),
      ),
      PERMISSIONS.filter(([name]) => own[name] !== undefined).map(([name, label]) => {
        const set = (/** @type {number} */ next, /** @type {any} */ old) => void change({ [name]: { new: next, old } });
        return field(label, groupSelect(app, own[name], set, { disabled, setting: name, kind: "stream" }));
      }),
    ];
  });
}

/** @param {Context} context */
function members({ app, id, channel }) {
  const { store, session } = app;
  const place = h("div", { class: "form" });
  const show = async () => {
    const reply = await session.attempt(api.channelMembers(id));
    const users = (reply?.subscribers ?? []).map((/** @type {number} */ userId) => userOf(store, userId));
    users.sort((/** @type {any} */ a, /** @type {any} */ b) => a.full_name.localeCompare(b.full_name));
    const picker = userPicker(app, { label: "Add people", chosen: [], onChange: () => {} });
    /** @param {Promise<unknown>} request */
    const then = async (request) => (await session.attempt(request)) && show();
    const params = (/** @type {number[]} */ principals) => ({ subscriptions: [{ name: channel().name }], principals });
    fill(
      place,
      lineForm(
        () => picker.ids().length > 0 && then(api.subscribe(params(picker.ids()))),
        h("div", { class: "grow" }, picker.element),
        h("button", { type: "submit", class: "button button--primary" }, "Add"),
      ),
      rows(
        users.map((/** @type {any} */ user) => {
          const remove = () => void then(api.unsubscribe({ subscriptions: [channel().name], principals: [user.user_id] }));
          const element = row(user.full_name, null, iconButton("close", `Remove ${user.full_name}`, { onclick: remove }));
          element.prepend(avatar(user, 28));
          return element;
        }),
      ),
    );
  };
  void show();
  return place;
}
