/**
 * Inviting people: links, with the role and channels that they give.
 * @module
 */

import { createInviteLink, listInvites, revokeInvite } from "../api/endpoints.js";
import { fill, h, iconButton } from "../lib/dom.js";
import { fullTime } from "../lib/time.js";
import { channelOf, subscribedChannels } from "../store/channels.js";
import { checkbox, field, select } from "./parts.js";
import { linkField } from "./password_link.js";
import { showDialog } from "./popover.js";
import { ROLES } from "./user_card.js";

/** @typedef {import("../../types/app.js").App} App */

/** @type {import("./overlays.js").ShowOverlay} */
export function showInvite(app, _parts, onClose) {
  const { store, session } = app;
  const result = h("div", { "aria-live": "polite" });
  const list = h("div");
  const mine = store.self.role;
  const role = select(
    Object.entries(ROLES).filter(([value]) => Number(value) >= mine || mine === 100),
    400,
  );
  const expires = select(
    [
      [86_400, "1 day"],
      [604_800, "1 week"],
      [2_592_000, "30 days"],
      ["null", "Never"],
    ],
    604_800,
  );
  /** @type {number[]} */
  const defaults = store.state.realm_default_streams ?? [];
  /** @type {Set<number>} */
  const chosen = new Set();
  let withDefaults = true;
  const dialog = showDialog(
    "Invite people",
    () => [
      h("p", null, "Everybody who opens the link can join. Send it to the people whom you want here."),
      h(
        "form",
        {
          class: "form",
          onsubmit: async (/** @type {Event} */ event) => {
            event.preventDefault();
            const reply = await session.attempt(
              createInviteLink({
                invite_as: Number(role.value),
                invite_expires_in_minutes: expires.value === "null" ? null : Number(expires.value) / 60,
                stream_ids: [...chosen],
                include_realm_default_subscriptions: withDefaults,
              }),
            );
            if (!reply) return;
            fill(result, linkField(app, "Invitation link", reply.invite_link));
            void showList();
          },
        },
        h(
          "div",
          { class: "inline" },
          h("div", { class: "grow" }, field("They join as", role)),
          h("div", { class: "grow" }, field("The link works for", expires)),
        ),
        h(
          "fieldset",
          null,
          h("legend", null, "Channels they are added to"),
          checkbox(`The default channels: ${defaults.map((id) => channelOf(store, id).name).join(", ") || "none"}`, true, (is) => {
            withDefaults = is;
          }),
          subscribedChannels(store).map((channel) =>
            checkbox(channel.name, false, (is) => void chosen[is ? "add" : "delete"](channel.stream_id)),
          ),
        ),
        h("div", { class: "dialog__buttons" }, h("button", { type: "submit", class: "button button--primary" }, "Create link")),
      ),
      result,
      list,
    ],
    { onClose },
  );

  async function showList() {
    const reply = await session.attempt(listInvites());
    if (!reply || reply.invites.length === 0) return fill(list);
    const is24 = Boolean(store.setting("twenty_four_hour_time"));
    fill(
      list,
      h("h3", null, "Open invitations"),
      h(
        "ul",
        { class: "rows" },
        reply.invites.map((/** @type {any} */ invite) =>
          h(
            "li",
            { class: "row" },
            h(
              "div",
              { class: "row__main" },
              h("strong", null, invite.email ?? "Link for several people"),
              h(
                "span",
                { class: "muted" },
                `As ${ROLES[invite.invited_as]}. ${invite.expiry_date ? `Until ${fullTime(invite.expiry_date, is24)}` : "Does not expire"}`,
              ),
            ),
            invite.link_url && iconButton("copy", "Copy link", { onclick: () => void app.copy(invite.link_url, "Link copied.") }),
            iconButton("trash", "Revoke", {
              onclick: async () => (await session.attempt(revokeInvite(invite.id, invite.is_multiuse))) && showList(),
            }),
          ),
        ),
      ),
    );
  }
  void showList();
  return dialog;
}
