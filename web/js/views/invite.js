/**
 * Inviting people: links, with the role and channels that they give.
 * @module
 */

import { ApiError } from "../api/client.js";
import { createInviteLink, inviteByEmail, listInvites, resendInvite, revokeInvite } from "../api/endpoints_on_demand.js";
import { fill, h, iconButton } from "../lib/dom.js";
import { effect } from "../lib/signal.js";
import { fullTime } from "../lib/time.js";
import { t } from "../lib/words.js";
import { roleNames, rolesOfInvited } from "../selectors/roles.js";
import { channelOf } from "../store/channels.js";
import { may, ownGroups } from "../store/lists.js";
import { checkbox, field, form, row, rows } from "./form_parts.js";
import { select } from "./parts.js";
import { linkField } from "./password_link.js";
import { channelsPicker, groupsPicker, pickerField } from "./pickers.js";
import { confirm, showDialog } from "./popover.js";
import { later } from "./replies.js";

/** @typedef {import("../../types/app.js").App} App */

/** For how long an invitation works. @type {() => [number | string, string][]} */
const inviteTimes = () => [
  [86_400, t({ one: "{count} day", other: "{count} days" }, { count: 1 })],
  [259_200, t({ one: "{count} day", other: "{count} days" }, { count: 3 })],
  [604_800, t({ one: "{count} week", other: "{count} weeks" }, { count: 1 })],
  [2_592_000, t({ one: "{count} day", other: "{count} days" }, { count: 30 })],
  ["null", t("Never")],
];

/** Where the links of people who are invited by email are, if this server sends no mail. @param {App} app */
const placeOfLinks = ({ store }) =>
  store.state.is_admin
    ? t("The Notification Bot has sent you the links. Pass them on to the people.")
    : t("Administrators receive the links and pass them on.");

/** The fields for what people get when they join: a role, channels, groups and a greeting. @param {App} app */
function givenFields(app) {
  const { store } = app;
  const role = select(Object.entries(roleNames()), 400);
  const expires = select(inviteTimes(), 604_800);
  /** @type {number[]} */
  const defaults = store.state.realm_default_streams ?? [];
  const isWanted = (/** @type {import("../../types/api.js").Channel} */ { subscribed, stream_id }) =>
    subscribed && !defaults.includes(stream_id);
  const channels = channelsPicker(app, { label: t("More channels"), chosen: [], isWanted });
  const groups = groupsPicker(app, { label: t("Groups"), chosen: [], groups: () => ownGroups(store) });
  const welcome = h("textarea", { rows: 2, maxlength: 8000, placeholder: t("The organization's welcome message") });
  let withDefaults = true;
  const names = defaults.map((id) => channelOf(store, id).name).join(", ") || t("none");
  const welcomeField = field(t("Welcome message"), welcome, t("Markdown."));
  effect(() => {
    store.on("users");
    const offered = rolesOfInvited(store).map(([key]) => key);
    for (const option of role.options) option.hidden = option.disabled = !offered.includes(option.value);
    if (!offered.includes(role.value)) role.value = "400";
    welcomeField.hidden = !store.state.is_admin;
  });
  return {
    params: () => ({
      invite_as: Number(role.value),
      invite_expires_in_minutes: expires.value === "null" ? null : Number(expires.value) / 60,
      stream_ids: channels.ids(),
      include_realm_default_subscriptions: withDefaults,
      ...(groups.ids().length > 0 ? { group_ids: groups.ids() } : {}),
      ...(!welcomeField.hidden && welcome.value.trim() ? { welcome_message_custom_text: welcome.value.trim() } : {}),
    }),
    first: [
      h(
        "div",
        { class: "inline" },
        h("div", { class: "grow" }, field(t("They join as"), role)),
        h("div", { class: "grow" }, field(t("The link works for"), expires)),
      ),
      h(
        "fieldset",
        null,
        h("legend", null, t("Channels they are added to")),
        checkbox(t("The default channels: {names}", { names }), true, (is) => {
          withDefaults = is;
        }),
        pickerField(t("More channels"), channels),
      ),
    ],
    more: [ownGroups(store).length > 0 && pickerField(t("Groups"), groups), welcomeField],
  };
}

/** Addresses that were not invited, with the reasons, and whether the others were. @typedef {{ refused: [string, string][], isSent: boolean }} Outcome */

/** @param {unknown} error @returns {Outcome} */
function outcomeOf(error) {
  if (!(error instanceof ApiError) || error.code !== "INVITATION_FAILED" || !error.body.errors?.length) throw error;
  return { refused: error.body.errors, isSent: error.body.sent_invitations === true };
}

/** The form. @param {App} app @param {HTMLElement} result */
function inviteForm(app, result) {
  const { store, session } = app;
  const given = givenFields(app);
  const emails = h("textarea", { rows: 3, placeholder: "ada@example.com, bob@example.com" });
  const each = t("Each person gets their own link.");
  const emailField = field(t("Email addresses"), emails, each);
  const addresses = () => (emailField.hidden ? "" : emails.value.trim());
  const action = h("button", { type: "submit", class: "button button--primary" }, "");
  let isNotified = true;
  const words = () => {
    action.textContent = addresses() ? t("Invite") : t("Create link");
  };
  emails.oninput = words;

  async function invite() {
    if (addresses()) {
      const params = { ...given.params(), invitee_emails: emails.value, notify_referrer_on_join: isNotified };
      const done = () => /** @type {Outcome} */ ({ refused: [], isSent: true });
      const outcome = await session.attempt(inviteByEmail(params).then(done, outcomeOf));
      if (!outcome) return;
      const { refused, isSent } = outcome;
      // No one is invited twice if the form is sent again.
      if (isSent) emails.value = refused.map(([email]) => email).join(", ");
      words();
      const problem = isSent ? t("These addresses were not invited:") : t("These addresses cannot be invited. Change or remove them:");
      fill(
        result,
        isSent && h("p", { role: "status" }, t("The people are invited. If this server does not send email:"), " ", placeOfLinks(app)),
        refused.length > 0 && [h("p", { class: "problem" }, problem), rows(refused.map(([email, reason]) => row(email, reason)))],
      );
    } else {
      const reply = await session.attempt(createInviteLink(given.params()));
      if (!reply) return;
      fill(result, linkField(app, t("Invitation link"), reply.invite_link));
    }
  }

  const notice = checkbox(t("Notify me when someone invited by email joins"), true, (is) => {
    isNotified = is;
  });
  const about = h("p", null, t("Anyone who opens the link can join. Send it to the people you want to invite."));
  const hint = emailField.querySelector(".field__hint");
  effect(() => {
    store.on("users", "realm", "groups");
    const mayLink = may(store, "create_multiuse_invite_group");
    const mayMail = may(store, "can_invite_users_group");
    about.hidden = !mayLink;
    emailField.hidden = notice.hidden = !mayMail;
    emails.required = mayMail && !mayLink;
    if (hint) hint.textContent = mayLink ? `${each} ${t("Without addresses, you get one link for several people.")}` : each;
    words();
  });
  return [
    about,
    form(
      invite,
      emailField,
      given.first,
      h("details", { class: "more" }, h("summary", null, t("More")), given.more, notice),
      h("div", { class: "dialog__buttons" }, action),
    ),
  ];
}

/** An invitation that has not been accepted yet. @param {App} app @param {import("../../types/api.js").Invite} invite */
function openInvite(app, invite) {
  const { store, session } = app;
  const until = invite.expiry_date ? t("Until {time}", { time: fullTime(invite.expiry_date, store.is24Hours) }) : t("Does not expire");
  const renew = async () => {
    const reply = await session.attempt(resendInvite(invite.id));
    if (reply) session.tell(`${t("A new link was created. The old one no longer works.")} ${placeOfLinks(app)}`);
  };
  const { email, link_url: link } = invite;
  const name = email ?? t("Link for several people");
  const terms = `${t("As {role}.", { role: roleNames()[invite.invited_as] })} ${until}`;
  const revoke = async () => {
    const words = t("The link stops working immediately. People who have joined with it stay.");
    if (await confirm(t("Revoke {name}?", { name }), words, t("Revoke"), { isDanger: true }))
      await session.attempt(revokeInvite(invite.id, invite.is_multiuse));
  };
  return row(
    name,
    terms,
    link && iconButton("copy", t("Copy link"), { onclick: () => void app.copy(link, t("Link copied.")) }),
    email && iconButton("refresh", t("New link for {email}", { email }), { onclick: () => void renew() }),
    // Links for several people differ by their terms.
    iconButton("trash", t("Revoke {name}", { name: email ?? `${name}. ${terms}` }), { onclick: () => void revoke() }),
  );
}

/** @type {import("./overlays.js").ShowOverlay} */
export function showInvite(app, _parts, onClose) {
  const result = h("div", { "aria-live": "polite" });
  const list = () =>
    later(
      app,
      listInvites,
      ({ invites }) => invites.length > 0 && [h("h3", null, t("Open invitations")), rows(invites.map((invite) => openInvite(app, invite)))],
      () => app.store.on("invites"),
    );
  return showDialog(t("Invite people"), () => [...inviteForm(app, result), result, list()], { onClose });
}
