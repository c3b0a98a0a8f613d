/**
 * The lists among the settings of the organization: profile fields, default channels, folders, emoji, linkifiers,
 * playgrounds.
 * @module
 */

import * as api from "../api/endpoints.js";
import { upload } from "../api/upload.js";
import { h, iconButton } from "../lib/dom.js";
import { asObject, parseJson } from "../lib/parse.js";
import { channelIcon, checkbox, emojiElement, field, form, lineForm, live, orderedRows, row, rows, select, submitButton } from "./parts.js";
import { ask, confirm, showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../lib/dom.js").Child} Child */

/** @param {string} name @param {() => unknown} run */
const deleteButton = (name, run) => iconButton("trash", `Delete ${name}`, { onclick: () => void run() });

/** Kinds of profile fields. @type {[number, string][]} */
const FIELD_TYPES = [
  [1, "Short text"],
  [2, "Long text"],
  [3, "One of several choices"],
  [4, "Date"],
  [5, "Link"],
  [6, "People"],
  [7, "External account"],
  [8, "Pronouns"],
];
const CHOICES = 3;
const EXTERNAL = 7;

/** @typedef {Record<string, { text: string, order: string }>} FieldChoices */

/** The data of choices, one a line. Choices that were there keep their keys, which people's values refer to.
 * @param {string} text @param {FieldChoices} before */
function choicesOf(text, before) {
  const lines = [
    ...new Set(
      text
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean),
    ),
  ];
  let unused = Math.max(-1, ...Object.keys(before).map(Number)) + 1;
  return Object.fromEntries(
    lines.map((line, at) => {
      const key = Object.keys(before).find((old) => before[old].text === line) ?? String(unused++);
      return [key, { text: line, order: String(at + 1) }];
    }),
  );
}

/** @param {App} app @returns {Child[]} */
export function profileFields(app) {
  const { store, session } = app;
  const isAdmin = Boolean(store.state.is_admin);
  const remove = async (/** @type {any} */ { id, name }) => {
    if (await confirm(`Delete the field ${name}?`, "What people have written there is deleted, too.", "Delete", { isDanger: true }))
      await session.attempt(api.deleteProfileField(id));
  };
  return [
    live(() => {
      store.on("realm");
      return orderedRows(
        store.state.custom_profile_fields ?? [],
        ({ id }) => id,
        (definition) =>
          row(
            definition.name,
            `${FIELD_TYPES.find(([key]) => key === definition.type)?.[1] ?? "Other"} ${definition.hint}`,
            isAdmin && iconButton("edit", `Edit ${definition.name}`, { onclick: () => showFieldDialog(app, definition) }),
            isAdmin && deleteButton(definition.name, () => remove(definition)),
          ),
        isAdmin && ((order) => session.attempt(api.reorderProfileFields(order))),
      );
    }),
    isAdmin &&
      h(
        "div",
        null,
        h("button", { type: "button", class: "button button--primary", onclick: () => showFieldDialog(app, null) }, "New field"),
      ),
  ];
}

/** @param {App} app @param {any} definition Null for a new one. */
function showFieldDialog({ store, session }, definition) {
  /** @type {any} */
  const data = asObject(parseJson(definition?.field_data));
  const name = h("input", { type: "text", required: true, maxlength: 40, value: definition?.name ?? "" });
  const hint = h("input", { type: "text", maxlength: 80, value: definition?.hint ?? "" });
  const choices = h("textarea", {
    rows: 4,
    value: Object.values(data)
      .map(({ text }) => text)
      .join("\n"),
  });
  const accounts = /** @type {[string, string][]} */ (
    Object.entries(store.state.realm_default_external_accounts ?? {}).map(([key, account]) => [key, account.name])
  );
  const account = select(accounts, data.subtype ?? accounts[0]?.[0]);
  const nameField = field("Name", name);
  const choicesField = field("Choices", choices, "One a line.");
  const accountField = field("Where", account);
  const type = select(FIELD_TYPES, definition?.type ?? 1, () => show(), { disabled: definition !== null });
  let isSummary = Boolean(definition?.display_in_profile_summary);
  let isEditable = definition?.editable_by_user !== false;
  const show = () => {
    const kind = Number(type.value);
    choicesField.hidden = kind !== CHOICES;
    choices.required = kind === CHOICES;
    accountField.hidden = kind !== EXTERNAL || definition !== null;
    nameField.hidden = kind === EXTERNAL;
    name.required = kind !== EXTERNAL;
  };
  show();
  showDialog(definition ? `Edit ${definition.name}` : "New profile field", (close) => [
    form(
      async () => {
        const kind = Number(type.value);
        const params = {
          ...(kind === EXTERNAL ? { field_data: { subtype: account.value } } : { name: name.value.trim(), hint: hint.value }),
          ...(kind === CHOICES ? { field_data: choicesOf(choices.value, data) } : {}),
          display_in_profile_summary: isSummary,
          editable_by_user: isEditable,
        };
        const request = definition
          ? api.updateProfileField(definition.id, params)
          : api.createProfileField({ ...params, field_type: kind });
        if (await session.attempt(request)) close();
      },
      field("Kind", type),
      nameField,
      accountField,
      field("Hint", hint),
      choicesField,
      checkbox("Show it on people's cards", isSummary, (is) => {
        isSummary = is;
      }),
      checkbox("People can change it themselves", isEditable, (is) => {
        isEditable = is;
      }),
      submitButton(definition ? "Save" : "Add"),
    ),
  ]);
}

/** @param {App} app @returns {Child[]} */
export function defaultChannels({ store, session }) {
  const isAdmin = Boolean(store.state.is_admin);
  return [
    h("p", { class: "muted" }, "New people are subscribed to these channels, unless their invitation says otherwise."),
    live(() => {
      store.on("realm");
      store.on("channels");
      const ids = new Set(store.state.realm_default_streams ?? []);
      const channels = [...store.channels.values()]
        .filter((channel) => !channel.is_archived && !channel.invite_only)
        .sort((a, b) => a.name.localeCompare(b.name));
      return [
        rows(
          channels
            .filter((channel) => ids.has(channel.stream_id))
            .map((channel) =>
              row(
                [channelIcon(channel), " ", channel.name],
                channel.description,
                isAdmin &&
                  iconButton("close", `Remove ${channel.name}`, {
                    onclick: () => void session.attempt(api.setDefaultChannel(channel.stream_id, false)),
                  }),
              ),
            ),
          "There are no default channels.",
        ),
        isAdmin &&
          field(
            "Add a channel",
            select(
              [
                ["", "Choose a channel"],
                ...channels
                  .filter((channel) => !ids.has(channel.stream_id))
                  .map((channel) => /** @type {[number, string]} */ ([channel.stream_id, `#${channel.name}`])),
              ],
              "",
              (id) => id && void session.attempt(api.setDefaultChannel(Number(id), true)),
            ),
          ),
      ];
    }),
  ];
}

/** @param {App} app @returns {Child[]} */
export function channelFolders({ store, session }) {
  const isAdmin = Boolean(store.state.is_admin);
  const rename = async (/** @type {any} */ folder) => {
    const name = await ask("Rename folder", folder.name, { label: "Name" });
    if (name) await session.attempt(api.updateFolder(folder.id, { name }));
  };
  const archive = async (/** @type {any} */ folder) => {
    if (await confirm(`Delete the folder ${folder.name}?`, "Its channels stay.", "Delete", { isDanger: true }))
      await session.attempt(api.updateFolder(folder.id, { is_archived: true }));
  };
  const create = async () => {
    const name = await ask("New folder", "", { label: "Name", action: "Create" });
    if (name) await session.attempt(api.createFolder({ name, description: "" }));
  };
  return [
    live(() => {
      store.on("channels");
      const all = store.state.channel_folders ?? [];
      const archived = all.filter((/** @type {any} */ folder) => folder.is_archived).map((/** @type {any} */ { id }) => id);
      return orderedRows(
        all.filter((/** @type {any} */ folder) => !folder.is_archived),
        ({ id }) => id,
        (folder) =>
          row(
            folder.name,
            folder.description,
            isAdmin && iconButton("edit", `Rename ${folder.name}`, { onclick: () => void rename(folder) }),
            isAdmin && deleteButton(folder.name, () => archive(folder)),
          ),
        isAdmin && ((order) => session.attempt(api.reorderFolders([...order, ...archived]))),
      );
    }),
    isAdmin && h("div", null, h("button", { type: "button", class: "button button--primary", onclick: () => void create() }, "New folder")),
  ];
}

/** @param {App} app @returns {Child[]} */
export function customEmoji({ store, session }) {
  const name = h("input", { type: "text", required: true, pattern: "[a-z0-9_\\-]+", "aria-label": "Name", placeholder: "name" });
  const file = h("input", { type: "file", accept: "image/*", required: true, "aria-label": "Picture" });
  const add = async () => {
    const picture = file.files?.[0];
    if (!picture) return;
    const path = `/realm/emoji/${encodeURIComponent(name.value)}`;
    if (await session.attempt(upload(picture, undefined, { path }).done)) name.value = file.value = "";
  };
  return [
    lineForm(add, h("div", { class: "grow" }, name), file, h("button", { type: "submit", class: "button button--primary" }, "Add")),
    live(() => {
      store.on("emoji");
      const own = Object.values(store.state.realm_emoji ?? {}).filter((/** @type {any} */ emoji) => !emoji.deactivated);
      return rows(
        own.map((/** @type {any} */ emoji) => {
          const element = row(
            `:${emoji.name}:`,
            null,
            (store.state.is_admin || emoji.author_id === store.selfId) &&
              deleteButton(emoji.name, () => session.attempt(api.deleteEmoji(emoji.name))),
          );
          element.prepend(emojiElement(store, { emoji_name: emoji.name, emoji_code: String(emoji.id), reaction_type: "realm_emoji" }));
          return element;
        }),
        "There are no emoji of your own yet.",
      );
    }),
  ];
}

/** @param {App} app @returns {Child[]} */
export function linkifiers({ store, session }) {
  const isAdmin = Boolean(store.state.is_admin);
  const pattern = h("input", { type: "text", required: true, placeholder: "#(?P<id>[0-9]+)" });
  const template = h("input", { type: "text", required: true, placeholder: "https://example.com/issues/{id}" });
  const add = async () => {
    if (await session.attempt(api.createLinkifier({ pattern: pattern.value, url_template: template.value })))
      pattern.value = template.value = "";
  };
  return [
    h("p", { class: "muted" }, "Texts that fit a pattern become links, in new messages. Where two fit, the first one counts."),
    live(() => {
      store.on("realm");
      return orderedRows(
        store.state.realm_linkifiers ?? [],
        ({ id }) => id,
        (linkifier) =>
          row(
            h("code", null, linkifier.pattern),
            linkifier.url_template,
            isAdmin && deleteButton(linkifier.pattern, () => session.attempt(api.deleteLinkifier(linkifier.id))),
          ),
        isAdmin && ((ids) => session.attempt(api.reorderLinkifiers(ids))),
      );
    }),
    isAdmin && form(add, field("Pattern", pattern), field("Address", template), submitButton("Add")),
  ];
}

/** @param {App} app @returns {Child[]} */
export function playgrounds({ store, session }) {
  const isAdmin = Boolean(store.state.is_admin);
  const language = h("input", { type: "text", required: true, maxlength: 40, placeholder: "Python" });
  const name = h("input", { type: "text", required: true, placeholder: "Our playground" });
  const template = h("input", { type: "text", required: true, placeholder: "https://example.com/run?code={code}" });
  const add = async () => {
    const params = { pygments_language: language.value.trim(), name: name.value.trim(), url_template: template.value.trim() };
    if (await session.attempt(api.createPlayground(params))) language.value = name.value = template.value = "";
  };
  return [
    h("p", { class: "muted" }, "Blocks of code in one of these languages have a button that opens them there."),
    live(() => {
      store.on("realm");
      return rows(
        (store.state.realm_playgrounds ?? []).map((/** @type {any} */ playground) =>
          row(
            `${playground.pygments_language}: ${playground.name}`,
            playground.url_template,
            isAdmin && deleteButton(playground.name, () => session.attempt(api.deletePlayground(playground.id))),
          ),
        ),
        "There are no playgrounds.",
      );
    }),
    isAdmin &&
      form(
        add,
        field("Language", language),
        field("Name", name),
        field("Address", template, "{code} is replaced by the code."),
        submitButton("Add"),
      ),
  ];
}
