/**
 * The fields of the composer that say where a message goes: channel and topic, or people.
 * @module
 */

import { h } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { topicName } from "../selectors/title.js";
import { otherIds } from "../store/conversations.js";
import { channelChooser, topicChooser, userPicker } from "./pickers.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../store/outbox.js").Destination} Destination */
/** @typedef {(changes: Partial<Destination>) => void} Change */

/** @param {App} app @param {Destination} destination @param {Change} change
 * @param {{ needsTopic: () => boolean, mayHaveTopic: () => boolean }} rules Those of the channel that is chosen. */
export function channelFields(app, destination, change, { needsTopic, mayHaveTopic }) {
  const none = topicName(app.store, "");
  const channel = channelChooser(app, {
    chosen: destination.to[0] ?? null,
    onChange(id) {
      change({ to: [id] });
      if (!mayHaveTopic()) topic.clear();
      followRules();
      (topic.input.disabled ? app.composer.editor : topic.input).focus();
    },
  });
  channel.input.dataset.first = "";
  const topic = topicChooser(app, { value: destination.topic, streamId: channel.id, onChange: (name) => change({ topic: name }) });
  topic.input.dataset.next = "";
  function followRules() {
    // One that is there, since the rule is newer, can be taken out.
    topic.input.disabled = !mayHaveTopic() && topic.value() === "";
    topic.input.placeholder = !mayHaveTopic() ? none : needsTopic() ? t("Topic") : t("Topic (or none: {topic})", { topic: none });
  }
  followRules();
  return [channel.element, h("span", { "aria-hidden": "true" }, "›"), topic.element];
}

/** @param {App} app @param {Destination} destination @param {Change} change */
export function peopleField(app, destination, change) {
  const picker = userPicker(app, {
    label: t("To"),
    chosen: destination.to,
    onChange: (ids) => change({ to: otherIds(app.store, ids).filter((id) => ids.includes(id)) }),
  });
  picker.input.dataset.first = "";
  return picker.element;
}
