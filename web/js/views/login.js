/**
 * Logging in.
 * @module
 */

import { logIn, serverSettings } from "../api/endpoints.js";
import { h } from "../lib/dom.js";
import { field, ownPath } from "./parts.js";

/** Shows the page, and goes on once the session has begun. @param {HTMLElement} root @returns {Promise<void>} */
export async function showLogin(root) {
  const settings = await serverSettings().catch(() => null);
  document.title = `Log in - ${settings?.realm_name ?? "teamchat"}`;
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
    const button = h("button", { type: "submit", class: "button button--primary button--wide" }, "Log in");
    const submit = async (/** @type {Event} */ event) => {
      event.preventDefault();
      button.disabled = true;
      problem.hidden = true;
      try {
        await logIn(email.value, password.value);
        resolve();
      } catch (/** @type {any} */ error) {
        problem.hidden = false;
        problem.textContent = error.status === 429 ? "There were too many attempts. Please wait some minutes." : error.message;
        button.disabled = false;
        password.select();
      }
    };
    root.replaceChildren(
      h(
        "main",
        { class: "login" },
        h(
          "div",
          { class: "login__box" },
          settings?.realm_icon && h("img", { src: ownPath(settings.realm_icon), alt: "", width: 56, height: 56, class: "login__icon" }),
          h("h1", null, settings?.realm_name ?? "teamchat"),
          settings ? null : h("p", { class: "problem" }, "The server cannot be reached."),
          h(
            "form",
            { class: "form", id: "login_form", onsubmit: submit },
            problem,
            field("Email", email),
            field("Password", password),
            button,
          ),
          hint(
            "Forgot your password?",
            "Ask an administrator of the organization for a link with which you set a new one. They make it on your card, " +
              "or in the organization's settings under Accounts.",
          ),
          hint("No account yet?", "Ask somebody who is here already for an invitation link. It leads to a page where you join."),
        ),
      ),
    );
    email.focus();
  });
}

/** @param {string} question @param {string} answer */
const hint = (question, answer) => h("details", { class: "login__hint" }, h("summary", null, question), h("p", null, answer));
