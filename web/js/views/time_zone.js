/**
 * The time zone: a choice of one, and the offer to take over that of the computer.
 * @module
 */

import * as api from "../api/endpoints.js";
import { h } from "../lib/dom.js";
import { keep, kept } from "../lib/storage.js";
import { t } from "../lib/words.js";
import { zoneAction } from "../selectors/time_zone.js";
import { saving } from "./form_parts.js";
import { button } from "./parts.js";
import { pickerField, textChooser } from "./pickers.js";

/** @typedef {import("../../types/app.js").App} App */

/** The zone of this computer. */
const zoneHere = () => Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";

/** @param {string} zone */
const zoneName = (zone) => zone.replaceAll("_", " ");

/** The zone whose time others see on one's card. @param {string} value @param {(zone: string) => unknown} change */
export function timeZoneField(value, change) {
  const own = zoneHere();
  const zones = [...new Set([...Intl.supportedValuesOf("timeZone"), own, ...(value ? [value] : [])])].filter(Boolean).toSorted();
  const chooser = textChooser({
    label: t("Time zone"),
    placeholder: t("A city, such as Lisbon"),
    chosen: value,
    options: zones.map((zone) => [zone, zoneName(zone)]),
    onChange: change,
  });
  const here = value !== own && button(t("Use {zone}, as this browser", { zone: zoneName(own) }), () => change(own), "small");
  return [
    pickerField(t("Time zone"), chooser),
    h("p", { class: "field__hint" }, t("Your card shows others your local time.")),
    here && h("div", null, here),
  ];
}

/** Takes over the zone of the computer, or offers to. @param {App} app */
export async function followTimeZone({ store, session }) {
  const here = zoneHere();
  const action = zoneAction(store.state.user_settings ?? {}, here, kept("zone"));
  if (action === "take") await api.updateSettings({ timezone: here }).catch(() => {});
  if (action !== "offer") return;
  keep("zone", here);
  const run = () => void saving(session, api.updateSettings({ timezone: here }));
  session.tell(t("This computer is in the time zone {zone}.", { zone: zoneName(here) }), { label: t("Use it"), run });
}
