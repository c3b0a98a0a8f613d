/**
 * Channels: browsing, and creating them.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { fill, h, icon } from "../lib/dom.js";
import { plainList } from "../lib/keyed_list.js";
import { effect } from "../lib/signal.js";
import { debounce } from "../lib/timing.js";
import { t } from "../lib/words.js";
import { mayHaveKind } from "../selectors/group_settings.js";
import { channelTerms } from "../selectors/narrow.js";
import { hasWords, wordsOf } from "../selectors/sidebar_items.js";
import { channelOf } from "../store/channels.js";
import { may } from "../store/lists.js";
import { channelKinds, channelSettings, kindParams, subscriptionButton, topicsPolicies } from "./channel_settings.js";
import { checkbox, field, form, submit } from "./form_parts.js";
import { membersPicker } from "./members_picker.js";
import { textOf } from "./message_content.js";
import { showRoutedDialog } from "./panes.js";
import { channelIcon, select } from "./parts.js";
import { pickerField } from "./pickers.js";

/** @typedef {import("../../types/app.js").App} App */

/** The lists, and the labels of their links. @type {() => [string, string][]} */
const channelTabs = () => [
  ["subscribed", t("Subscribed")],
  ["notsubscribed", t("Not subscribed")],
  ["all", t("All")],
  ["archived", t("Archived")],
];

/** @param {App} app @param {string[]} parts @param {() => void} onClose */
export function showChannels(app, parts, onClose) {
  const { store } = app;
  const mayCreate = () => may(store, "can_create_public_channel_group") || may(store, "can_create_private_channel_group");
  const body = h("div");
  /** @param {string[]} parts */
  function draw([first, , section]) {
    if (first === "new" && mayCreate()) createForm(app, body);
    else if (store.channels.has(Number(first))) channelSettings(app, body, Number(first), section ?? "general");
    else browse(app, body, first === "available" ? "notsubscribed" : first, mayCreate);
  }
  return showRoutedDialog(t("Channels"), body, "dialog--full", draw, parts, onClose);
}

/** @param {App} app @param {HTMLElement} body @param {string} wantedTab @param {() => boolean} mayCreate */
function browse(app, body, wantedTab, mayCreate) {
  const { store } = app;
  const tab = channelTabs().some(([key]) => key === wantedTab) ? wantedTab : "subscribed";
  const list = h("ul", { class: "rows" });
  const none = h("p", { class: "empty", hidden: true });
  const rows = plainList(list, {
    key: ({ id }) => id,
    create: ({ id }) => channelRow(app, channelOf(store, id)),
  });
  const input = h("input", { type: "search", placeholder: t("Filter channels"), "aria-label": t("Filter channels") });
  const creating = h("a", { class: "button button--primary", href: "#channels/new" }, icon("plus"), t("Create a channel"));
  effect(() => {
    store.on("realm", "groups", "users");
    creating.hidden = !mayCreate();
  });
  fill(
    body,
    h(
      "div",
      { class: "page__tools" },
      channelTabs().map(([key, label]) =>
        h("a", { class: "button", href: `#channels/${key}`, "aria-current": key === tab ? "page" : null }, label),
      ),
      input,
      creating,
    ),
    list,
    none,
  );
  const render = () => {
    const words = wordsOf(input.value);
    const channels = [...store.channels.values()]
      .filter((channel) => channel.is_archived === (tab === "archived"))
      .filter((channel) => tab === "all" || tab === "archived" || channel.subscribed === (tab === "subscribed"))
      .filter((channel) => hasWords(`${channel.name} ${channel.description}`, words))
      .sort((a, b) => a.name.localeCompare(b.name));
    const empty =
      tab === "notsubscribed" && words.length === 0 ? t("You are in every channel that you can see.") : t("There is no such channel.");
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

/** The data of the row of a channel. @param {import("../../types/api.js").Channel} channel */
const rowData = ({ stream_id: id, name, rendered_description, subscribed, color, subscriber_count, invite_only, is_web_public }) => {
  return { id, name, rendered_description, subscribed, color, subscriber_count, invite_only, is_web_public };
};

/** @param {App} app @param {import("../../types/api.js").Channel} channel */
function channelRow(app, channel) {
  const count = channel.subscriber_count ?? 0;
  return h(
    "li",
    { class: "row", style: { "--channel": channel.color } },
    h(
      "a",
      { class: "row__main", href: `#channels/${channel.stream_id}/${encodeURIComponent(channel.name)}/general` },
      h("strong", null, channelIcon(channel), " ", channel.name),
      h(
        "span",
        { class: "muted" },
        h("bdi", null, channel.description ? textOf(channel.rendered_description) : t("No description")),
        " · ",
        t({ one: "{count} member", other: "{count} members" }, { count }),
      ),
    ),
    !channel.is_archived && subscriptionButton(app, channel, true),
  );
}

/** The options of a new channel that can be changed later. @param {App} app */
function creationOptions({ store }) {
  const all = (store.state.channel_folders ?? []).filter(({ is_archived }) => !is_archived);
  const folders = all.map(({ id, name }) => /** @type {[number, string]} */ ([id, name]));
  const folder = select([["", t("None")], ...folders], "");
  const topics = select(topicsPolicies(), "inherit");
  const days = h("input", { type: "number", min: 1, placeholder: t("Set by the organization") });
  let isDefault = false;
  const element = h(
    "details",
    { class: "more" },
    h("summary", null, t("More")),
    folders.length > 0 && field(t("Folder"), folder),
    may(store, "can_set_topics_policy_group") && field(t("Topics"), topics),
    store.state.is_owner && field(t("Days for which messages are kept"), days),
    store.state.is_admin &&
      checkbox(t("New people are subscribed to it"), false, (is) => {
        isDefault = is;
      }),
    h("p", { class: "field__hint" }, t("You can set permissions in the channel settings after you create the channel.")),
  );
  const params = () => ({
    ...(folder.value ? { folder_id: Number(folder.value) } : {}),
    ...(topics.value === "inherit" ? {} : { topics_policy: topics.value }),
    ...(days.value ? { message_retention_days: Number(days.value) } : {}),
    ...(isDefault ? { is_default_stream: true } : {}),
  });
  return { element, params };
}

/** @param {App} app @param {HTMLElement} body */
function createForm(app, body) {
  const { store, session } = app;
  const name = h("input", { type: "text", required: true, maxlength: store.state.max_stream_name_length ?? 60, autofocus: true });
  const description = h("input", { type: "text", maxlength: store.state.max_stream_description_length ?? 1024 });
  const kinds = channelKinds().filter(([kind]) => mayHaveKind(store, kind));
  const kind = select(kinds, kinds[0]?.[0]);
  const people = membersPicker(app, { label: t("Members"), chosen: [store.selfId] });
  const more = creationOptions(app);
  let announces = true;
  const create = async () => {
    const { is_private, ...access } = kindParams(kind.value);
    const params = { name: name.value.trim(), description: description.value, announce: announces, invite_only: is_private, ...access };
    const reply = await session.attempt(api.createChannel({ ...params, ...more.params(), subscribers: people.ids() }));
    if (reply) app.goNarrow(channelTerms(reply.id));
  };
  fill(
    body,
    form(
      create,
      h("h3", null, t("Create a channel")),
      field(t("Name"), name),
      field(t("Description"), description),
      field(t("Who can read it"), kind),
      pickerField(t("Members"), people),
      checkbox(t("Announce the channel"), true, (is) => {
        announces = is;
      }),
      more.element,
      h("div", { class: "dialog__buttons" }, h("a", { class: "button", href: "#channels/subscribed" }, t("Cancel")), submit(t("Create"))),
    ),
  );
  name.focus();
}
