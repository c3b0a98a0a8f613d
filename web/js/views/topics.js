/**
 * The list of a channel's topics.
 * @module
 */

import { closest, fill, h, icon, iconButton } from "../lib/dom.js";
import { plainList } from "../lib/keyed_list.js";
import { effect, signal, untracked } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { channelTerms, topicTerms } from "../selectors/narrow.js";
import { hasWords, topicItems, wordsOf } from "../selectors/sidebar_items.js";
import { plainTopicName, topicName } from "../selectors/title.js";
import { hasTopics } from "../store/channels.js";
import { createLoad } from "./load_state.js";
import { showTopicMenu } from "./on_demand.js";
import { bindListKeys, filterInput } from "./overview_parts.js";
import { button, countBadge, keepFocus } from "./parts.js";

/** @typedef {import("../selectors/sidebar_items.js").TopicItem} TopicItem */

/** @param {import("../../types/app.js").App} app @param {number} streamId */
export function createTopics(app, streamId) {
  const { store, session } = app;
  const text = signal("");
  const load = createLoad(session, async () => session.loadTopics(streamId));
  const list = h("ul", { class: "recent" });
  const empty = h("div", { class: "empty", hidden: true });
  const rows = plainList(list, { key: (/** @type {TopicItem} */ { name }) => name, create: topicRow });
  const element = h(
    "section",
    { class: "page", "aria-label": t("Topics") },
    h(
      "div",
      { class: "page__tools" },
      filterInput(t("Filter topics"), text),
      h("a", { class: "button", href: `#${app.fragmentOf(channelTerms(streamId))}` }, t("All messages")),
      button([icon("plus"), t("New topic")], () => app.composer.open({ type: "stream", to: [streamId], topic: "" })),
    ),
    list,
    empty,
  );
  list.addEventListener("click", (event) => {
    const control = closest(event, "[data-topic]");
    if (control) showTopicMenu(app, streamId, String(control.dataset.topic), control);
  });

  /** @param {TopicItem} item */
  function topicRow({ name, isMuted, isFollowed, isResolved, unread, hasMention }) {
    return h(
      "li",
      { class: "conversation-row", dataset: isMuted ? { muted: "" } : {} },
      h(
        "a",
        { class: "conversation", href: `#${app.fragmentOf(topicTerms(streamId, name))}` },
        isResolved && icon("check"),
        h(
          "span",
          { class: name === "" ? "conversation__name is-general" : "conversation__name", dir: "auto" },
          plainTopicName(store, name),
        ),
        isFollowed && icon("follow"),
        countBadge(unread, { isMuted, hasMention }),
      ),
      iconButton("dots", t("Actions on {name}", { name: topicName(store, name) }), { dataset: { topic: name }, "aria-haspopup": "menu" }),
    );
  }

  return {
    element,
    start() {
      bindListKeys(app, element);
      load.watch();
      void load.start();
      effect(() => {
        store.on("topics", "unread", "userTopics");
        if (!hasTopics(store, streamId) && load.state.peek().kind === "ready") untracked(() => void load.start());
        const words = wordsOf(text.value);
        const { items } = topicItems(store, streamId, null, true);
        const found = items.filter(({ name }) => hasWords(topicName(store, name), words));
        rows.set(found);
        empty.hidden = found.length > 0;
        const otherwise = text.value ? t("No matches.") : t("There are no topics yet.");
        if (empty.hidden) return;
        keepFocus(empty, () => fill(empty, store.topics.has(streamId) ? h("p", null, otherwise) : load.hint()));
      });
    },
  };
}
