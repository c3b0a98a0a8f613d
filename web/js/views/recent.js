/**
 * The recent conversations, the latest first.
 * @module
 */

import { fill, h, icon } from "../lib/dom.js";
import { plainList } from "../lib/keyed_list.js";
import { createMemo } from "../lib/memo.js";
import { effect, signal, untracked } from "../lib/signal.js";
import { keep, kept, keptSet } from "../lib/storage.js";
import { t } from "../lib/words.js";
import { quarter } from "../platform/lifecycle.js";
import { recentRows } from "../selectors/overview_rows.js";
import { channelOf } from "../store/channels.js";
import { userOf } from "../store/users.js";
import { createLoad } from "./load_state.js";
import { bindListKeys, filterInput } from "./overview_parts.js";
import { avatar, button, channelIcon, countBadge, keepFocus, select } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../selectors/overview_rows.js").RecentRow} RecentRow */

/** How many messages the recent conversations are made of, and how many more come at a time. */
const RECENT = 800;

/** @type {() => [string, string][]} */
const recentChoices = () => [
  ["dm", t("Direct messages")],
  ["unread", t("Unread")],
  ["participated", t("Participated")],
  ["followed", t("Followed topics")],
  ["muted", t("Muted")],
];

/** @param {App} app */
export function createRecent(app) {
  const { store, session } = app;
  const text = signal("");
  const only = keptSet("recent", ["dm"]);
  const messages = createMessages(app);
  /** @type {import("../lib/memo.js").Memo<RecentRow>} */
  const memo = createMemo();
  const older = button(t("Show older conversations"), messages.loadOlder, "", { class: "button recent__older", hidden: true });
  const load = createLoad(session, messages.load);
  const host = h("ul", { class: "recent" });
  const empty = h("div", { class: "empty", hidden: true });
  const list = plainList(host, { key: (/** @type {RecentRow} */ { key }) => key, create: (row) => conversationRow(app, row) });
  const filter = filterInput(t("Filter recent conversations"), text);
  const order = signal(kept("recent/order") ?? "");
  const tools = h("div", { class: "page__tools" }, filter, orderSelect(order), store.isVisitor ? null : toggles(only));
  const element = h("section", { class: "page", "aria-label": t("Recent conversations") }, tools, host, empty, older);

  return {
    element,
    filter,
    start() {
      bindListKeys(app, element);
      load.watch();
      void load.start();
      effect(() => {
        const { range } = messages;
        range.version.value;
        quarter.value;
        store.on("unread", "userTopics", "channels");
        // The queue was lost, or messages have moved here.
        if (range.isStale && load.state.peek().kind === "ready") untracked(() => void load.start());
        const rows = recentRows(store, range.ids, { filter: text.value, only: only.words.value, order: order.value }, memo);
        keepFocus(host, () => list.set(rows));
        older.hidden = !range.isLoaded || range.hasOldest;
        empty.hidden = rows.length > 0;
        if (empty.hidden) return;
        keepFocus(empty, () => fill(empty, range.isLoaded ? h("p", null, t("There is nothing here.")) : load.hint()));
      });
    },
  };
}

/** The messages that the list is made of. @param {App} app */
function createMessages({ store, session }) {
  const range = store.messages.range("recent", [{ operator: "in", operand: store.isVisitor ? "home" : "all" }]);
  /** @param {Record<string, unknown>} from @param {(reply: import("../../types/api.js").Messages) => void} place */
  const ask = (from, place) => session.fetchInto(range, { ...from, num_before: RECENT, num_after: 0 }, place);
  /** @param {import("../../types/api.js").Messages} reply */
  const idsOf = (reply) => reply.messages.map((message) => message.id);
  return {
    range,
    async load() {
      if (range.isLoaded && !range.isStale) return;
      await ask({ anchor: "newest" }, (reply) => {
        range.ids = idsOf(reply);
        range.hasOldest = reply.found_oldest;
        range.isLoaded = range.hasNewest = true;
        range.isStale = false;
      });
    },
    async loadOlder() {
      const from = range.ids[0];
      const older = ask({ anchor: from, include_anchor: false }, (reply) => {
        if (range.ids[0] !== from) return;
        range.hasOldest = reply.found_oldest;
        range.merge(idsOf(reply));
      });
      await session.attempt(older);
    },
  };
}

/** @param {import("../lib/signal.js").Signal<string>} order */
const orderSelect = (order) =>
  select(
    [
      ["", t("Newest message first")],
      ["oldest", t("Oldest message first")],
      ["unread", t("Most unread first")],
      ["channel", t("By channel")],
      ["topic", t("By topic")],
    ],
    order.peek(),
    (value) => {
      order.value = value;
      keep("recent/order", value);
    },
    { label: t("Order") },
  );

/** @param {ReturnType<typeof keptSet>} only */
const toggles = (only) =>
  recentChoices().map(([key, label]) => {
    const toggle = button(label, () => only.toggle(key), "small", { dataset: { only: key } });
    effect(() => toggle.setAttribute("aria-pressed", String(only.words.value.has(key))));
    return toggle;
  });

/** @param {App} app @param {RecentRow} row */
function conversationRow(app, { terms, streamId, channel, color, name, isResolved, isMuted, isFollowed, unread, people, time }) {
  const { store } = app;
  const names = people.slice(0, 10).map((person) => person.name);
  const place =
    streamId === null
      ? [icon("mail"), h("span", null, t("Direct"))]
      : [channelIcon(channelOf(store, streamId)), h("span", { class: "conversation__channel" }, channel)];
  return h(
    "li",
    { class: "conversation-row", dataset: isMuted ? { muted: "" } : {} },
    h(
      "a",
      { class: "conversation", href: `#${app.fragmentOf(terms)}`, style: color ? { "--channel": color } : {} },
      h("span", { class: "conversation__place" }, place),
      isResolved && icon("check"),
      h("span", { class: "conversation__name", dir: "auto" }, name),
      isFollowed && icon("follow"),
      countBadge(unread, { isMuted }),
      h(
        "span",
        { class: "conversation__people", title: names.join(", ") },
        people.slice(0, 4).map(({ id }) => avatar(userOf(store, id), 20)),
        people.length > 4 && h("span", { class: "muted" }, `+${people.length - 4}`),
      ),
      h("span", { class: "conversation__time" }, time),
    ),
  );
}
