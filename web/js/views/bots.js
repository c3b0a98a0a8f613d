/**
 * One's own bots, with the file that scripts read.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { h, icon, iconButton } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { may } from "../store/lists.js";
import { showKeyFile } from "./account.js";
import { deactivateBot, editBot, INCOMING, OUTGOING, payloads } from "./bot_dialog.js";
import { field, form, live, rowButton, rows, rowWithPicture, submitButton } from "./form_parts.js";
import { showWebhook } from "./integrations.js";
import { avatar, select } from "./parts.js";
import { confirm } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */

/** @type {() => [number, string][]} */
const botTypes = () => [
  [1, t("Generic")],
  [INCOMING, t("Incoming webhook: another program writes here")],
  [OUTGOING, t("Outgoing webhook: messages to it are sent to another program")],
];

/** @param {App} app @param {import("../../types/api.js").Bot} bot */
async function showFile(app, bot) {
  const reply = await app.session.attempt(api.botKey(bot.user_id));
  if (reply) showKeyFile(app, bot.full_name, bot.email, reply.api_key);
}

/** @param {App} app @param {import("../../types/api.js").Bot} bot */
function botRow(app, bot) {
  const { session } = app;
  const name = bot.full_name;
  const renew = async () => {
    if (!(await confirm(t("Create a new key?"), t("The old key stops working immediately."), t("New key")))) return;
    if (await session.attempt(api.regenerateBotKey(bot.user_id))) void showFile(app, bot);
  };
  return rowWithPicture(
    avatar(bot, 32),
    name,
    bot.email,
    bot.bot_type === INCOMING && rowButton(t("Address"), name, () => showWebhook(app, bot)),
    rowButton("zuliprc", name, () => showFile(app, bot)),
    iconButton("edit", t("Edit {name}", { name }), { onclick: () => editBot(app, bot) }),
    iconButton("refresh", t("New key for {name}", { name }), { onclick: () => void renew() }),
    iconButton("trash", t("Deactivate {name}", { name }), { onclick: () => void deactivateBot(app, bot) }),
  );
}

/** A bot that is not in use. Administrators bring it back. @param {App} app @param {import("../../types/api.js").Bot} bot */
function goneRow({ store, session }, bot) {
  const reactivate = rowButton(t("Reactivate"), bot.full_name, () => session.attempt(api.reactivateUser(bot.user_id)));
  return rowWithPicture(avatar(bot, 32), bot.full_name, bot.email, store.state.is_admin && reactivate);
}

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
export function showBots(app) {
  const { store } = app;
  const mayCreate = may(store, "can_create_bots_group") || may(store, "can_create_write_only_bots_group");
  return [
    h("p", null, h("a", { class: "button", href: "#integrations" }, icon("link"), t("Connect another program"))),
    live(() => {
      store.on("users");
      const own = (store.state.realm_bots ?? []).filter((bot) => bot.owner_id === store.selfId);
      const isActive = (/** @type {import("../../types/api.js").Bot} */ bot) => bot.is_active !== false;
      const gone = own.filter((bot) => !isActive(bot));
      return [
        rows(
          own.filter(isActive).map((bot) => botRow(app, bot)),
          t("You have no bots."),
        ),
        gone.length > 0 && [h("h3", null, t("Deactivated")), rows(gone.map((bot) => goneRow(app, bot)))],
      ];
    }),
    mayCreate && newBot(app),
  ];
}

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
function newBot(app) {
  const { store, session } = app;
  const name = h("input", { type: "text", required: true, maxlength: 100, dataset: { focus: "bot-name" } });
  const short = h("input", { type: "text", required: true, pattern: "[A-Za-z0-9_.\\-]+" });
  const allowed = may(store, "can_create_bots_group") ? botTypes() : botTypes().filter(([value]) => value === INCOMING);
  const address = h("input", { type: "url", placeholder: "http://127.0.0.1:8000" });
  const payload = select(payloads(), 1);
  const [url, how] = [field(t("Address to post messages to"), address, t("An http address.")), field(t("Format"), payload)];
  const type = select(allowed, allowed[0][0], () => show());
  const show = () => {
    url.hidden = how.hidden = Number(type.value) !== OUTGOING;
    address.required = !url.hidden;
  };
  show();
  const create = async () => {
    const kind = Number(type.value);
    const full_name = name.value.trim();
    const params = { full_name, short_name: short.value.trim(), bot_type: kind };
    const posted = kind === OUTGOING ? { payload_url: JSON.stringify(address.value), interface_type: Number(payload.value) } : {};
    const reply = await session.attempt(api.createBot({ ...params, ...posted }));
    if (!reply) return;
    name.value = short.value = address.value = "";
    session.tell(t("The bot was created."));
    if (kind === INCOMING) void showWebhook(app, { user_id: reply.user_id, full_name });
  };
  return [
    h("h3", null, t("New bot")),
    form(
      create,
      field(t("Name"), name),
      field(t("Short name"), short, t("It becomes part of the bot's email address.")),
      field(t("Kind"), type),
      url,
      how,
      submitButton(t("Create the bot")),
    ),
  ];
}
