/**
 * Logging in.
 * @module
 */

import { ApiError, csrfToken, errorText } from "../api/client.js";
import { logIn, serverSettings } from "../api/endpoints.js";
import { h } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { field } from "./form_parts.js";
import { ownPath } from "./parts.js";
import { signUpLink } from "./visitor.js";

/** Shows the page, and goes on once the session has begun. @param {HTMLElement} root @returns {Promise<void>} */
export async function showLogin(root) {
  const settings = await serverSettings().catch(() => null);
  document.title = `${t("Log in")} - ${settings?.realm_name ?? "teamchat"}`;
  return new Promise((resolve) => {
    const email = h("input", { type: "email", name: "username", id: "id_username", autocomplete: "username", required: true });
    const password = h("input", {
      type: "password",
      name: "password",
      id: "id_password",
      autocomplete: "current-password",
      required: true,
    });
    const problem = h("p", { class: "problem", role: "alert", hidden: true });
    const say = (/** @type {string} */ text) => {
      problem.hidden = false;
      problem.textContent = text;
    };
    const deactivated = new URLSearchParams(location.search).get("is_deactivated");
    if (deactivated) say(t("The account {email} is deactivated. Ask an administrator of the organization.", { email: deactivated }));
    // The cookie of a session that the server does not know any more.
    else if (csrfToken()) say(t("Your session has ended. Log in again to continue."));
    const button = h("button", { type: "submit", class: "button button--primary button--wide" }, t("Log in"));
    const submit = async (/** @type {Event} */ event) => {
      event.preventDefault();
      button.disabled = true;
      problem.hidden = true;
      try {
        await logIn(email.value, password.value);
        if (csrfToken()) return resolve();
        say(t("This browser does not accept cookies. Without cookies, you cannot stay logged in."));
      } catch (error) {
        say(error instanceof ApiError && error.status === 429 ? t("Too many attempts. Please wait a few minutes.") : errorText(error));
        password.select();
      }
      button.disabled = false;
    };
    // Without an answer the form is there, so that a person can try.
    const hasPasswords = settings?.email_auth_enabled !== false;
    root.replaceChildren(
      h(
        "main",
        { class: "login" },
        h(
          "div",
          { class: "login__box" },
          settings?.realm_icon && h("img", { src: ownPath(settings.realm_icon), alt: "", width: 56, height: 56, class: "login__icon" }),
          h("h1", null, settings?.realm_name ?? "teamchat"),
          settings ? null : h("p", { class: "problem" }, t("The server cannot be reached.")),
          problem,
          providers(settings?.external_authentication_methods ?? []),
          hasPasswords &&
            h(
              "form",
              { class: "form", id: "login_form", onsubmit: submit },
              field(t("Email"), email),
              field(t("Password"), password),
              button,
            ),
          hasPasswords &&
            hint(
              t("Forgot your password?"),
              // Without email, the page says what to do instead.
              h("a", { href: "/accounts/password/reset/" }, t("Request a new password by email")),
              t(
                "Ask an administrator of the organization for a link to set a new password. They can create it on your card, or in the organization settings under Accounts.",
              ),
            ),
          settings?.realm_web_public_access_enabled &&
            h("p", { class: "login__visit" }, h("a", { href: visitPath() }, t("View without an account"))),
          settings?.realm_sign_up_enabled
            ? h("p", { class: "login__visit" }, t("No account yet?"), " ", signUpLink())
            : hint(t("No account yet?"), t("Ask a member for an invitation link. It opens a page where you can join.")),
        ),
      ),
    );
    if (hasPasswords) email.focus();
  });
}

/** Links to providers of single sign-on, which lead back to where one was. @param {{ display_name: string, login_url: string }[]} methods */
const providers = (methods) =>
  methods.map(({ display_name: name, login_url: url }) =>
    h(
      "a",
      { class: "button button--wide", href: `${url}?${new URLSearchParams({ next: nextPath() })}` },
      t("Log in with {name}", { name }),
    ),
  );

/** The path to which a login leads. The server takes no other ones than its own. */
const nextPath = () => new URLSearchParams(location.search).get("next") ?? `/${location.hash}`;

/** Where one was, or was sent from, without an account. */
function visitPath() {
  const next = new URLSearchParams(location.search).get("next") ?? "/";
  return next.startsWith("/#") ? next : "/";
}

/** @param {string} question @param {import("../lib/dom.js").Child[]} answers Each is a paragraph. */
const hint = (question, ...answers) =>
  h(
    "details",
    { class: "login__hint" },
    h("summary", null, question),
    answers.map((answer) => h("p", null, answer)),
  );
