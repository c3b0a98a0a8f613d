/**
 * Groups of people, for mentions and permissions: the list of them, and making one.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { fill, h, icon } from "../lib/dom.js";
import { effect, signal } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { go } from "../platform/router.js";
import { groupRights } from "../selectors/group_settings.js";
import { may } from "../store/lists.js";
import { field, form, live, row, rowButton, rows, submit } from "./form_parts.js";
import { groupPage } from "./group_page.js";
import { membersPicker } from "./members_picker.js";
import { showRoutedDialog } from "./panes.js";
import { button } from "./parts.js";
import { groupsPicker, pickerField } from "./pickers.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").UserGroup} UserGroup */

/** @param {{ id: number, name: string }} group */
const groupFragment = (group) => `groups/${group.id}/${encodeURIComponent(group.name)}/general`;

/** Adds oneself to a group, or takes oneself out. @param {App} app @param {UserGroup} group */
function membershipButton({ store, session }, group) {
  const { mayJoin, mayLeave } = groupRights(store, group);
  if (!mayJoin && !mayLeave) return null;
  const run = () => session.attempt(api.updateGroupMembers(group.id, { [mayJoin ? "add" : "delete"]: [store.selfId] }));
  return button(mayJoin ? t("Join") : t("Leave"), run, "small", {
    "aria-label": mayJoin ? t("Join {name}", { name: group.name }) : t("Leave {name}", { name: group.name }),
  });
}

/** @param {App} app @param {string[]} parts @param {() => void} onClose */
export function showGroups(app, parts, onClose) {
  const { store } = app;
  const body = h("div", { class: "form" });

  /** @param {string[]} shown */
  function draw([first]) {
    if (first === "new") return fill(body, newGroup(app));
    const groups = () => {
      store.on("groups");
      return (store.state.realm_user_groups ?? []).filter((group) => !group.is_system_group);
    };
    const shown = signal(0);
    effect(() => {
      shown.value = groups().find((group) => group.id === Number(first) && !group.deactivated)?.id ?? 0;
    });
    // What is being written into the forms of a group stays: its lists are drawn again by themselves.
    effect(() => fill(body, shown.value > 0 ? groupPage(app, shown.value) : live(() => groupList(app, groups()))));
  }

  return showRoutedDialog(t("Groups"), body, "dialog--wide", draw, parts, onClose);
}

/** @param {App} app @param {UserGroup[]} groups @returns {import("../lib/dom.js").Child[]} */
function groupList(app, groups) {
  const { store, session } = app;
  // The rights depend on these as well.
  store.on("realm", "users");
  const gone = groups.filter(({ deactivated }) => deactivated);
  const words = (/** @type {UserGroup} */ { description, members: { length } }) => [
    description && [h("bdi", null, description), " · "],
    t({ one: "{count} member", other: "{count} members" }, { count: length }),
  ];
  return [
    may(store, "can_create_groups") &&
      h("div", null, h("a", { class: "button button--primary", href: "#groups/new" }, icon("plus"), t("Create a group"))),
    rows(
      groups
        .filter(({ deactivated }) => !deactivated)
        .map((group) =>
          h(
            "li",
            { class: "row" },
            h(
              "a",
              { class: "row__main", href: `#${groupFragment(group)}` },
              h("strong", null, group.name),
              h("span", { class: "muted" }, words(group)),
            ),
            membershipButton(app, group),
          ),
        ),
      t("There are no groups yet. You can mention a group, and give permissions to it."),
    ),
    gone.length > 0 && [
      h("h3", null, t("Deactivated")),
      rows(
        gone.map((group) =>
          row(
            group.name,
            group.description,
            groupRights(store, group).mayManage &&
              rowButton(t("Reactivate"), group.name, () => session.attempt(api.updateGroup(group.id, { deactivated: false }))),
          ),
        ),
      ),
    ],
  ];
}

/** @param {App} app @returns {HTMLElement} */
function newGroup(app) {
  const { store, session } = app;
  const name = h("input", { type: "text", required: true, maxlength: 100, autofocus: true });
  const description = h("input", { type: "text", maxlength: 1024 });
  const people = membersPicker(app, { label: t("Members"), chosen: [store.selfId], withGroups: false });
  const others = () => (store.state.realm_user_groups ?? []).filter((one) => !one.deactivated && one.name !== "role:internet");
  const subgroups = groupsPicker(app, { label: t("Groups in it"), chosen: [], groups: others });
  const create = async () => {
    const params = { name: name.value.trim(), description: description.value, members: people.ids(), subgroups: subgroups.ids() };
    const reply = await session.attempt(api.createGroup(params));
    // Its page has the permissions.
    if (reply) go(groupFragment({ id: reply.group_id, name: params.name }));
  };
  queueMicrotask(() => name.focus());
  return form(
    create,
    field(t("Name"), name),
    field(t("Description"), description),
    pickerField(t("Members"), people),
    pickerField(t("Groups in it"), subgroups),
    h("div", { class: "dialog__buttons" }, h("a", { class: "button", href: "#groups/all" }, t("Cancel")), submit(t("Create"))),
  );
}
