/**
 * One group: its name, members, the groups in it, and its permissions, as far as the user may change them.
 * @module
 */

import * as api from "../api/endpoints_on_demand.js";
import { h, icon, iconButton } from "../lib/dom.js";
import { effect } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { go } from "../platform/router.js";
import { groupName } from "../selectors/group_names.js";
import { groupRights } from "../selectors/group_settings.js";
import { groupOf } from "../store/lists.js";
import { userOf } from "../store/users.js";
import { field, followChanges, form, lineForm, live, row, rows, rowWithPicture, saving, submitButton } from "./form_parts.js";
import { groupSelect } from "./group_select.js";
import { membersPicker } from "./members_picker.js";
import { avatar, button } from "./parts.js";
import { groupsPicker } from "./pickers.js";
import { confirm } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").UserGroup} UserGroup */
/** @typedef {import("../lib/dom.js").Child} Child */

/** The group as it is now, and the rights of the user. Elements that read them are drawn again when they change.
 * @typedef {{ current: () => UserGroup, rights: () => ReturnType<typeof groupRights> }} Now */

/** @type {() => [import("../selectors/group_settings.js").GroupPermission, string][]} */
const groupPermissions = () => [
  ["can_mention_group", t("Who can mention it")],
  ["can_add_members_group", t("Who can add people")],
  ["can_remove_members_group", t("Who can remove people")],
  ["can_join_group", t("Who can join by themselves")],
  ["can_leave_group", t("Who can leave")],
  ["can_manage_group", t("Who manages it")],
];

/** @param {App} app @param {number} id @returns {Child[]} */
export function groupPage(app, id) {
  const { store, session } = app;
  const group = /** @type {UserGroup} */ (groupOf(store, id));
  const current = () => {
    store.on("groups");
    return groupOf(store, id) ?? group;
  };
  const rights = () => {
    store.on("realm", "users");
    return groupRights(store, current());
  };
  const now = { current, rights };
  return [
    h(
      "div",
      { class: "inline" },
      h("a", { class: "icon-button", href: "#groups/all", "aria-label": t("All groups") }, icon("back")),
      live(() => h("h3", null, current().name)),
    ),
    nameForm(app, group, now),
    h("h3", null, t("Members")),
    members(app, group, now),
    h("h3", null, t("Groups in it")),
    subgroups(app, group, now),
    h("h3", null, t("Permissions")),
    live(() => {
      const [shown, disabled] = [current(), !rights().mayManage];
      return groupPermissions()
        .filter(([setting]) => shown[setting] !== undefined)
        .map(([setting, label]) => {
          const change = (/** @type {unknown} */ next, /** @type {unknown} */ old) =>
            void session.attempt(api.updateGroup(id, { [setting]: { new: next, old } }));
          return field(label, groupSelect(app, shown[setting], change, { disabled, setting, kind: "group", label }));
        });
    }),
    live(() => rights().mayManage && deactivateButton(app, current())),
  ];
}

/** @param {App} app @param {UserGroup} group @param {Now} now */
function nameForm({ store, session }, group, { current, rights }) {
  const name = h("input", { type: "text", value: group.name, maxlength: 100, required: true });
  const description = h("input", { type: "text", value: group.description });
  const saveLine = submitButton(t("Save"));
  effect(() => {
    name.disabled = description.disabled = saveLine.hidden = !rights().mayManage;
  });
  followChanges(
    () => store.on("groups"),
    [
      [name, () => current().name],
      [description, () => current().description],
    ],
  );
  const save = () => {
    const params = {
      ...(name.value.trim() !== current().name ? { name: name.value.trim() } : {}),
      ...(description.value !== current().description ? { description: description.value } : {}),
    };
    // The server refuses a request without a change.
    return saving(session, Object.keys(params).length > 0 ? api.updateGroup(group.id, params) : Promise.resolve());
  };
  return form(save, field(t("Name"), name), field(t("Description"), description), saveLine);
}

/** The form that adds something, as long as the user may. @param {Now} now @param {() => unknown} add @param {HTMLElement} picker */
function addForm({ rights }, add, picker) {
  const element = lineForm(add, h("div", { class: "grow" }, picker), h("button", { type: "submit", class: "button" }, t("Add")));
  effect(() => {
    element.hidden = !rights().mayAdd;
  });
  return element;
}

/** @param {App} app @param {UserGroup} group @param {Now} now @returns {Child[]} */
function members(app, group, now) {
  const { store, session } = app;
  const { current, rights } = now;
  const change = (/** @type {Record<string, number[]>} */ params) => session.attempt(api.updateGroupMembers(group.id, params));
  const picker = membersPicker(app, { label: t("Add people"), chosen: [] });
  const add = async () => {
    const ids = picker.ids().filter((id) => !current().members.includes(id));
    if (ids.length === 0 || (await change({ add: ids }))) picker.clear();
  };
  return [
    addForm(now, add, picker.element),
    live(() => {
      const { mayAdd, mayRemove, mayJoin, mayLeave } = rights();
      const join = h(
        "div",
        null,
        button(t("Join"), () => change({ add: [store.selfId] })),
      );
      const list = rows(
        current().members.map((id) => {
          const user = userOf(store, id);
          const isOwn = id === store.selfId;
          const remove = () => void change({ delete: [id] });
          return rowWithPicture(
            avatar(user, 28),
            user.full_name,
            null,
            isOwn && mayLeave && button(t("Leave"), remove, "small"),
            !isOwn && mayRemove && iconButton("close", t("Remove {name}", { name: user.full_name }), { onclick: remove }),
          );
        }),
        t("There are no members yet."),
      );
      return [mayJoin && !mayAdd && join, list];
    }),
  ];
}

/** The groups whose members belong to a group as well. @param {App} app @param {UserGroup} group @param {Now} now @returns {Child[]} */
function subgroups(app, group, now) {
  const { store, session } = app;
  const { current, rights } = now;
  const others = () =>
    (store.state.realm_user_groups ?? []).filter(
      (one) => !one.deactivated && one.id !== group.id && one.name !== "role:internet" && !current().direct_subgroup_ids.includes(one.id),
    );
  const picker = groupsPicker(app, { label: t("Add groups"), chosen: [], groups: others });
  const add = async () => {
    const ids = picker.ids();
    if (ids.length === 0 || (await session.attempt(api.updateSubgroups(group.id, { add: ids })))) picker.clear();
  };
  return [
    addForm(now, add, picker.element),
    live(() => {
      const { mayManage } = rights();
      return rows(
        current().direct_subgroup_ids.map((id) => {
          const name = groupName(groupOf(store, id) ?? { name: "?" });
          const remove = () => void session.attempt(api.updateSubgroups(group.id, { delete: [id] }));
          return row(name, null, mayManage && iconButton("close", t("Remove {name}", { name }), { onclick: remove }));
        }),
        t("There are none."),
      );
    }),
  ];
}

/** @param {App} app @param {UserGroup} group */
function deactivateButton({ session }, group) {
  const deactivate = async () => {
    const words = t("The group can no longer be mentioned or used in permissions.");
    if (!(await confirm(t("Deactivate {name}?", { name: group.name }), words, t("Deactivate"), { isDanger: true }))) return;
    if (await session.attempt(api.deactivateGroup(group.id))) go("groups/all");
  };
  return h("div", null, button(t("Deactivate group"), deactivate, "danger"));
}
