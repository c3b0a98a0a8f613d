/**
 * The palette: going to any conversation or view by its name.
 * @module
 */

import { h, icon } from "../lib/dom.js";
import { effect, scope, untracked } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { isComposing } from "../platform/keyboard.js";
import { directTerms, topicTerms } from "../selectors/narrow.js";
import { ranked } from "../selectors/ranking.js";
import { directItems } from "../selectors/sidebar_items.js";
import { topicName } from "../selectors/title.js";
import { hasTopics, openChannels } from "../store/channels.js";
import { unreadTopics } from "../store/unread.js";
import { choiceText, createChoices } from "./choices.js";
import { avatar, channelIcon } from "./parts.js";
import { showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */

/** Of how many channels the palette asks for the topics each time: servers limit requests. */
const TOPIC_LISTS = 60;

/** How often topics that arrive are taken into the palette, in milliseconds. */
const TOPICS_DELAY = 100;

/** @typedef {{ name: string, detail: string, picture: () => Node, run: () => void, bonus: number }} Place */

/** Ctrl-K: any conversation, channel, topic or person by name. @param {App} app @param {HTMLElement | null} field The field that had the focus. */
export function showPalette(app, field) {
  // What has the focus when a dialog opens gets it back.
  field?.focus({ preventScroll: true });
  const { store, session } = app;
  let all = places(app);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** Topics arrive one channel after the other. */
  const placesSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      all = places(app);
      update();
    }, TOPICS_DELAY);
  };
  const list = h("div", { class: "palette__list", role: "listbox", id: "palette-choices", "aria-label": t("Places") });
  const input = h("input", {
    type: "text",
    placeholder: t("Where to?"),
    "aria-label": t("Where to?"),
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "palette-choices",
    "aria-autocomplete": "list",
    autocomplete: "off",
    autofocus: true,
  });
  const none = h("p", { class: "empty", hidden: true, role: "status" });
  let isOpen = true;
  const end = scope(() => {
    effect(() => {
      store.on("topics");
      untracked(() => placesSoon());
    });
  });
  const onClose = () => {
    isOpen = false;
    clearTimeout(timer);
    end();
  };
  const dialog = showDialog(t("Go to"), () => [input, list, none], { class: "dialog--palette", onClose });
  const choose = (/** @type {Place} */ place) => {
    dialog.close();
    place.run();
  };
  const choices = createChoices(input, list, {
    render: (/** @type {Place} */ { name, detail, picture }) => [picture(), choiceText(name, detail)],
    choose,
  });
  const update = () => {
    const query = input.value.trim();
    const found = query
      ? ranked(
          all,
          query,
          (place) => [place.name],
          (place) => place.bonus,
        )
      : all.filter(({ detail }) => detail === t("View") || detail === t("Channel"));
    choices.set(found.slice(0, 12));
    none.hidden = found.length > 0;
    none.textContent = t("No matches. Press / to search in messages.");
  };
  input.addEventListener("input", update);
  input.addEventListener("keydown", (event) => {
    if (isComposing(event) || choices.key(event) || event.key !== "Enter") return;
    event.preventDefault();
    const place = choices.current();
    if (place) choose(place);
  });
  update();
  void session.needTopicsOf(channelsToFetch(store), () => isOpen);
}

/** All that the palette leads to. @param {App} app @returns {Place[]} */
function places(app) {
  const { store } = app;
  /** @type {Place[]} */
  const all = [];
  for (const channel of openChannels(store)) {
    all.push({
      name: channel.name,
      detail: channel.subscribed ? t("Channel") : t("Channel, not subscribed"),
      picture: () => channelIcon(channel),
      bonus: channel.subscribed ? 0 : 3,
      run: () => void app.goChannel(channel.stream_id),
    });
    for (const { name } of (store.topics.get(channel.stream_id) ?? []).slice(0, 100)) {
      all.push({
        name: topicName(store, name),
        detail: t("Topic in #{channel}", { channel: channel.name }),
        picture: () => icon("message"),
        bonus: 1,
        run: () => app.goNarrow(topicTerms(channel.stream_id, name)),
      });
    }
  }
  for (const user of store.users.values()) {
    if (user.is_active === false) continue;
    all.push({
      name: user.full_name,
      detail: user.is_bot ? t("Bot") : t("Person"),
      picture: () => avatar(user, 20),
      bonus: user.is_bot ? 2 : 0,
      run: () => app.goNarrow(directTerms([user.user_id])),
    });
  }
  for (const { userIds, name } of directItems(store, null, true).items) {
    if (userIds.length > 1)
      all.push({
        name,
        detail: t("Direct messages"),
        picture: () => icon("group"),
        bonus: 1,
        run: () => app.goNarrow(directTerms(userIds)),
      });
  }
  for (const [name, fragment] of /** @type {[string, string][]} */ ([
    [t("Inbox"), "inbox"],
    [t("Recent conversations"), "recent"],
    [t("Combined feed"), "feed"],
    [t("Mentions"), "narrow/is/mentioned"],
    [t("Starred messages"), "narrow/is/starred"],
    [t("Drafts"), "drafts"],
    [t("Scheduled"), "scheduled"],
    [t("Settings"), "settings/profile"],
    [t("Organization settings"), "organization/organization-profile"],
    [t("Channels"), "channels/subscribed"],
    [t("Invite people"), "invite"],
  ])) {
    all.push({ name, detail: t("View"), picture: () => icon("list"), bonus: 0, run: () => app.goFragment(fragment) });
  }
  return all;
}

/** The channels whose topics are fetched for the palette. @param {import("../store/store.js").Store} store */
function channelsToFetch(store) {
  /** The newest unread message of each channel. @type {Map<number, number>} */
  const newest = new Map();
  for (const topic of unreadTopics(store)) newest.set(topic.streamId, Math.max(topic.newest, newest.get(topic.streamId) ?? 0));
  /** Those with news come first, then those where something happens. @param {import("../../types/api.js").Channel} channel */
  const weight = (channel) => newest.get(channel.stream_id) ?? (channel.is_recently_active === false ? -1 : 0);
  return openChannels(store)
    .filter((channel) => channel.subscribed && !hasTopics(store, channel.stream_id))
    .sort((one, other) => weight(other) - weight(one))
    .slice(0, TOPIC_LISTS)
    .map((channel) => channel.stream_id);
}
