/**
 * The dialog in which owners and administrators change a bot.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { upload } from "../api/upload.js";
import { h } from "../lib/dom.js";
import { effect } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { rolesFor } from "../selectors/roles.js";
import { userOf } from "../store/users.js";
import { field, form, submitButton } from "./form_parts.js";
import { avatar, button, select } from "./parts.js";
import { pickerField, userChooser } from "./pickers.js";
import { confirm, showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */

/** Kinds of bots. */
export const INCOMING = 2;
export const OUTGOING = 3;

/** How messages are sent to outgoing webhooks. @type {() => [number, string][]} */
export const payloads = () => [
  [1, t("In this server's format")],
  [2, t("In Slack's format")],
];

/** The picture of a bot, with a way to change it. @param {App} app @param {{ user_id: number, full_name: string }} bot */
function botPicture({ store, session }, bot) {
  const shown = () => store.users.get(bot.user_id);
  const place = h("span");
  const show = () => {
    const user = shown();
    if (user) place.replaceChildren(avatar(user, 56));
  };
  const input = h("input", {
    type: "file",
    accept: "image/*",
    hidden: true,
    onchange: async () => {
      const file = input.files?.[0];
      input.value = "";
      if (file && (await session.attempt(upload(file, undefined, { path: `/bots/${bot.user_id}`, method: "PATCH" }).done))) {
        session.tell(t("Saved."));
        show();
      }
    },
  });
  show();
  return h(
    "div",
    { class: "profile" },
    place,
    button(t("Change picture"), () => input.click()),
    input,
  );
}

/** Edits a bot. @param {App} app @param {{ user_id: number, full_name: string }} shown */
export function editBot(app, shown) {
  const { store, session } = app;
  const id = shown.user_id;
  const record = (store.state.realm_bots ?? []).find((bot) => bot.user_id === id);
  const user = store.users.get(id);
  const isAdmin = () => Boolean(store.state.is_admin);
  const ownerId = user?.bot_owner_id ?? record?.owner_id ?? null;
  const name = h("input", { type: "text", required: true, maxlength: 100, value: shown.full_name });
  const role = select(rolesFor(store, userOf(store, id)), user?.role ?? 400);
  const owner = userChooser(app, { label: t("Owner"), chosen: ownerId });
  const service = record?.services?.[0];
  const isOutgoing = record?.bot_type === OUTGOING;
  const url = h("input", { type: "url", required: isOutgoing, value: service?.base_url ?? "" });
  const payload = select(payloads(), service?.interface ?? 1);
  const save = async (/** @type {() => void} */ close) => {
    const next = owner.id();
    const movesTo = next !== null && next !== ownerId ? next : null;
    const words = t("The bot gets a new key, and leaves private channels that the new owner is not in.");
    if (movesTo !== null && !(await confirm(t("Give the bot to another owner?"), words, t("Give")))) return;
    const params = {
      ...(name.value.trim() !== shown.full_name ? { full_name: name.value.trim() } : {}),
      ...(isAdmin() && Number(role.value) !== user?.role ? { role: Number(role.value) } : {}),
      ...(movesTo !== null ? { bot_owner_id: movesTo } : {}),
      ...(isOutgoing && (url.value !== service?.base_url || Number(payload.value) !== service?.interface)
        ? { service_payload_url: JSON.stringify(url.value), service_interface: Number(payload.value) }
        : {}),
    };
    if (Object.keys(params).length > 0 && !(await session.attempt(api.updateBot(id, params)))) return;
    session.tell(t("Saved."));
    close();
  };
  showDialog(
    t("Edit {name}", { name: shown.full_name }),
    (close) => {
      const [roleField, ownerField] = [field(t("Role"), role), pickerField(t("Owner"), owner)];
      effect(() => {
        store.on("users");
        roleField.hidden = !isAdmin();
        ownerField.hidden = ownerId !== store.selfId && !isAdmin();
      });
      return [
        botPicture(app, shown),
        form(
          () => save(close),
          field(t("Name"), name),
          roleField,
          ownerField,
          isOutgoing && [field(t("Address to post messages to"), url), field(t("Format"), payload)],
          submitButton(t("Save")),
        ),
      ];
    },
    { class: "dialog--small" },
  );
}

/** Deactivates a bot, after a question. @param {App} app @param {{ user_id: number, full_name: string }} bot */
export async function deactivateBot({ session }, { user_id: id, full_name: name }) {
  const words = t("Its key stops working. Its messages stay.");
  if (await confirm(t("Deactivate {name}?", { name }), words, t("Deactivate"), { isDanger: true }))
    await session.attempt(api.deleteBot(id));
}
