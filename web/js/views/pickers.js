/**
 * Fields with a search: several people, channels or groups as removable pills, one channel, one person, or a topic.
 * @module
 */

import { fill, h, icon, iconButton } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { isComposing, keyName } from "../platform/keyboard.js";
import { channelChoices, channelText, topicChoices, userChoices } from "../selectors/choices.js";
import { groupName } from "../selectors/group_names.js";
import { ranked } from "../selectors/ranking.js";
import { channelOf } from "../store/channels.js";
import { groupOf } from "../store/lists.js";
import { userOf } from "../store/users.js";
import { choiceText, createChoices } from "./choices.js";
import { avatar, channelIcon } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").User} User */
/** @typedef {import("../../types/api.js").Channel} Channel */
/** @typedef {import("../lib/dom.js").Child} Child */

let count = 0;

/** A text field with a list of choices below it. @param {string} label @param {import("../lib/dom.js").Props} props */
function combobox(label, props) {
  count += 1;
  const id = `picker-${count}`;
  const input = h("input", {
    type: "text",
    "aria-label": label,
    autocomplete: "off",
    dir: "auto",
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": id,
    "aria-autocomplete": "list",
    ...props,
  });
  const list = h("div", { class: "completions completions--below", role: "listbox", id, "aria-label": label, hidden: true });
  return { input, list };
}

/** A field for several items: chosen ones as removable pills, others by a search.
 * @template T
 * @param {{ label: string, placeholder: string, chosen: number[], disabled?: boolean, onChange?: (ids: number[]) => void,
 *   find: (query: string, chosen: number[]) => T[], idOf?: (item: T) => number, expand?: (item: T) => Promise<number[]>,
 *   nameOf: (id: number) => string, render: (item: T) => Child[] }} how
 *   `expand`: for items that mean several ids, such as the people of a group; or else `idOf`. */
export function pillPicker({ label, placeholder, chosen, disabled = false, onChange = () => {}, find, idOf, expand, nameOf, render }) {
  let ids = [...chosen];
  const { input, list } = combobox(label, { disabled });
  const pills = h("span", { class: "pills" });
  const element = h("div", { class: "picker" }, pills, input, list);
  const choices = createChoices(input, list, { render, choose });

  /** @param {number[]} next */
  function change(next) {
    ids = next;
    renderPills();
    onChange(ids);
  }

  function renderPills() {
    fill(
      pills,
      ids.map((id) => {
        const onclick = () => {
          change(ids.filter((other) => other !== id));
          input.focus();
        };
        const remove = !disabled && iconButton("close", t("Remove {name}", { name: nameOf(id) }), { onclick });
        return h("span", { class: "pill" }, nameOf(id), remove);
      }),
    );
    input.placeholder = ids.length === 0 && !disabled ? placeholder : "";
  }

  function show() {
    const query = input.value.trim();
    choices.set(query === "" ? [] : find(query, ids));
  }

  /** @param {T} item */
  async function choose(item) {
    input.value = "";
    const added = expand ? await expand(item) : idOf ? [idOf(item)] : [];
    change([...new Set([...ids, ...added])]);
    show();
  }

  input.addEventListener("input", show);
  input.addEventListener("blur", () => choices.set([]));
  input.addEventListener("keydown", (event) => {
    if (isComposing(event)) return;
    const current = choices.current();
    if (event.key === "Backspace" && input.value === "" && ids.length > 0) {
      change(ids.slice(0, -1));
    } else if (current) {
      if (event.key === "Enter" || keyName(event) === "Tab" || event.key === ",") void choose(current);
      else if (event.key === "Escape") {
        choices.set([]);
        event.stopPropagation();
      } else if (!choices.key(event)) return;
      event.preventDefault();
    } else if (event.key === "Enter" && input.value === "") {
      event.preventDefault();
    }
  });
  renderPills();
  return { element, input, ids: () => ids, clear: () => change([]) };
}

/** @param {App} app @param {{ label: string, chosen: number[], disabled?: boolean, onChange?: (ids: number[]) => void }} options */
export const userPicker = ({ store }, options) =>
  pillPicker({
    ...options,
    placeholder: t("Names of people"),
    find: (query, without) => userChoices(store, query, { without, withBots: true }),
    idOf: (/** @type {User} */ user) => user.user_id,
    nameOf: (id) => userOf(store, id).full_name,
    render: (user) => [avatar(user, 20), choiceText(user.full_name, user.delivery_email)],
  });

/** @param {App} app @param {{ label: string, chosen: number[], onChange?: (ids: number[]) => void, isWanted: (channel: Channel) => boolean }} options */
export const channelsPicker = ({ store }, { isWanted, ...options }) =>
  pillPicker({
    ...options,
    placeholder: t("Names of channels"),
    find: (query, without) => channelChoices(store, query, (channel) => isWanted(channel) && !without.includes(channel.stream_id)),
    idOf: (/** @type {Channel} */ channel) => channel.stream_id,
    nameOf: (id) => `#${channelOf(store, id).name}`,
    render: (channel) => [channelIcon(channel), choiceText(channel.name, channel.description)],
  });

/** @param {App} app @param {{ label: string, chosen: number[], onChange?: (ids: number[]) => void, groups: () => import("../../types/api.js").UserGroup[] }} options */
export const groupsPicker = ({ store }, { groups, ...options }) =>
  pillPicker({
    ...options,
    placeholder: t("Names of groups"),
    find: (query, without) =>
      ranked(
        groups().filter(({ id }) => !without.includes(id)),
        query,
        (group) => [groupName(group)],
      ).slice(0, 12),
    idOf: ({ id }) => id,
    nameOf: (id) => groupName(groupOf(store, id) ?? { name: "?" }),
    render: (group) => [icon("group"), choiceText(groupName(group), group.description)],
  });

/** A field for one item, with a search. Text that is no item is discarded.
 * @template T
 * @param {{ label: string, placeholder: string, text: () => string, find: (query: string) => T[], choose: (item: T) => void, render: (item: T) => Child[],
 *   oninput?: (text: string) => void }} how `text`: what is in the field; `oninput`: the text itself counts. */
function onePicker({ label, placeholder, text, find, choose, render, oninput }) {
  const { input, list } = combobox(label, { placeholder, value: text() });
  const element = h("div", { class: "picker picker--one" }, input, list);
  const choices = createChoices(input, list, { render, choose: take });

  /** @param {T} item */
  function take(item) {
    choose(item);
    input.value = text();
    choices.set([]);
  }

  /** @param {string} query */
  const show = (query) => choices.set(find(query), oninput ? -1 : 0);

  input.addEventListener("input", () => {
    oninput?.(input.value);
    show(input.value);
  });
  input.addEventListener("focus", () => {
    input.select();
    show(oninput ? input.value : "");
  });
  input.addEventListener("blur", () => {
    choices.set([]);
    input.value = text();
  });
  input.addEventListener("keydown", (event) => {
    if (isComposing(event)) return;
    const current = choices.current();
    if (event.key === "Escape" && !choices.isEmpty()) {
      choices.set([]);
      event.stopPropagation();
      event.preventDefault();
    } else if ((event.key === "Enter" || keyName(event) === "Tab") && current) {
      if (event.key === "Enter") event.preventDefault();
      if (event.key === "Enter" || input.value !== text()) take(current);
    } else choices.key(event);
  });
  return { element, input, refresh: () => document.activeElement === input && show(oninput ? input.value : "") };
}

/** A field for one channel. @param {App} app
 * @param {{ label?: string, chosen: number | null, onChange: (id: number) => void, isWanted?: (channel: Channel) => boolean }} options */
export function channelChooser({ store }, { label = t("Channel"), chosen, onChange, isWanted }) {
  let id = chosen;
  const picker = onePicker({
    label,
    placeholder: t("Choose a channel"),
    text: () => channelText(store, id),
    find: (query) => channelChoices(store, query.trim(), isWanted),
    render: (channel) => [channelIcon(channel), choiceText(channel.name, channel.description)],
    choose(channel) {
      id = channel.stream_id;
      onChange(id);
    },
  });
  return { ...picker, id: () => id };
}

/** A field for one person, without bots. @param {App} app @param {{ label: string, chosen: number | null }} options */
export function userChooser({ store }, { label, chosen }) {
  let id = chosen;
  const picker = onePicker({
    label,
    placeholder: t("Name of a person"),
    text: () => (id === null ? "" : userOf(store, id).full_name),
    find: (query) => userChoices(store, query.trim(), { without: [], withBots: false }),
    render: (user) => [avatar(user, 20), choiceText(user.full_name, user.delivery_email)],
    choose(user) {
      id = user.user_id;
    },
  });
  return { ...picker, id: () => id };
}

/** A field for one of several values, each with a text. @param {{ label: string, placeholder: string, chosen: string, options: [string, string][], onChange: (value: string) => void }} how */
export function textChooser({ label, placeholder, chosen, options, onChange }) {
  let value = chosen;
  return onePicker({
    label,
    placeholder,
    text: () => options.find(([key]) => key === value)?.[1] ?? value,
    find: (query) => ranked(options, query.trim(), ([, text]) => [text]).slice(0, 50),
    render: ([, text]) => [choiceText(text)],
    choose([key]) {
      value = key;
      onChange(key);
    },
  });
}

/** A field for a topic, which may be new. @param {App} app
 * @param {{ value: string, streamId: () => number | null, onChange?: (topic: string) => void, placeholder?: string }} options */
export function topicChooser({ store, session }, { value, streamId, onChange = () => {}, placeholder = t("Topic") }) {
  let topic = value;
  /** @param {string} next */
  const change = (next) => {
    topic = next;
    onChange(next);
  };
  const picker = onePicker({
    label: t("Topic"),
    placeholder,
    text: () => topic,
    find: (query) => topicChoices(store, streamId(), query).filter(({ isNew }) => !isNew),
    render: ({ label }) => [choiceText(label)],
    choose: (choice) => change(choice.topic),
    oninput: change,
  });
  picker.input.maxLength = store.state.max_topic_length ?? 60;
  picker.input.addEventListener("focus", () => {
    const id = streamId();
    if (id !== null) void session.needTopics(id)?.then(picker.refresh);
  });
  const clear = () => {
    picker.input.value = "";
    change("");
  };
  return { ...picker, value: () => topic, clear };
}

/** A picker with its label. @param {string} label @param {{ element: HTMLElement, input: HTMLInputElement }} picker */
export function pickerField(label, { element, input }) {
  count += 1;
  input.id ||= `picker-input-${count}`;
  return h("div", { class: "field" }, h("label", { for: input.id }, label), element);
}
