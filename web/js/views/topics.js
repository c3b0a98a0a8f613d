/**
 * The list of a channel's topics.
 * @module
 */

import { closest, fill, h, icon, iconButton } from "../lib/dom.js";
import { drawRows } from "../lib/keyed_list.js";
import { effect, signal, untracked } from "../lib/signal.js";
import { topicItems } from "../selectors/sidebar_items.js";
import { topicName } from "../selectors/title.js";
import { bindListKeys } from "./inbox.js";
import { createLoad } from "./load_state.js";
import { showTopicMenu } from "./on_demand.js";
import { button, countBadge } from "./parts.js";

/** @param {import("../../types/app.js").App} app @param {number} streamId */
export function createTopics(app, streamId) {
  const { store, session } = app;
  const text = signal("");
  const load = createLoad(session, async () => session.loadTopics(streamId));
  const list = h("ul", { class: "recent" });
  const filter = h("input", {
    type: "search",
    placeholder: "Filter topics",
    "aria-label": "Filter topics",
    oninput: () => {
      text.value = filter.value;
    },
  });
  const termsOf = (/** @type {string} */ topic) => [
    { operator: "channel", operand: streamId },
    { operator: "topic", operand: topic },
  ];
  const element = h(
    "section",
    { class: "page", "aria-label": "Topics" },
    h(
      "div",
      { class: "page__tools" },
      filter,
      h("a", { class: "button", href: `#${app.fragmentOf([{ operator: "channel", operand: streamId }])}` }, "All messages"),
      button([icon("plus"), "New topic"], () => app.composer.open({ type: "stream", to: [streamId], topic: "" })),
    ),
    list,
  );
  list.addEventListener("click", (event) => {
    const control = closest(event, "[data-topic]");
    if (control) showTopicMenu(app, streamId, String(control.dataset.topic), control);
  });

  /** @param {import("../selectors/sidebar_items.js").TopicItem} item */
  function topicRow({ name, isMuted, isFollowed, isResolved, unread, hasMention }) {
    return h(
      "li",
      { class: "conversation-row", dataset: isMuted ? { muted: "" } : {} },
      h(
        "a",
        { class: "conversation", href: `#${app.fragmentOf(termsOf(name))}` },
        isResolved && icon("check"),
        h(
          "span",
          { class: name === "" ? "conversation__name is-general" : "conversation__name", dir: "auto" },
          topicName(store, name.replace(/^✔ /, "")),
        ),
        isFollowed && icon("follow"),
        countBadge(unread, { isMuted, hasMention }),
      ),
      iconButton("dots", `Actions on ${topicName(store, name)}`, { dataset: { topic: name }, "aria-haspopup": "menu" }),
    );
  }

  return {
    element,
    start() {
      bindListKeys(element);
      load.watch();
      void load.start();
      effect(() => {
        store.on("topics");
        store.on("unread");
        store.on("userTopics");
        if (!store.topics.has(streamId) && load.state.peek().kind === "ready") untracked(() => void load.start());
        const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
        const { items } = topicItems(store, streamId, null, true);
        const found = items.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
        const otherwise = text.value ? "Nothing fits." : "There are no topics yet.";
        const instead = store.topics.has(streamId) ? h("p", null, otherwise) : load.hint();
        fill(list, found.length > 0 ? drawRows(found, topicRow) : h("li", { class: "empty" }, instead));
      });
    },
  };
}
