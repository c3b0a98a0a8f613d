/**
 * Integrations: the list of programs that can post here, and the webhook address of each for a bot.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { fill, h, icon } from "../lib/dom.js";
import { debounce } from "../lib/timing.js";
import { t } from "../lib/words.js";
import { ranked } from "../selectors/ranking.js";
import { eventName, shortNameFor, webhookUrl } from "../selectors/webhooks.js";
import { may } from "../store/lists.js";
import { INCOMING } from "./bot_dialog.js";
import { actionRow, checkbox, field, form, submitButton } from "./form_parts.js";
import { button, select } from "./parts.js";
import { channelChooser, pickerField, topicChooser } from "./pickers.js";
import { showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../selectors/webhooks.js").Integration} Integration */
/** @typedef {{ user_id: number, full_name: string }} Bot */

/** One's own bots for incoming webhooks. @param {App} app @returns {Bot[]} */
const ownWebhooks = ({ store }) =>
  (store.state.realm_bots ?? []).filter((bot) => bot.owner_id === store.selfId && bot.is_active !== false && bot.bot_type === INCOMING);

/** The programs that can be connected. @type {import("./overlays.js").ShowOverlay} */
export function showIntegrations(app, _parts, onClose) {
  const input = h("input", { type: "search", placeholder: t("Filter programs"), "aria-label": t("Filter programs") });
  const list = h("ul", { class: "rows programs" }, h("li", { class: "muted" }, t("Loading…")));
  /** @type {Integration[]} */
  let programs = [];
  const show = () => {
    const query = input.value.trim();
    const found = query === "" ? programs : ranked(programs, query, ({ display_name, name }) => [display_name, name]);
    const rowOf = (/** @type {Integration} */ program) => {
      const count = program.all_event_types?.length ?? 0;
      const text = count > 0 ? t({ one: "{count} kind of event", other: "{count} kinds of events" }, { count }) : t("All events");
      return actionRow(
        () => connect(app, program),
        [h("strong", null, program.display_name), h("span", { class: "muted" }, text)],
        icon("plus"),
      );
    };
    fill(
      list,
      found.length > 0
        ? found.map(rowOf)
        : h("li", { class: "muted" }, t("No integration has this name. Try “JSON formatter” or “Plain text”.")),
    );
  };
  input.oninput = debounce(show, 60);
  void app.session.attempt(api.integrations()).then((reply) => {
    programs = reply ?? [];
    show();
  });
  return showDialog(
    t("Connect another program"),
    () => [
      h("p", null, t("These programs can post messages here. Each gets its own address, and posts as one of your bots.")),
      input,
      list,
    ],
    { onClose },
  );
}

/** Asks for the bot that posts the messages of a program. @param {App} app @param {Integration} program */
function connect(app, program) {
  const { store, session } = app;
  const own = ownWebhooks(app);
  const mayCreate = may(store, "can_create_bots_group") || may(store, "can_create_write_only_bots_group");
  if (!mayCreate && own.length === 0)
    return session.tellError(t("You do not have permission to create bots. Please ask an administrator."));
  const name = h("input", { type: "text", required: true, maxlength: 100, value: program.display_name });
  const nameField = field(t("Its name"), name);
  /** @type {[string | number, string][]} */
  const options = [...(mayCreate ? [/** @type {[string, string]} */ (["new", t("A new bot")])] : []), ...own.map(nameOfBot)];
  const bot = select(options, options[0][0], () => {
    nameField.hidden = bot.value !== "new";
    name.required = !nameField.hidden;
  });
  nameField.hidden = bot.value !== "new";
  const next = async (/** @type {() => void} */ close) => {
    const chosen =
      bot.value === "new" ? await createWebhook(app, program, name.value.trim()) : own.find((one) => String(one.user_id) === bot.value);
    if (!chosen) return;
    close();
    await showWebhook(app, chosen, program.name);
  };
  showDialog(
    t("Connect {name}", { name: program.display_name }),
    (close) => [form(() => next(close), field(t("Post messages as"), bot), nameField, submitButton(t("Next")))],
    { class: "dialog--small" },
  );
}

/** @param {Bot} bot @returns {[number, string]} */
const nameOfBot = (bot) => [bot.user_id, bot.full_name];

/** @param {App} app @param {Integration} program @param {string} full_name @returns {Promise<Bot | null>} */
async function createWebhook({ store, session }, program, full_name) {
  const emails = [...store.users.values()].map(({ email }) => email);
  const params = { full_name, short_name: shortNameFor(program.name, emails), bot_type: INCOMING };
  const reply = await session.attempt(api.createBot(params));
  return reply ? { user_id: reply.user_id, full_name } : null;
}

/** The address for a program. @param {App} app @param {Bot} bot @param {string} [wanted] The program. */
export async function showWebhook(app, bot, wanted) {
  const found = await app.session.attempt(Promise.all([api.botKey(bot.user_id), api.integrations()]));
  if (!found) return;
  const [{ api_key: key }, programs] = found;
  const address = h("textarea", { class: "source", readonly: true, rows: 4, "aria-label": t("Address") });
  const names = programs.map(({ name, display_name }) => /** @type {[string, string]} */ ([name, display_name]));
  const program = select(names, wanted ?? programs[0]?.name, () => changed());
  const channel = channelChooser(app, { chosen: null, onChange: update });
  const topic = topicChooser(app, { value: "", streamId: channel.id, onChange: update, placeholder: t("Set by the program") });
  const place = h("div", { class: "form" });
  /** @type {Set<string>} */
  const events = new Set();
  /** @type {Record<string, string | boolean>} */
  let options = {};

  function update() {
    const where = { origin: location.origin, name: program.value, key, streamId: channel.id(), topic: topic.value() };
    address.value = webhookUrl({ ...where, events: [...events], options });
  }

  function changed() {
    events.clear();
    options = {};
    const chosen = programs.find(({ name }) => name === program.value);
    fill(place, chosen && [optionFields(chosen, options, update), eventChoice(chosen, events, update)]);
    update();
  }
  changed();
  showDialog(t("Webhook of {name}", { name: bot.full_name }), () => [
    h("p", null, t("Enter this address as the webhook URL in the other program. Anyone who knows it can post as the bot.")),
    field(t("Program"), program),
    pickerField(t("Channel"), channel),
    h("p", { class: "field__hint" }, t("Without a channel, the messages come to you.")),
    pickerField(t("Topic"), topic),
    place,
    address,
    h(
      "div",
      { class: "dialog__buttons" },
      button(t("Copy"), () => app.copy(address.value, t("Copied.")), "primary"),
    ),
  ]);
}

/** The fields for options of the address. @param {Integration} program @param {Record<string, string | boolean>} options @param {() => void} changed */
const optionFields = ({ url_options }, options, changed) =>
  (url_options ?? []).map(({ key, label, validator }) => {
    const set = (/** @type {string | boolean} */ value) => {
      options[key] = value;
      changed();
    };
    if (validator === "check_bool") return checkbox(label, false, set);
    const input = h("input", { type: "text" });
    input.oninput = () => set(input.value);
    return field(label, input);
  });

/** The kinds of events, of which some can be chosen. @param {Integration} program @param {Set<string>} events @param {() => void} changed */
function eventChoice({ all_event_types: all }, events, changed) {
  if (!all || all.length === 0) return null;
  return h(
    "details",
    { class: "more" },
    h("summary", null, t("Only some events")),
    h("p", { class: "field__hint" }, t("If you choose none, all events are sent.")),
    h(
      "div",
      { class: "choices-grid" },
      all.map((event) =>
        checkbox(eventName(event), false, (is) => {
          if (is) events.add(event);
          else events.delete(event);
          changed();
        }),
      ),
    ),
  );
}
