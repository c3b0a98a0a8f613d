/**
 * Groups of people, for mentions and permissions.
 * @module
 */

import * as api from "../api/endpoints.js";
import { fill, h, icon, iconButton } from "../lib/dom.js";
import { effect } from "../lib/signal.js";
import { go } from "../platform/router.js";
import { may } from "../store/lists.js";
import { userOf } from "../store/users.js";
import { showRoutedDialog } from "./panes.js";
import { avatar, field } from "./parts.js";
import { userPicker } from "./pickers.js";
import { confirm } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */

/** @param {App} app @param {string[]} parts @param {() => void} onClose */
export function showGroups(app, parts, onClose) {
  const { store, session } = app;
  const body = h("div", { class: "form" });

  /** @param {string[]} shown */
  function draw(shown) {
    effect(() => {
      store.on("groups");
      const groups = (store.state.realm_user_groups ?? []).filter(
        (/** @type {any} */ group) => !group.is_system_group && !group.deactivated,
      );
      const group = groups.find((/** @type {any} */ one) => one.id === Number(shown[0]));
      if (group) return one(group);
      if (shown[0] === "new") return create();
      fill(
        body,
        may(store, "can_create_groups") &&
          h("div", null, h("a", { class: "button button--primary", href: "#groups/new" }, icon("plus"), "Create a group")),
        groups.length === 0
          ? h("p", { class: "muted" }, "There are no groups yet. A group can be mentioned as a whole, and permissions can name it.")
          : h(
              "ul",
              { class: "rows" },
              groups.map((/** @type {any} */ entry) =>
                h(
                  "li",
                  { class: "row" },
                  h(
                    "a",
                    { class: "row__main", href: `#groups/${entry.id}/${encodeURIComponent(entry.name)}/general` },
                    h("strong", null, entry.name),
                    h(
                      "span",
                      { class: "muted" },
                      `${entry.description} ${entry.members.length} ${entry.members.length === 1 ? "member" : "members"}`,
                    ),
                  ),
                ),
              ),
            ),
      );
    });
  }

  /** @param {any} group */
  function one(group) {
    const name = h("input", { type: "text", value: group.name, maxlength: 100 });
    const description = h("input", { type: "text", value: group.description });
    const picker = userPicker(app, { label: "Add people", chosen: [], onChange: () => {} });
    fill(
      body,
      h(
        "div",
        { class: "inline" },
        h("a", { class: "icon-button", href: "#groups/all", "aria-label": "All groups" }, icon("back")),
        h("h3", null, group.name),
      ),
      h(
        "form",
        {
          class: "form",
          onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            void session.attempt(
              api
                .updateGroup(group.id, {
                  ...(name.value.trim() !== group.name ? { name: name.value.trim() } : {}),
                  ...(description.value !== group.description ? { description: description.value } : {}),
                })
                .then(() => session.tell("Saved.")),
            );
          },
        },
        field("Name", name),
        field("Description", description),
        h("div", null, h("button", { type: "submit", class: "button button--primary" }, "Save")),
      ),
      h("h3", null, "Members"),
      h(
        "form",
        {
          class: "inline",
          onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            void session.attempt(api.updateGroupMembers(group.id, { add: picker.ids() }));
          },
        },
        h("div", { class: "grow" }, picker.element),
        h("button", { type: "submit", class: "button" }, "Add"),
      ),
      h(
        "ul",
        { class: "rows" },
        group.members.map((/** @type {number} */ id) =>
          h(
            "li",
            { class: "row" },
            avatar(userOf(store, id), 28),
            h("span", { class: "row__main" }, userOf(store, id).full_name),
            iconButton("close", `Remove ${userOf(store, id).full_name}`, {
              onclick: () => void session.attempt(api.updateGroupMembers(group.id, { delete: [id] })),
            }),
          ),
        ),
      ),
      h(
        "div",
        null,
        h(
          "button",
          {
            type: "button",
            class: "button button--danger",
            onclick: async () => {
              if (
                await confirm(`Deactivate ${group.name}?`, "It can no longer be mentioned or used in permissions.", "Deactivate", {
                  isDanger: true,
                })
              )
                if (await session.attempt(api.deactivateGroup(group.id))) go("groups/all");
            },
          },
          "Deactivate group",
        ),
      ),
    );
  }

  function create() {
    const name = h("input", { type: "text", required: true, maxlength: 100 });
    const description = h("input", { type: "text" });
    const picker = userPicker(app, { label: "Members", chosen: [store.selfId], onChange: () => {} });
    fill(
      body,
      h(
        "form",
        {
          class: "form",
          onsubmit: async (/** @type {Event} */ event) => {
            event.preventDefault();
            if (await session.attempt(api.createGroup({ name: name.value.trim(), description: description.value, members: picker.ids() })))
              go("groups/all");
          },
        },
        field("Name", name),
        field("Description", description),
        h("div", { class: "field" }, h("span", { class: "field__label" }, "Members"), picker.element),
        h(
          "div",
          { class: "dialog__buttons" },
          h("a", { class: "button", href: "#groups/all" }, "Cancel"),
          h("button", { type: "submit", class: "button button--primary" }, "Create"),
        ),
      ),
    );
    name.focus();
  }

  return showRoutedDialog("Groups", body, "dialog--wide", draw, parts, onClose);
}
