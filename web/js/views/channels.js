/**
 * Channels: browsing, and creating them.
 * @module
 */

import * as api from "../api/endpoints.js";
import { debounce, fill, h, icon } from "../lib/dom.js";
import { plainList } from "../lib/keyed_list.js";
import { effect } from "../lib/signal.js";
import { channelOf } from "../store/channels.js";
import { may } from "../store/lists.js";
import { channelSettings, KINDS, kindParams, subscriptionButton } from "./channel_settings.js";
import { showRoutedDialog } from "./panes.js";
import { channelIcon, checkbox, field, form, select } from "./parts.js";
import { userPicker } from "./pickers.js";

/** @typedef {import("../../types/app.js").App} App */

/** The lists, and what their links say. @type {[string, string][]} */
const TABS = [
  ["subscribed", "Subscribed"],
  ["notsubscribed", "Not subscribed"],
  ["all", "All"],
];

/** @param {App} app @param {string[]} parts @param {() => void} onClose */
export function showChannels(app, parts, onClose) {
  const { store } = app;
  const mayCreate = may(store, "can_create_public_channel_group") || may(store, "can_create_private_channel_group");
  const body = h("div", { class: "channels" });
  /** @param {string[]} parts */
  function draw([first, , section]) {
    if (first === "new" && mayCreate) createForm(app, body);
    else if (store.channels.has(Number(first))) channelSettings(app, body, Number(first), section ?? "general");
    else browse(app, body, first === "available" ? "notsubscribed" : first, mayCreate);
  }
  return showRoutedDialog("Channels", body, "dialog--full", draw, parts, onClose);
}

/** @param {App} app @param {HTMLElement} body @param {string} wantedTab @param {boolean} mayCreate */
function browse(app, body, wantedTab, mayCreate) {
  const { store } = app;
  const tab = TABS.some(([key]) => key === wantedTab) ? wantedTab : "subscribed";
  const list = h("ul", { class: "rows" });
  const none = h("p", { class: "empty", hidden: true });
  const rows = plainList(list, {
    key: (/** @type {{ id: number }} */ { id }) => id,
    create: ({ id }) => channelRow(app, channelOf(store, id)),
  });
  const input = h("input", { type: "search", placeholder: "Filter channels", "aria-label": "Filter channels" });
  fill(
    body,
    h(
      "div",
      { class: "page__tools" },
      TABS.map(([key, label]) => h("a", { class: "button", href: `#channels/${key}`, "aria-current": key === tab ? "page" : null }, label)),
      input,
      mayCreate && h("a", { class: "button button--primary", href: "#channels/new" }, icon("plus"), "Create a channel"),
    ),
    list,
    none,
  );
  const render = () => {
    const wanted = input.value.trim().toLowerCase();
    const channels = [...store.channels.values()]
      .filter((channel) => !channel.is_archived && (tab === "all" || channel.subscribed === (tab === "subscribed")))
      .filter((channel) => `${channel.name} ${channel.description}`.toLowerCase().includes(wanted))
      .sort((a, b) => a.name.localeCompare(b.name));
    const empty = tab === "notsubscribed" ? "You are in every channel that you can see." : "There is no such channel.";
    rows.set(channels.map(rowData));
    none.hidden = channels.length > 0;
    none.textContent = empty;
  };
  input.oninput = debounce(render, 80);
  effect(() => {
    store.on("channels");
    render();
  });
}

/** What the row of a channel says. @param {import("../../types/api.js").Channel} channel */
const rowData = ({ stream_id: id, name, description, subscribed, color, subscriber_count, invite_only, is_web_public }) => {
  return { id, name, description, subscribed, color, subscriber_count, invite_only, is_web_public };
};

/** @param {App} app @param {import("../../types/api.js").Channel} channel */
function channelRow(app, channel) {
  const count = channel.subscriber_count ?? 0;
  return h(
    "li",
    { class: "row", style: { "--channel": channel.color } },
    h(
      "a",
      { class: "row__main channel-row", href: `#channels/${channel.stream_id}/${encodeURIComponent(channel.name)}/general` },
      h("strong", null, channelIcon(channel), " ", channel.name),
      h("span", { class: "muted" }, `${channel.description || "No description"} · ${count} ${count === 1 ? "member" : "members"}`),
    ),
    subscriptionButton(app, channel, true),
  );
}

/** @param {App} app @param {HTMLElement} body */
function createForm(app, body) {
  const { store, session } = app;
  const name = h("input", { type: "text", required: true, maxlength: store.state.max_stream_name_length ?? 60, autofocus: true });
  const description = h("input", { type: "text", maxlength: store.state.max_stream_description_length ?? 1024 });
  const mayPublic = may(store, "can_create_public_channel_group");
  const mayPrivate = may(store, "can_create_private_channel_group");
  const mayWeb = store.state.realm_enable_spectator_access && may(store, "can_create_web_public_channel_group");
  const kinds = KINDS.filter(([key]) => (key === "public" ? mayPublic : key === "web-public" ? mayWeb : mayPrivate));
  const kind = select(kinds, kinds[0]?.[0]);
  const people = userPicker(app, { label: "Members", chosen: [store.selfId], onChange: () => {} });
  let announces = true;
  const create = async () => {
    const { is_private, ...access } = kindParams(kind.value);
    const params = { name: name.value.trim(), description: description.value, announce: announces, invite_only: is_private, ...access };
    const reply = await session.attempt(api.createChannel({ ...params, subscribers: people.ids() }));
    if (reply) app.goNarrow([{ operator: "channel", operand: reply.id }]);
  };
  fill(
    body,
    form(
      create,
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
