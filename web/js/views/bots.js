/**
 * One's own bots, with the file that scripts read.
 * @module
 */

import { get } from "../api/client.js";
import * as api from "../api/endpoints.js";
import { h, iconButton } from "../lib/dom.js";
import { avatar, field, select } from "./parts.js";
import { confirm, showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */

/** @type {[number, string][]} */
const TYPES = [
  [1, "Generic"],
  [2, "Incoming webhook"],
  [3, "Outgoing webhook"],
];

/** @param {App} app @param {any} bot */
async function showFile(app, bot) {
  const reply = await app.session.attempt(get(`/bots/${bot.user_id}/api_key`));
  if (!reply) return;
  const text = `[api]\nemail=${bot.email}\nkey=${reply.api_key}\nsite=${location.origin}\n`;
  showDialog(
    `zuliprc of ${bot.full_name}`,
    () => [
      h("p", null, "Save this as ", h("code", null, "zuliprc"), ": the libraries and programs read it."),
      h("textarea", { class: "source", readonly: true, rows: 5, "aria-label": "zuliprc" }, text),
      h(
        "div",
        { class: "dialog__buttons" },
        h("button", { type: "button", class: "button", onclick: () => void app.copy(text, "Copied.") }, "Copy"),
        h("a", { class: "button button--primary", download: "zuliprc", href: URL.createObjectURL(new Blob([text])) }, "Download"),
      ),
    ],
    { class: "dialog--small" },
  );
}

/** @param {App} app @returns {import("../lib/dom.js").Child[]} */
export function showBots(app) {
  const { store, session } = app;
  store.on("users");
  const bots = (store.state.realm_bots ?? []).filter((/** @type {any} */ bot) => bot.owner_id === store.selfId && bot.is_active !== false);
  const name = h("input", { type: "text", required: true, maxlength: 100, dataset: { focus: "bot-name" } });
  const short = h("input", { type: "text", required: true, pattern: "[A-Za-z0-9_.\\-]+" });
  const type = select(TYPES, 1, () => {
    url.hidden = type.value !== "3";
  });
  const address = h("input", { type: "url", placeholder: "http://…" });
  const url = field("Where messages are posted to", address);
  url.hidden = true;
  return [
    bots.length === 0
      ? h("p", { class: "muted" }, "You have no bots.")
      : h(
          "ul",
          { class: "rows" },
          bots.map((/** @type {any} */ bot) =>
            h(
              "li",
              { class: "row" },
              avatar({ ...bot, avatar_url: bot.avatar_url }, 32),
              h("div", { class: "row__main" }, h("strong", null, bot.full_name), h("span", { class: "muted" }, bot.email)),
              h("button", { type: "button", class: "button button--small", onclick: () => void showFile(app, bot) }, "zuliprc"),
              iconButton("refresh", `New key for ${bot.full_name}`, {
                onclick: async () => {
                  if (await confirm("Make a new key?", "The old one stops working at once.", "New key"))
                    if (await session.attempt(api.regenerateBotKey(bot.user_id))) void showFile(app, bot);
                },
              }),
              iconButton("trash", `Deactivate ${bot.full_name}`, {
                onclick: async () => {
                  if (
                    await confirm(`Deactivate ${bot.full_name}?`, "Its key stops working. Its messages stay.", "Deactivate", {
                      isDanger: true,
                    })
                  )
                    await session.attempt(api.deleteBot(bot.user_id));
                },
              }),
            ),
          ),
        ),
    h("h3", null, "New bot"),
    h(
      "form",
      {
        class: "form",
        onsubmit: async (/** @type {Event} */ event) => {
          event.preventDefault();
          const reply = await session.attempt(
            api.createBot({
              full_name: name.value.trim(),
              short_name: short.value.trim(),
              bot_type: Number(type.value),
              ...(type.value === "3" ? { payload_url: JSON.stringify(address.value), interface_type: 1 } : {}),
            }),
          );
          if (reply) session.tell("The bot has been made.");
        },
      },
      field("Name", name),
      field("Short name", short, "It becomes part of the bot's email address."),
      field("Kind", type),
      url,
      h("div", null, h("button", { type: "submit", class: "button button--primary" }, "Make the bot")),
    ),
  ];
}
