/**
 * The control for a permission: one group, or several groups and people.
 * @module
 */

import { h } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { groupName } from "../selectors/group_names.js";
import { asMixed, groupsFor, mayMix, settingText, simplest } from "../selectors/group_settings.js";
import { groupOf } from "../store/lists.js";
import { button, select } from "./parts.js";
import { groupsPicker, pickerField, userPicker } from "./pickers.js";
import { showDialog } from "./popover.js";

/** @typedef {import("../selectors/group_settings.js").GroupSetting} GroupSetting */

/** The value of the option that leads to several. */
const SEVERAL = "several";

/** @param {import("../../types/app.js").App} app @param {GroupSetting} value @param {(next: GroupSetting, old: GroupSetting) => void} change
 * @param {{ disabled?: boolean, setting?: string, kind?: "realm" | "stream" | "group", label?: string }} [options] */
export function groupSelect(app, value, change, { disabled = false, setting = "", kind = "realm", label = t("Who") } = {}) {
  const { store } = app;
  const groups = groupsFor(store, kind, setting);
  const isMixed = typeof value === "object";
  /** @type {[string | number, string][]} */
  const options = groups.map((group) => [group.id, groupName(group)]);
  if (isMixed) options.unshift(["mixed", settingText(store, value)]);
  if (mayMix(store, kind, setting)) options.push([SEVERAL, t("Several groups or people…")]);
  const shown = isMixed ? "mixed" : value;
  const element = select(
    options,
    shown,
    (next) => {
      if (next !== SEVERAL) return next !== "mixed" && change(Number(next), value);
      element.value = String(shown);
      const named = groups.filter((group) => group.name !== "role:nobody");
      chooseSeveral(app, label, value, named, (mixed) => change(mixed, value));
    },
    { disabled },
  );
  return element;
}

/** @param {import("../../types/app.js").App} app @param {string} title @param {GroupSetting} value @param {import("../../types/api.js").UserGroup[]} groups Those that may be named. @param {(next: GroupSetting) => void} done */
function chooseSeveral(app, title, value, groups, done) {
  const { direct_members, direct_subgroups } = asMixed(value);
  const isNamed = (/** @type {number} */ id) => groupOf(app.store, id)?.name !== "role:nobody";
  const groupPicker = groupsPicker(app, {
    label: t("Groups"),
    chosen: direct_subgroups.filter(isNamed),
    groups: () => groups,
  });
  const people = userPicker(app, { label: t("People"), chosen: direct_members });
  showDialog(
    title,
    (close) => [
      pickerField(t("Groups"), groupPicker),
      pickerField(t("People"), people),
      h(
        "div",
        { class: "dialog__buttons" },
        button(t("Cancel"), close),
        button(
          t("Save"),
          () => {
            close();
            done(simplest({ direct_members: people.ids(), direct_subgroups: groupPicker.ids() }));
          },
          "primary",
        ),
      ),
    ],
    { class: "dialog--small" },
  );
}
