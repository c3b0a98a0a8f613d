/**
 * The profile of the organization: name, description, pictures, and the welcome message.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { h } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { membersOf } from "../store/lists.js";
import { field, followChanges, form, live, submit, submitButton } from "./form_parts.js";
import { button, ownPath } from "./parts.js";
import { pictureInput } from "./setting_controls.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../lib/dom.js").Child} Child */
/** @typedef {(params: Record<string, unknown>) => unknown} Change */

/** The pictures: their buttons, the state that has them, where they are sent to, and their sizes.
 * @type {() => { key: string, change: string, remove: string, member: string, path: string, night?: boolean, width: number, height: number, hint?: string }[]} */
const organizationPictures = () => [
  { key: "icon", change: t("Change icon"), remove: t("Remove icon"), member: "icon", path: "/realm/icon", width: 72, height: 72 },
  {
    key: "logo",
    change: t("Upload a logo"),
    remove: t("Remove logo"),
    member: "logo",
    path: "/realm/logo",
    night: false,
    width: 200,
    height: 40,
    hint: t("Other apps show the logo above their pages."),
  },
  {
    key: "night_logo",
    change: t("Upload a dark logo"),
    remove: t("Remove dark logo"),
    member: "night_logo",
    path: "/realm/logo",
    night: true,
    width: 200,
    height: 40,
    hint: t("Shown in dark themes."),
  },
];

/** @param {App} app @param {ReturnType<typeof organizationPictures>[number]} picture */
function pictureRow({ store, session }, { key, change, remove, member, path, night, width, height, hint }) {
  const isAdmin = Boolean(store.state.is_admin);
  /** @type {Record<string, string>} */
  const params = night === undefined ? {} : { night: String(night) };
  const input = pictureInput(session, path, params);
  return h(
    "div",
    null,
    live(() => {
      store.on("realm");
      const state = membersOf(store.state);
      const url = state[`realm_${member}_url`];
      const isOwn = state[`realm_${member}_source`] === "U";
      // Of a logo there is nothing to see before it is uploaded.
      const isShown = key === "icon" || isOwn;
      return h(
        "div",
        { class: "profile" },
        isShown &&
          h("img", {
            class: "avatar picture-sample",
            dataset: { dark: String(night === true) },
            src: ownPath(url),
            alt: "",
            width,
            height,
          }),
        isAdmin && button(change, () => input.click()),
        isAdmin && isOwn && button(remove, () => session.attempt(api.removePicture(path, params))),
        hint && h("p", { class: "field__hint" }, hint),
      );
    }),
    input,
  );
}

/** @param {App} app @param {Change} set @returns {Child[]} */
export function organizationProfile(app, set) {
  const { store } = app;
  const disabled = !store.state.is_admin;
  const name = h("input", { type: "text", value: store.state.realm_name, maxlength: 40, required: true, disabled });
  const description = h("textarea", { rows: 4, value: store.state.realm_description ?? "", maxlength: 1000, disabled });
  followChanges(
    () => store.on("realm"),
    [
      [name, () => store.state.realm_name],
      [description, () => store.state.realm_description ?? ""],
    ],
  );
  const [icon, ...logos] = organizationPictures();
  return [
    pictureRow(app, icon),
    form(
      () => set({ name: name.value.trim(), description: description.value }),
      field(t("Name"), name),
      field(t("Description"), description, t("A description of the organization, in Markdown.")),
      !disabled && submitButton(t("Save")),
    ),
    !disabled && [h("h3", null, t("Logos")), logos.map((logo) => pictureRow(app, logo))],
  ];
}

/** What the Welcome Bot adds for new people, with a way to see it first. @param {App} app @param {Change} set */
export function welcomeMessage({ store, session }, set) {
  if (!store.state.is_admin || store.state.realm_welcome_message_custom_text === undefined) return null;
  const current = () => store.state.realm_welcome_message_custom_text ?? "";
  const text = h("textarea", { rows: 3, value: current(), maxlength: 8000 });
  followChanges(() => store.on("realm"), [[text, current]]);
  const test = () =>
    session.attempt(api.testWelcomeMessage(text.value).then(() => session.tell(t("The Welcome Bot has sent you a message."))));
  return [
    h("h3", null, t("New people")),
    form(
      () => set({ welcome_message_custom_text: text.value }),
      field(t("Additional welcome message"), text, t("Markdown.")),
      h("div", { class: "inline" }, submit(t("Save")), button(t("Send it to me"), test)),
    ),
  ];
}
