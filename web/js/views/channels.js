/**
 * Channels: browsing, creating, and the settings of one.
 * @module
 */

import * as api from "../api/endpoints.js";
import { debounce, fill, h, icon, iconButton } from "../lib/dom.js";
import { effect, scope } from "../lib/signal.js";
import { go } from "../platform/router.js";
import { channelOf } from "../store/channels.js";
import { isInGroup, may } from "../store/lists.js";
import { userOf } from "../store/users.js";
import { groupSelect } from "./group_select.js";
import { contentElement } from "./message_content.js";
import { avatar, channelIcon, checkbox, field, select } from "./parts.js";
import { userPicker } from "./pickers.js";
import { confirm, showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Channel} Channel */

/** @param {App} app @param {string[]} parts @param {() => void} onClose */
export function showChannels(app, parts, onClose) {
  const { store } = app;
  const mayCreate = may(store, "can_create_public_channel_group") || may(store, "can_create_private_channel_group");
  const body = h("div", { class: "channels" });
  let end = () => {};
  const dialog = showDialog("Channels", () => [body], {
    class: "dialog--full",
    onClose: () => {
      end();
      onClose();
    },
  });

  /** @param {string[]} next */
  function show(next) {
    end();
    end = scope(() => {
      const id = Number(next[0]);
      if (next[0] === "new" && mayCreate) createForm(app, body);
      else if (store.channels.has(id)) channelSettings(app, body, id, next[2] ?? "general");
      else
        browse(app, body, next[0] === "all" || next[0] === "notsubscribed" || next[0] === "available" ? next[0] : "subscribed", mayCreate);
    });
  }
  dialog.addEventListener("route", (event) => {
    event.preventDefault();
    show(
      /** @type {CustomEvent} */ (event).detail
        .split("/")
        .slice(1),
    );
  });
  show(parts);
  return dialog;
}

/** @param {App} app @param {HTMLElement} body @param {string} tab @param {boolean} mayCreate */
function browse(app, body, tab, mayCreate) {
  const { store, session } = app;
  const list = h("ul", { class: "rows" });
  const input = h("input", { type: "search", placeholder: "Filter channels", "aria-label": "Filter channels" });
  const tabs = /** @type {[string, string][]} */ ([
    ["subscribed", "Subscribed"],
    ["notsubscribed", "Not subscribed"],
    ["all", "All"],
  ]);
  fill(
    body,
    h(
      "div",
      { class: "page__tools" },
      tabs.map(([key, label]) => h("a", { class: "button", href: `#channels/${key}`, "aria-current": key === tab ? "page" : null }, label)),
      input,
      mayCreate && h("a", { class: "button button--primary", href: "#channels/new" }, icon("plus"), "Create a channel"),
    ),
    list,
  );
  const render = () => {
    const wanted = input.value.trim().toLowerCase();
    const channels = [...store.channels.values()]
      .filter(
        (channel) =>
          !channel.is_archived &&
          (tab === "all" || channel.subscribed === (tab === "subscribed")) &&
          `${channel.name} ${channel.description}`.toLowerCase().includes(wanted),
      )
      .sort((a, b) => a.name.localeCompare(b.name));
    fill(
      list,
      channels.length === 0 &&
        h(
          "li",
          { class: "empty" },
          h("p", null, tab === "notsubscribed" ? "You are in every channel that you can see." : "There is no such channel."),
        ),
      channels.map((channel) =>
        h(
          "li",
          { class: "row", style: { "--channel": channel.color } },
          h(
            "a",
            { class: "row__main channel-row", href: `#channels/${channel.stream_id}/${encodeURIComponent(channel.name)}/general` },
            h("strong", null, channelIcon(channel), " ", channel.name),
            h(
              "span",
              { class: "muted" },
              channel.description || "No description",
              ` · ${channel.subscriber_count ?? 0} ${channel.subscriber_count === 1 ? "member" : "members"}`,
            ),
          ),
          h(
            "button",
            {
              type: "button",
              class: channel.subscribed ? "button button--small" : "button button--small button--primary",
              onclick: () => void session.attempt(toggleSubscription(channel)),
            },
            channel.subscribed ? "Unsubscribe" : "Subscribe",
          ),
        ),
      ),
    );
  };
  input.oninput = debounce(render, 80);
  effect(() => {
    store.on("channels");
    render();
  });
}

/** @param {Channel} channel */
function toggleSubscription(channel) {
  return channel.subscribed
    ? api.unsubscribe({ subscriptions: [channel.name] })
    : api.subscribe({ subscriptions: [{ name: channel.name }] });
}

/** The kinds of access that people know. */
const KINDS = /** @type {[string, string][]} */ ([
  ["public", "Public: everybody but guests can join and read all"],
  ["private", "Private, with the whole history for new members"],
  ["protected", "Private, with the history from joining on"],
  ["web-public", "Web-public: anybody on the internet"],
]);

/** @param {Channel} channel */
const kindOf = (channel) =>
  channel.is_web_public ? "web-public" : !channel.invite_only ? "public" : channel.history_public_to_subscribers ? "private" : "protected";

/** @param {string} kind */
const kindParams = (kind) => ({
  is_private: kind === "private" || kind === "protected",
  is_web_public: kind === "web-public",
  history_public_to_subscribers: kind !== "protected",
});

/** @param {App} app @param {HTMLElement} body */
function createForm(app, body) {
  const { store, session } = app;
  const name = h("input", { type: "text", required: true, maxlength: store.state.max_stream_name_length ?? 60, autofocus: true });
  const description = h("input", { type: "text", maxlength: store.state.max_stream_description_length ?? 1024 });
  const mayPublic = may(store, "can_create_public_channel_group");
  const mayPrivate = may(store, "can_create_private_channel_group");
  const kinds = KINDS.filter(([key]) =>
    key === "public"
      ? mayPublic
      : key === "web-public"
        ? store.state.realm_enable_spectator_access && may(store, "can_create_web_public_channel_group")
        : mayPrivate,
  );
  const kind = select(kinds, kinds[0]?.[0]);
  const people = userPicker(app, { label: "Members", chosen: [store.selfId], onChange: () => {} });
  let announces = true;
  fill(
    body,
    h(
      "form",
      {
        class: "form",
        onsubmit: async (/** @type {Event} */ event) => {
          event.preventDefault();
          const { is_private, ...access } = kindParams(kind.value);
          const reply = await session.attempt(
            api.createChannel({
              name: name.value.trim(),
              description: description.value,
              subscribers: people.ids(),
              announce: announces,
              invite_only: is_private,
              ...access,
            }),
          );
          if (reply) app.goNarrow([{ operator: "channel", operand: reply.id }]);
        },
      },
      h("h3", null, "Create a channel"),
      field("Name", name),
      field("Description", description),
      field("Who can read it", kind),
      h("div", { class: "field" }, h("span", { class: "field__label" }, "Members"), people.element),
      checkbox("Announce it", true, (is) => {
        announces = is;
      }),
      h(
        "div",
        { class: "dialog__buttons" },
        h("a", { class: "button", href: "#channels/subscribed" }, "Cancel"),
        h("button", { type: "submit", class: "button button--primary" }, "Create"),
      ),
    ),
  );
  name.focus();
}

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

/** @param {App} app @param {HTMLElement} body @param {number} id @param {string} tab */
function channelSettings(app, body, id, tab) {
  const { store, session } = app;
  const place = h("div", { class: "form" });
  const tabs = /** @type {[string, string][]} */ ([
    ["general", "General"],
    ["personal", "Personal"],
    ["subscribers", "Members"],
    ["permissions", "Permissions"],
  ]);
  const head = h("div");
  fill(body, head, place);
  /** @param {Record<string, any>} params */
  const change = (params) => session.attempt(api.updateChannel(id, params).then(() => session.tell("Saved.")));
  /** @param {string} property @param {unknown} value */
  const set = (property, value) => session.attempt(api.updateSubscription(id, property, value));

  effect(() => {
    store.on("channels");
    store.on("groups");
    const channel = channelOf(store, id);
    const mayAdmin =
      store.state.is_admin ||
      (channel.can_administer_channel_group !== undefined && isInGroup(store, store.selfId, channel.can_administer_channel_group));
    fill(
      head,
      h(
        "div",
        { class: "page__tools", style: { "--channel": channel.color } },
        h("a", { class: "icon-button", href: "#channels/subscribed", "aria-label": "All channels" }, icon("back")),
        h("h3", null, channelIcon(channel), " ", channel.name),
        h("a", { class: "button", href: `#${app.fragmentOf([{ operator: "channel", operand: id }])}` }, "View"),
        h(
          "button",
          { type: "button", class: "button", onclick: () => void session.attempt(toggleSubscription(channel)) },
          channel.subscribed ? "Unsubscribe" : "Subscribe",
        ),
      ),
      h(
        "nav",
        { class: "page__tools", "aria-label": "Sections" },
        tabs.map(([key, label]) =>
          h(
            "a",
            {
              class: "button button--small",
              href: `#channels/${id}/${encodeURIComponent(channel.name)}/${key}`,
              "aria-current": key === tab ? "page" : null,
            },
            label,
          ),
        ),
      ),
    );
    if (tab === "personal") {
      fill(
        place,
        !channel.subscribed && h("p", { class: "muted" }, "You are not subscribed."),
        checkbox("Mute", channel.is_muted, (is) => void set("is_muted", is)),
        checkbox("Pin to top", channel.pin_to_top, (is) => void set("pin_to_top", is)),
        triState("Desktop notifications", channel.desktop_notifications, (value) => void set("desktop_notifications", value)),
        triState("Sounds", channel.audible_notifications, (value) => void set("audible_notifications", value)),
        triState("Mentions of everybody", channel.wildcard_mentions_notify, (value) => void set("wildcard_mentions_notify", value)),
        field(
          "Colour",
          h("input", {
            type: "color",
            value: channel.color,
            onchange: (/** @type {Event} */ event) => void set("color", /** @type {HTMLInputElement} */ (event.target).value),
          }),
        ),
      );
    } else if (tab === "permissions") {
      const kinds = KINDS.filter(([key]) => key !== "web-public" || store.state.realm_enable_spectator_access || channel.is_web_public);
      fill(
        place,
        field(
          "Who can read it",
          select(kinds, kindOf(channel), (kind) => void change(kindParams(kind)), { disabled: !mayAdmin }),
        ),
        PERMISSIONS.filter(([name]) => channel[name] !== undefined).map(([name, label]) =>
          field(
            label,
            groupSelect(app, channel[name], (next, old) => void change({ [name]: { new: next, old } }), {
              disabled: !mayAdmin,
              setting: name,
              kind: "stream",
            }),
          ),
        ),
      );
    } else if (tab === "subscribers") {
      members(app, place, channel);
    } else {
      const name = h("input", { type: "text", value: channel.name, maxlength: 60, disabled: !mayAdmin });
      const description = h("textarea", { rows: 3, value: channel.description, disabled: !mayAdmin });
      const folders = (store.state.channel_folders ?? []).filter((/** @type {any} */ folder) => !folder.is_archived);
      const policies = /** @type {[string, string][]} */ ([
        ["inherit", "As the organization"],
        ["allow_empty_topic", "Messages without topic are allowed"],
        ["disable_empty_topic", "A topic is required"],
        ["empty_topic_only", "No topics"],
      ]);
      fill(
        place,
        channel.rendered_description ? contentElement(app, channel.rendered_description, null) : null,
        h(
          "form",
          {
            class: "form",
            onsubmit: (/** @type {Event} */ event) => {
              event.preventDefault();
              void change({
                ...(name.value.trim() !== channel.name ? { new_name: name.value.trim() } : {}),
                ...(description.value !== channel.description ? { description: description.value } : {}),
              });
            },
          },
          field("Name", name),
          field("Description", description),
          mayAdmin && h("div", null, h("button", { type: "submit", class: "button button--primary" }, "Save")),
        ),
        (folders.length > 0 || mayAdmin) &&
          field(
            "Folder",
            select(
              [["null", "None"], ...folders.map((/** @type {any} */ folder) => /** @type {[number, string]} */ ([folder.id, folder.name]))],
              channel.folder_id ?? "null",
              (value) => void change({ folder_id: value === "null" ? null : Number(value) }),
              { disabled: !mayAdmin },
            ),
          ),
        channel.topics_policy !== undefined &&
          field(
            "Topics",
            select(policies, channel.topics_policy, (value) => void change({ topics_policy: value }), { disabled: !mayAdmin }),
          ),
        h("p", { class: "muted" }, `Made by ${channel.creator_id ? userOf(store, channel.creator_id).full_name : "the server"}. Id ${id}.`),
        mayAdmin &&
          h(
            "div",
            null,
            h(
              "button",
              {
                type: "button",
                class: "button button--danger",
                onclick: async () => {
                  if (
                    await confirm(`Archive #${channel.name}?`, "Nobody can post in it any more. Its messages stay.", "Archive", {
                      isDanger: true,
                    })
                  )
                    if (await session.attempt(api.archiveChannel(id))) go("channels/subscribed");
                },
              },
              "Archive channel",
            ),
          ),
      );
    }
  });
}

/** @param {string} label @param {boolean | null | undefined} value @param {(value: boolean | null) => void} change */
function triState(label, value, change) {
  return field(
    label,
    select(
      [
        ["null", "As your settings"],
        ["true", "On"],
        ["false", "Off"],
      ],
      String(value ?? null),
      (text) => change(JSON.parse(text)),
    ),
  );
}

/** @param {App} app @param {HTMLElement} place @param {Channel} channel */
function members(app, place, channel) {
  const { store, session } = app;
  const list = h("ul", { class: "rows" }, h("li", null, "Loading…"));
  const picker = userPicker(app, { label: "Add people", chosen: [], onChange: () => {} });
  fill(
    place,
    h(
      "form",
      {
        class: "inline",
        onsubmit: async (/** @type {Event} */ event) => {
          event.preventDefault();
          if (picker.ids().length === 0) return;
          if (await session.attempt(api.subscribe({ subscriptions: [{ name: channel.name }], principals: picker.ids() })))
            members(app, place, channel);
        },
      },
      h("div", { class: "grow" }, picker.element),
      h("button", { type: "submit", class: "button button--primary" }, "Add"),
    ),
    list,
  );
  void session.attempt(api.channelMembers(channel.stream_id)).then((reply) => {
    if (!reply) return fill(list);
    const users = reply.subscribers
      .map((/** @type {number} */ id) => userOf(store, id))
      .sort((/** @type {any} */ a, /** @type {any} */ b) => a.full_name.localeCompare(b.full_name));
    fill(
      list,
      users.map((/** @type {any} */ user) =>
        h(
          "li",
          { class: "row" },
          avatar(user, 28),
          h("span", { class: "row__main" }, user.full_name),
          iconButton("close", `Remove ${user.full_name}`, {
            onclick: async () => {
              if (await session.attempt(api.unsubscribe({ subscriptions: [channel.name], principals: [user.user_id] })))
                members(app, place, channel);
            },
          }),
        ),
      ),
    );
  });
}
