/**
 * Settings of the organization that are more than a switch: retention of messages, channels for notices, video calls, email domains,
 * and closing the organization.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { h } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { retentionChoices } from "../selectors/retention.js";
import { membersOf } from "../store/lists.js";
import { failures } from "../store/notices.js";
import { checkbox, field, lineForm, live, row, rows, submit } from "./form_parts.js";
import { button, select } from "./parts.js";
import { channelChooser, pickerField } from "./pickers.js";
import { ask, confirm } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../lib/dom.js").Child} Child */
/** @typedef {(params: Record<string, unknown>) => unknown} Change */

/** How long messages are kept. @param {number | null | undefined} days -1: for ever; null: as the organization says.
 * @param {(days: number | string) => void} change
 * @param {{ disabled: boolean, isChannel?: boolean, common?: number | null }} options `common`: the days of the organization. */
export function retentionField(days, change, { disabled, isChannel = false, common }) {
  if (days === undefined) return null;
  const { options, value } = retentionChoices(days, isChannel);
  const other = async () => {
    const text = await ask(t("Keep messages for"), String(Math.max(1, Number(days))), { label: t("Days"), type: "number" });
    if (Number(text) >= 1) await sure(Math.floor(Number(text)));
    else element.value = value;
  };
  /** @param {number | string} next */
  const sure = async (next) => {
    const words = t("Older messages will soon be deleted permanently.");
    const isKept = next === "unlimited" || (next === "realm_default" && Number(common ?? -1) < 0);
    if (isKept || (await confirm(t("Delete old messages?"), words, t("Delete old messages"), { isDanger: true }))) change(next);
    else element.value = value;
  };
  const element = select(options, value, (next) => void (next === "other" ? other() : sure(/^\d+$/.test(next) ? Number(next) : next)), {
    disabled,
  });
  return field(t("Messages are kept for"), element, t("Files that no other message links to are deleted too."));
}

/** Settings that name a channel; -1 is none. @type {() => [string, string, boolean][]} The last: private channels only. */
const noticeSettings = () => [
  ["new_stream_announcements_stream_id", t("New channels are announced in"), false],
  ["signup_announcements_stream_id", t("New people are announced in"), false],
  ["moderation_request_channel_id", t("Reports of messages go to"), true],
];

/** @param {App} app @param {Change} set */
export function noticeChannels(app, set) {
  const { store } = app;
  return live(() => {
    store.on("realm", "channels");
    failures.value;
    if (!store.state.is_admin) return null;
    return noticeSettings()
      .filter(([name]) => membersOf(store.state)[`realm_${name}`] !== undefined)
      .map(([name, label, isPrivate]) => {
        const id = membersOf(store.state)[`realm_${name}`];
        const chooser = channelChooser(app, {
          label,
          chosen: store.channels.has(id) ? id : null,
          isWanted: (channel) => channel.invite_only === isPrivate,
          onChange: (next) => void set({ [name]: next }),
        });
        const none = id >= 0 && button(t("None"), () => set({ [name]: -1 }), "small");
        const line = h("div", { class: "inline" }, h("div", { class: "grow" }, chooser.element), none);
        return pickerField(label, { element: line, input: chooser.input });
      });
  });
}

/** @type {() => [string, string][]} The values of `video_chat_provider`. */
const callProviders = () => [
  ["0", t("None")],
  ["1", "Jitsi Meet"],
];

/** What links to video calls lead to. @param {App} app @param {Change} set */
export function videoCalls({ store }, set) {
  return live(() => {
    store.on("realm");
    const disabled = !store.state.is_admin;
    const provider = String(store.state.realm_video_chat_provider ?? 0);
    const url = h("input", {
      type: "url",
      value: store.state.realm_jitsi_server_url ?? "",
      placeholder: "https://meet.example.com",
      disabled,
    });
    url.onchange = () => url.reportValidity() && void set({ jitsi_server_url: JSON.stringify(url.value.trim() || "default") });
    const change = (/** @type {string} */ value) => void set({ video_chat_provider: Number(value) });
    return [
      field(t("Video calls"), select(callProviders(), provider, change, { disabled })),
      provider === "1" && field(t("Address of the Jitsi server"), url, t("If set, the message box has a button that starts a call.")),
    ];
  });
}

/** Domains of the email addresses with which people may join, which owners change. @param {App} app @param {Change} set @returns {Child[]} */
export function allowedDomains({ store, session }, set) {
  const input = h("input", { type: "text", required: true, placeholder: "example.com", "aria-label": t("Domain") });
  let withSubdomains = false;
  const add = async () => {
    if (await session.attempt(api.addDomain({ domain: input.value.trim(), allow_subdomains: withSubdomains }))) input.value = "";
  };
  const isOwner = Boolean(store.state.is_owner);
  return [
    live(() => {
      store.on("realm");
      const isOn = Boolean(store.state.realm_emails_restricted_to_domains);
      const change = (/** @type {boolean} */ is) => set({ emails_restricted_to_domains: is });
      return checkbox(t("Only people with an email address in one of these domains can join"), isOn, change, { disabled: !isOwner });
    }),
    live(() => {
      store.on("realm");
      return rows(
        (store.state.realm_domains ?? []).map(({ domain, allow_subdomains: isWide }) =>
          row(
            domain,
            isWide ? t("and its subdomains") : null,
            isOwner &&
              button(
                isWide ? t("Without subdomains") : t("With subdomains"),
                () => session.attempt(api.updateDomain(domain, !isWide)),
                "small",
              ),
            isOwner &&
              button(t("Remove"), () => session.attempt(api.removeDomain(domain)), "small", {
                "aria-label": t("Remove {name}", { name: domain }),
              }),
          ),
        ),
        t("There are no domains."),
      );
    }),
    isOwner &&
      lineForm(
        add,
        h("div", { class: "grow" }, input),
        checkbox(t("With subdomains"), false, (is) => {
          withSubdomains = is;
        }),
        submit(t("Add")),
      ),
  ];
}

/** Closing the organization. @param {App} app */
export function closing({ store, session }) {
  if (!store.state.is_owner) return null;
  const close = async () => {
    const name = store.state.realm_name;
    const words = t("No one will be able to log in. Messages are kept, and the operator of the server can reopen the organization.");
    if (!(await confirm(t("Close {name}?", { name }), words, t("Close the organization"), { isDanger: true }))) return;
    if (await session.attempt(api.closeOrganization())) location.assign("/");
  };
  return h("div", null, button(t("Close the organization"), close, "danger"));
}
