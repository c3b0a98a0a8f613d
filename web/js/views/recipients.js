/**
 * The fields of the composer that say where a message goes: channel and topic, or people.
 * @module
 */

import { fill, h } from "../lib/dom.js";
import { topicName } from "../selectors/title.js";
import { subscribedChannels } from "../store/channels.js";
import { otherIds } from "../store/conversations.js";
import { select } from "./parts.js";
import { userPicker } from "./pickers.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../store/outbox.js").Destination} Destination */
/** @typedef {(changes: Partial<Destination>) => void} Change */

/** @param {App} app @param {Destination} destination @param {Change} change @param {() => boolean} needsTopic */
export function channelFields({ store, session }, destination, change, needsTopic) {
  /** @type {[string | number, string][]} */
  const options = [
    ["", "Choose a channel"],
    ...subscribedChannels(store).map((channel) => /** @type {[number, string]} */ ([channel.stream_id, `#${channel.name}`])),
  ];
  const channel = select(options, destination.to[0] ?? "", (value) => change({ to: value ? [Number(value)] : [] }), { label: "Channel" });
  channel.dataset.first = "";
  const list = h("datalist", { id: "composer-topics" });
  const fillTopics = () =>
    fill(
      list,
      (store.topics.get(Number(channel.value)) ?? []).slice(0, 50).map(({ name }) => h("option", { value: name })),
    );
  const topic = h("input", {
    type: "text",
    value: destination.topic,
    placeholder: needsTopic() ? "Topic" : `Topic (or none: ${topicName(store, "")})`,
    "aria-label": "Topic",
    dir: "auto",
    maxlength: store.state.max_topic_length ?? 60,
    list: "composer-topics",
    autocomplete: "off",
    dataset: { next: "" },
  });
  topic.oninput = () => change({ topic: topic.value });
  topic.onfocus = () => {
    if (channel.value) session.needTopics(Number(channel.value));
    setTimeout(fillTopics, 300);
  };
  fillTopics();
  return [channel, h("span", { "aria-hidden": "true" }, "›"), topic, list];
}

/** @param {App} app @param {Destination} destination @param {Change} change */
export function peopleField(app, destination, change) {
  const picker = userPicker(app, {
    label: "To",
    chosen: destination.to,
    onChange: (ids) => change({ to: otherIds(app.store, ids).filter((id) => ids.includes(id)) }),
  });
  picker.input.dataset.first = "";
  return picker.element;
}
