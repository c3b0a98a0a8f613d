/**
 * The lists among the settings of the organization: profile fields, default channels, folders, emoji, linkifiers,
 * playgrounds.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { upload } from "../api/upload.js";
import { h, iconButton } from "../lib/dom.js";
import { asObject, parseJson } from "../lib/parse.js";
import { effect } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { choicesInOrder, choicesOf, KINDS } from "../selectors/profile_fields.js";
import { openChannels } from "../store/channels.js";
import { may } from "../store/lists.js";
import { failures } from "../store/notices.js";
import { checkbox, field, form, lineForm, live, orderedRows, row, rowButton, rows, submit, submitButton } from "./form_parts.js";
import { button, channelIcon, emojiElement, select } from "./parts.js";
import { channelChooser, pickerField } from "./pickers.js";
import { confirm, showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../lib/dom.js").Child} Child */

/** @param {string} name @param {() => unknown} run */
const deleteButton = (name, run) => iconButton("trash", t("Delete {name}", { name }), { onclick: () => void run() });

/** Kinds of profile fields, and what they are called. @type {() => [number, string][]} */
const kindNames = () => [
  [KINDS.shortText, t("Short text")],
  [KINDS.longText, t("Long text")],
  [KINDS.choice, t("One of several choices")],
  [KINDS.date, t("Date")],
  [KINDS.link, t("Link")],
  [KINDS.people, t("People")],
  [KINDS.account, t("External account")],
  [KINDS.pronouns, t("Pronouns")],
];

/** The external account of a site that is not in the list. */
const CUSTOM = "custom";

/** @param {App} app @returns {Child[]} */
export function profileFields(app) {
  const { store, session } = app;
  const isAdmin = Boolean(store.state.is_admin);
  const remove = async (/** @type {import("../../types/api.js").ProfileField} */ { id, name }) => {
    if (
      await confirm(t("Delete the field {name}?", { name }), t("Everything that people entered in it is deleted too."), t("Delete"), {
        isDanger: true,
      })
    )
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
            `${kindNames().find(([key]) => key === definition.type)?.[1] ?? t("Other")} ${definition.hint}`,
            isAdmin && iconButton("edit", t("Edit {name}", { name: definition.name }), { onclick: () => showFieldDialog(app, definition) }),
            isAdmin && deleteButton(definition.name, () => remove(definition)),
          ),
        isAdmin && ((order) => session.attempt(api.reorderProfileFields(order))),
      );
    }),
    isAdmin &&
      h(
        "div",
        null,
        button(t("New field"), () => showFieldDialog(app, null), "primary"),
      ),
  ];
}

/** @param {App} app @param {import("../../types/api.js").ProfileField | null} definition Null for a new one. */
function showFieldDialog({ store, session }, definition) {
  const data = asObject(parseJson(definition?.field_data));
  /** The field as it is now: others may have changed it. */
  const current = () => (store.state.custom_profile_fields ?? []).find(({ id }) => id === definition?.id) ?? definition;
  const name = h("input", { type: "text", required: true, maxlength: 40, value: definition?.name ?? "" });
  const hint = h("input", { type: "text", maxlength: 80, value: definition?.hint ?? "" });
  const choices = h("textarea", {
    rows: 4,
    value: choicesInOrder(definition)
      .map(([, { text }]) => text)
      .join("\n"),
  });
  const accounts = /** @type {[string, string][]} */ (
    Object.entries(store.state.realm_default_external_accounts ?? {}).map(([key, account]) => [key, account.name])
  );
  accounts.push([CUSTOM, t("Another website")]);
  const account = select(accounts, data.subtype ?? accounts[0]?.[0], () => show());
  const nameField = field(t("Name"), name);
  const hintField = field(t("Hint"), hint);
  const choicesField = field(t("Choices"), choices, t("One per line."));
  const accountField = field(t("Website"), account);
  const pattern = h("input", { type: "text", value: data.url_pattern ?? "", placeholder: "https://example.com/%(username)s" });
  const patternField = field(t("Address"), pattern, t("{placeholder} is replaced by what people write.", { placeholder: "%(username)s" }));
  const type = select(kindNames(), definition?.type ?? KINDS.shortText, () => show(), { disabled: definition !== null });
  let isSummary = Boolean(definition?.display_in_profile_summary);
  let isEditable = definition?.editable_by_user !== false;
  let isRequired = Boolean(definition?.required);
  const isCustom = () => Number(type.value) === KINDS.account && account.value === CUSTOM;
  const show = () => {
    const kind = Number(type.value);
    choicesField.hidden = kind !== KINDS.choice;
    choices.required = kind === KINDS.choice;
    accountField.hidden = kind !== KINDS.account || definition !== null;
    patternField.hidden = !isCustom();
    pattern.required = isCustom();
    // Accounts of known sites have the names and hints of the server.
    nameField.hidden = hintField.hidden = kind === KINDS.account && !isCustom();
    name.required = !nameField.hidden;
  };
  show();
  showDialog(definition ? t("Edit {name}", { name: definition.name }) : t("New profile field"), (close) => [
    form(
      async () => {
        const kind = Number(type.value);
        const before = asObject(kind === KINDS.choice && parseJson(current()?.field_data));
        const after = choicesOf(choices.value, before);
        const gone = Object.keys(before).filter((key) => !(key in after));
        const names = gone.map((key) => before[key].text).join(", ");
        const words = t("People who have this choice in their profile lose it.");
        if (gone.length > 0 && !(await confirm(t("Delete {name}?", { name: names }), words, t("Delete"), { isDanger: true }))) return;
        const params = {
          ...(nameField.hidden ? {} : { name: name.value.trim(), hint: hint.value }),
          ...(kind === KINDS.account
            ? { field_data: { subtype: account.value, ...(isCustom() ? { url_pattern: pattern.value.trim() } : {}) } }
            : {}),
          ...(kind === KINDS.choice ? { field_data: after } : {}),
          display_in_profile_summary: isSummary,
          editable_by_user: isEditable,
          required: isRequired,
        };
        const request = definition
          ? api.updateProfileField(definition.id, params)
          : api.createProfileField({ ...params, field_type: kind });
        if (await session.attempt(request)) close();
      },
      field(t("Kind"), type),
      nameField,
      accountField,
      patternField,
      hintField,
      choicesField,
      checkbox(t("Show it on people's cards"), isSummary, (is) => {
        isSummary = is;
      }),
      checkbox(t("People can change this field themselves"), isEditable, (is) => {
        isEditable = is;
      }),
      checkbox(t("Ask people to fill in this field"), isRequired, (is) => {
        isRequired = is;
      }),
      submitButton(definition ? t("Save") : t("Add")),
    ),
  ]);
}

/** @param {App} app @returns {Child[]} */
export function defaultChannels(app) {
  const { store, session } = app;
  const isAdmin = Boolean(store.state.is_admin);
  return [
    h("p", { class: "muted" }, t("New people are subscribed to these channels, unless their invitation says otherwise.")),
    live(() => {
      store.on("realm", "channels");
      failures.value;
      const ids = new Set(store.state.realm_default_streams ?? []);
      const channels = openChannels(store)
        .filter((channel) => !channel.invite_only)
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
                  iconButton("close", t("Remove {name}", { name: channel.name }), {
                    onclick: () => void session.attempt(api.setDefaultChannel(channel.stream_id, false)),
                  }),
              ),
            ),
          t("There are no default channels."),
        ),
        isAdmin &&
          pickerField(
            t("Add a channel"),
            channelChooser(app, {
              label: t("Add a channel"),
              chosen: null,
              isWanted: ({ stream_id, invite_only }) => !invite_only && !ids.has(stream_id),
              onChange: (id) => void session.attempt(api.setDefaultChannel(id, true)),
            }),
          ),
      ];
    }),
  ];
}

/** @param {App} app @returns {Child[]} */
export function channelFolders({ store, session }) {
  const isAdmin = Boolean(store.state.is_admin);
  /** @param {import("../../types/api.js").Folder | null} folder Null for a new one. */
  const edit = (folder) => {
    const name = h("input", { type: "text", required: true, maxlength: 60, value: folder?.name ?? "" });
    const description = h("input", { type: "text", maxlength: 1024, value: folder?.description ?? "" });
    showDialog(
      folder ? t("Edit {name}", { name: folder.name }) : t("New folder"),
      (close) => [
        form(
          async () => {
            const params = { name: name.value.trim(), description: description.value };
            if (await session.attempt(folder ? api.updateFolder(folder.id, params) : api.createFolder(params))) close();
          },
          field(t("Name"), name),
          field(t("Description"), description),
          submitButton(folder ? t("Save") : t("Create")),
        ),
      ],
      { class: "dialog--small" },
    );
  };
  const archive = async (/** @type {import("../../types/api.js").Folder} */ folder) => {
    if (await confirm(t("Delete the folder {name}?", { name: folder.name }), t("Its channels stay."), t("Delete"), { isDanger: true }))
      await session.attempt(api.updateFolder(folder.id, { is_archived: true }));
  };
  return [
    live(() => {
      store.on("channels");
      const all = store.state.channel_folders ?? [];
      const archived = all.filter((folder) => folder.is_archived).map(({ id }) => id);
      return orderedRows(
        all.filter((folder) => !folder.is_archived),
        ({ id }) => id,
        (folder) =>
          row(
            folder.name,
            folder.description,
            isAdmin && iconButton("edit", t("Edit {name}", { name: folder.name }), { onclick: () => edit(folder) }),
            isAdmin && deleteButton(folder.name, () => archive(folder)),
          ),
        isAdmin && ((order) => session.attempt(api.reorderFolders([...order, ...archived]))),
      );
    }),
    isAdmin &&
      live(() => {
        store.on("channels");
        const gone = (store.state.channel_folders ?? []).filter((folder) => folder.is_archived);
        const back = (/** @type {import("../../types/api.js").Folder} */ { id }) =>
          session.attempt(api.updateFolder(id, { is_archived: false }));
        return (
          gone.length > 0 && [
            h("h3", null, t("Deleted")),
            rows(
              gone.map((folder) =>
                row(
                  folder.name,
                  folder.description,
                  rowButton(t("Restore"), folder.name, () => back(folder)),
                ),
              ),
            ),
          ]
        );
      }),
    isAdmin &&
      h(
        "div",
        null,
        button(t("New folder"), () => edit(null), "primary"),
      ),
  ];
}

/** @param {App} app @returns {Child[]} */
export function customEmoji({ store, session }) {
  const name = h("input", { type: "text", required: true, pattern: "[a-z0-9_\\-]+", "aria-label": t("Name"), placeholder: t("name") });
  const file = h("input", { type: "file", accept: "image/*", required: true, "aria-label": t("Picture") });
  const add = async () => {
    const picture = file.files?.[0];
    if (!picture) return;
    const path = `/realm/emoji/${encodeURIComponent(name.value)}`;
    if (await session.attempt(upload(picture, undefined, { path }).done)) name.value = file.value = "";
  };
  const adding = lineForm(add, h("div", { class: "grow" }, name), file, submit(t("Add")));
  effect(() => {
    store.on("realm", "groups", "users");
    adding.hidden = !may(store, "can_add_custom_emoji_group");
  });
  return [
    adding,
    live(() => {
      store.on("emoji");
      const own = Object.values(store.state.realm_emoji ?? {}).filter((emoji) => !emoji.deactivated);
      return rows(
        own.map((emoji) => {
          const element = row(
            `:${emoji.name}:`,
            null,
            (store.state.is_admin || emoji.author_id === store.selfId) &&
              deleteButton(emoji.name, () => session.attempt(api.deleteEmoji(emoji.name))),
          );
          element.prepend(emojiElement(store, { emoji_name: emoji.name, emoji_code: String(emoji.id), reaction_type: "realm_emoji" }));
          return element;
        }),
        t("There are no custom emoji yet."),
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
  /** @param {import("../../types/api.js").Linkifier} linkifier */
  const change = ({ id, pattern: oldPattern, url_template }) => {
    const [nextPattern, nextTemplate] = [oldPattern, url_template].map((value) => h("input", { type: "text", required: true, value }));
    showDialog(
      t("Change the linkifier"),
      (close) => [
        form(
          async () => {
            const params = { pattern: nextPattern.value, url_template: nextTemplate.value };
            if (await session.attempt(api.updateLinkifier(id, params))) close();
          },
          field(t("Pattern"), nextPattern),
          field(t("Address"), nextTemplate),
          submitButton(t("Save")),
        ),
      ],
      { class: "dialog--small" },
    );
  };
  return [
    h(
      "p",
      { class: "muted" },
      t("Text that matches a pattern becomes a link in new messages. If several patterns match, the first one is used."),
    ),
    live(() => {
      store.on("realm");
      return orderedRows(
        store.state.realm_linkifiers ?? [],
        ({ id }) => id,
        (linkifier) =>
          row(
            h("code", null, linkifier.pattern),
            linkifier.url_template,
            isAdmin && iconButton("edit", t("Change {name}", { name: linkifier.pattern }), { onclick: () => change(linkifier) }),
            isAdmin && deleteButton(linkifier.pattern, () => session.attempt(api.deleteLinkifier(linkifier.id))),
          ),
        isAdmin && ((ids) => session.attempt(api.reorderLinkifiers(ids))),
      );
    }),
    isAdmin && form(add, field(t("Pattern"), pattern), field(t("Address"), template), submitButton(t("Add"))),
  ];
}

/** @param {App} app @returns {Child[]} */
export function playgrounds({ store, session }) {
  const isAdmin = Boolean(store.state.is_admin);
  const language = h("input", { type: "text", required: true, maxlength: 40, placeholder: "Python" });
  const name = h("input", { type: "text", required: true, placeholder: t("Our playground") });
  const template = h("input", { type: "text", required: true, placeholder: "https://example.com/run?code={code}" });
  const add = async () => {
    const params = { pygments_language: language.value.trim(), name: name.value.trim(), url_template: template.value.trim() };
    if (await session.attempt(api.createPlayground(params))) language.value = name.value = template.value = "";
  };
  return [
    h("p", { class: "muted" }, t("Code blocks in one of these languages get a button that opens the code in the playground.")),
    live(() => {
      store.on("realm");
      return rows(
        (store.state.realm_playgrounds ?? []).map((playground) =>
          row(
            `${playground.pygments_language}: ${playground.name}`,
            playground.url_template,
            isAdmin && deleteButton(playground.name, () => session.attempt(api.deletePlayground(playground.id))),
          ),
        ),
        t("There are no playgrounds."),
      );
    }),
    isAdmin &&
      form(
        add,
        field(t("Language"), language),
        field(t("Name"), name),
        field(t("Address"), template, t("{placeholder} is replaced by the code.", { placeholder: "{code}" })),
        submitButton(t("Add")),
      ),
  ];
}
