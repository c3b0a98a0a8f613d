/**
 * One's own account: email, password, and the devices that are logged in.
 * @module
 */

import { updateSettings } from "../api/endpoints.js";
import * as api from "../api/endpoints_on_demand.js";
import { h } from "../lib/dom.js";
import { distinct, signal } from "../lib/signal.js";
import { fullTime } from "../lib/time.js";
import { sentence, t } from "../lib/words.js";
import { mayChangeOwn } from "../selectors/roles.js";
import { field, followChanges, form, row, rows, submitButton } from "./form_parts.js";
import { button } from "./parts.js";
import { confirm, showDialog } from "./popover.js";
import { later } from "./replies.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../lib/dom.js").Child} Child */

/** @param {App} app @returns {Child[]} */
export function account({ store, session }) {
  // The section is drawn again when this has changed.
  const mayChangeEmail = distinct(() => {
    store.on("users", "realm");
    return mayChangeOwn(store, "email");
  }).value;
  const email = h("input", {
    type: "email",
    value: store.self.delivery_email ?? store.state.delivery_email ?? "",
    autocomplete: "email",
    disabled: !mayChangeEmail,
  });
  followChanges(() => store.on("users"), [[email, () => store.self.delivery_email ?? store.state.delivery_email ?? ""]]);
  // Where people log in with providers only, most have no password. The operator decides on that.
  const hasPasswords = store.state.realm_password_auth_enabled !== false;
  const proof = h("input", { type: "password", autocomplete: "current-password", required: hasPasswords });
  const old = h("input", { type: "password", autocomplete: "current-password", required: true });
  const next = h("input", {
    type: "password",
    autocomplete: "new-password",
    required: true,
    minlength: store.state.password_min_length ?? 6,
    maxlength: store.state.password_max_length ?? 100,
  });
  const changePassword = () =>
    updateSettings({ old_password: old.value, new_password: next.value }).then(() => {
      old.value = next.value = "";
      session.tell(t("Your password has been changed."));
    });
  const changeEmail = () =>
    updateSettings({ email: email.value.trim(), old_password: proof.value }).then(() => {
      proof.value = "";
      session.tell(t("Saved. If this server sends email, confirm the new address with the link that was sent to it."));
    });
  return [
    form(
      () => session.attempt(changeEmail()),
      field(t("Email"), email, mayChangeEmail ? "" : t("Only administrators can change it.")),
      mayChangeEmail && [field(t("Your password, to change the email"), proof), submitButton(t("Change email"))],
    ),
    hasPasswords && [
      h("h3", null, t("Password")),
      form(
        () => session.attempt(changePassword()),
        h("input", { type: "text", autocomplete: "username", value: store.state.delivery_email ?? "", hidden: true }),
        field(t("Current password"), old),
        field(t("New password"), next),
        submitButton(t("Change password")),
      ),
    ],
  ];
}

/** Closing one's own account. @param {App} app */
export function closeAccount({ session, store }) {
  const close = async () => {
    const bots = (store.state.realm_bots ?? []).some((bot) => bot.owner_id === store.selfId && bot.is_active !== false);
    const words = bots
      ? t(
          "You will be logged out everywhere and cannot reactivate the account yourself. Your messages are kept. Your bots will stop working.",
        )
      : t("You will be logged out everywhere and cannot reactivate the account yourself. Your messages are kept.");
    if (!(await confirm(t("Close your account?"), words, t("Close account"), { isDanger: true }))) return;
    if (await session.attempt(api.closeAccount())) location.assign("/");
  };
  return [h("h3", null, t("Close the account")), h("div", null, button(t("Close your account"), close, "danger"))];
}

/** The file that libraries and programs read. @param {App} app @param {string} owner @param {string} email @param {string} key */
export function showKeyFile(app, owner, email, key) {
  const text = `[api]\nemail=${email}\nkey=${key}\nsite=${location.origin}\n`;
  showDialog(
    t("{file} of {name}", { file: "zuliprc", name: owner }),
    () => [
      h("p", null, sentence("Save this as {file}. Client libraries and programs read this file.", { file: h("code", null, "zuliprc") })),
      h("textarea", { class: "source", readonly: true, rows: 5, "aria-label": "zuliprc" }, text),
      h(
        "div",
        { class: "dialog__buttons" },
        button(t("Copy"), () => app.copy(text, t("Copied."))),
        h("a", { class: "button button--primary", download: "zuliprc", href: URL.createObjectURL(new Blob([text])) }, t("Download")),
      ),
    ],
    { class: "dialog--small" },
  );
}

/** Makes a key for a program of one's own, which takes the password again. @param {App} app @param {() => void} onDone */
function newKey(app, onDone) {
  const { store, session } = app;
  const email = store.state.delivery_email ?? store.self.delivery_email ?? "";
  const password = h("input", { type: "password", autocomplete: "current-password", required: true });
  showDialog(
    t("A key for a program"),
    (close) => [
      h("p", null, t("A program with this key can do everything that you can do. For most purposes, use a bot instead.")),
      form(
        async () => {
          const reply = await session.attempt(api.fetchKey(email, password.value));
          if (!reply) return;
          close();
          onDone();
          showKeyFile(app, store.self.full_name, email, reply.api_key);
        },
        field(t("Your password"), password),
        submitButton(t("Create a key")),
      ),
    ],
    { class: "dialog--small" },
  );
}

/** @param {App} app @returns {Child[]} */
export function devices(app) {
  const { store, session } = app;
  const changes = signal(0);
  const show = () => {
    changes.value += 1;
  };
  const revokeOthers = async () => {
    const words = t("All other browsers, phones, programs and scripts that use your account will have to log in again.");
    if (
      (await confirm(t("Log out everywhere else?"), words, t("Log out"), { isDanger: true })) &&
      (await session.attempt(api.revokeOtherKeys()))
    )
      show();
  };
  /** The row of a login. @param {string} client @param {string} use When and where it was used. @param {(() => Promise<unknown>) | null} end */
  const login = (client, use, end) =>
    row(
      end ? client : t("{client} (this browser)", { client }),
      use,
      // Several logins can have the same name.
      end &&
        button(t("Log out"), async () => (await session.attempt(end())) && show(), "small", {
          "aria-label": t("Log out {name}", { name: client }),
          title: use,
        }),
    );
  const time = (/** @type {number} */ seconds) => fullTime(seconds, store.is24Hours);
  const place = later(
    app,
    api.listKeys,
    ({ sessions, current_session_id: current, api_keys: keys }) => [
      rows([
        ...sessions.map(({ id, client, address, date_created: created, last_used }) =>
          login(
            client,
            t("Since {time}, last used {last} from {address}", { time: time(created), last: time(last_used), address }),
            id === current ? null : () => api.endSession(id),
          ),
        ),
        ...keys.map(({ id, client, date_created: created, last_used }) =>
          login(
            client,
            last_used
              ? t("Since {time}, last used {last}", { time: time(created), last: time(last_used) })
              : t("Since {time}", { time: time(created) }),
            () => api.revokeKey(id),
          ),
        ),
      ]),
      h(
        "div",
        { class: "inline" },
        // It takes the password.
        store.state.realm_password_auth_enabled !== false && button(t("Create a key for a program"), () => newKey(app, show)),
        button(t("Log out all other devices"), revokeOthers, "danger", { disabled: sessions.length + keys.length < 2 }),
      ),
    ],
    () => void changes.value,
  );
  return [h("p", { class: "muted" }, t("Each browser, phone, program and script that uses your account has its own login.")), place];
}
