/**
 * The inbox: everything unread, by conversation.
 * @module
 */

import { closest, fill, h, icon, iconButton, morph } from "../lib/dom.js";
import { keyedList, plainList } from "../lib/keyed_list.js";
import { createMemo } from "../lib/memo.js";
import { effect, signal } from "../lib/signal.js";
import { keep, kept, keptSet } from "../lib/storage.js";
import { t } from "../lib/words.js";
import { emptyInboxText, inboxRows, isNew } from "../selectors/overview_rows.js";
import { channelOf, subscribedChannels } from "../store/channels.js";
import { userOf } from "../store/users.js";
import { bindListKeys, filterInput } from "./overview_parts.js";
import { avatar, button, channelIcon, countBadge, keepFocus, select } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../selectors/overview_rows.js").InboxRow} InboxRow */
/** @typedef {import("../selectors/overview_rows.js").InboxSectionRow} InboxSectionRow */
/** @typedef {"all" | "unmuted" | "followed"} Topics */

/** How many channels an empty inbox leads to. */
const SUGGESTED = 8;

/** The first steps in a new organization: fragment, icon, label and detail. @type {() => [string, keyof import("../lib/icons.js")["icons"], string, string][]} */
const stepTexts = () => [
  ["organization/organization-profile", "edit", t("Name your organization"), t("and give it a picture: people see both at the top left.")],
  ["channels/new", "hash", t("Create a channel"), t("for each team or subject. Conversations in it have topics.")],
  ["invite", "plus", t("Invite people"), t("with a link that you send them.")],
  ["settings/profile", "user", t("Choose your picture"), t("so that others recognize you.")],
];

/** The filters of the inbox. */
function createState() {
  return {
    /** Conversations have this in their names. */
    filter: signal(""),
    topics: signal(/** @type {Topics} */ (kept("inbox") ?? "unmuted")),
    /** Folded sections, kept in the browser. */
    folded: keptSet("inbox/folded"),
  };
}

/** @param {App} app */
export function createInbox(app) {
  const { store, session } = app;
  const state = createState();
  const host = h("div", { class: "inbox__list" });
  const empty = h("div", { class: "empty", hidden: true });
  const older = h("p", { class: "timeline__hint", hidden: true }, t("Older unread messages are not counted."));
  const list = sectionList(app, host);
  const element = h("section", { class: "page", "aria-label": t("Inbox") }, tools(app, state), host, empty, older);
  /** @type {import("../lib/memo.js").Memo<InboxRow>} */
  const memo = createMemo();
  /** @type {import("../selectors/overview_rows.js").InboxSectionRow[]} */
  let sections = [];

  host.addEventListener("click", (event) => {
    const read = closest(event, "[data-read]")?.dataset.read;
    const row = read && sections.flatMap((section) => section.rows).find((one) => one.key === read);
    if (row) void session.markNarrowRead(row.terms, store.unread.get(row.key) ?? []);
    const key = closest(event, "[data-section]")?.dataset.section;
    // With a filter, all sections are unfolded.
    if (!key || state.filter.peek() !== "") return;
    state.folded.toggle(key);
  });

  return {
    element,
    start() {
      bindListKeys(app, element);
      effect(() => {
        store.on("unread", "channels", "userTopics", "users");
        const filter = state.filter.value;
        // What is looked for may be in a folded section.
        const folded = filter === "" ? state.folded.words.value : new Set();
        const topics = state.topics.value;
        sections = inboxRows(store, { filter, topics, folded }, memo);
        // A conversation that is read goes, perhaps with the button that marked it as read.
        keepFocus(host, () => list.set(sections));
        older.hidden = !store.hasOlderUnread;
        empty.hidden = sections.length > 0;
        if (!empty.hidden) keepFocus(empty, () => fill(empty, emptyParts(app, { filter, topics })));
      });
    },
  };
}

/** @param {App} app @param {ReturnType<typeof createState>} state */
function tools({ session, store }, { filter, topics }) {
  const which = select(
    [
      ["unmuted", t("Unmuted topics")],
      ["followed", t("Followed topics")],
      ["all", t("All topics")],
    ],
    topics.peek(),
    (value) => {
      topics.value = /** @type {Topics} */ (value);
      keep("inbox", value);
    },
    { label: t("Which topics") },
  );
  const markAll = () => void session.markNarrowRead([], store.unreadOf.keys());
  return h(
    "div",
    { class: "page__tools" },
    filterInput(t("Filter the inbox"), filter),
    which,
    button([icon("check"), t("Mark all as read")], markAll),
  );
}

/** @param {App} app @param {HTMLElement} host */
function sectionList(app, host) {
  /** The conversations of each section. @type {Map<string, ReturnType<typeof plainList<InboxRow>>>} */
  const lists = new Map();
  return keyedList(host, {
    key: (/** @type {InboxSectionRow} */ { key }) => key,
    create(section) {
      const rows = h("ul");
      const list = plainList(rows, { key: ({ key }) => key, create: (row) => conversationRow(app, row) });
      lists.set(section.key, list);
      const color = section.color ? { "--channel": section.color } : {};
      const element = h("section", { class: "inbox-section", style: color }, sectionHead(app, section), rows);
      list.set(section.rows);
      return element;
    },
    update(element, section, before) {
      const [{ rows, ...head }, { rows: rowsBefore, ...headBefore }] = [section, before];
      if (!isSame(head, headBefore)) morph(/** @type {Element} */ (element.firstElementChild), sectionHead(app, section));
      if (rows.length !== rowsBefore.length || rows.some((row, at) => row !== rowsBefore[at])) lists.get(section.key)?.set(rows);
    },
  });
}

/** Whether two heads say the same. @param {object} one @param {object} other */
const isSame = (one, other) => Object.entries(one).every(([name, value]) => Object.is(value, Reflect.get(other, name)));

/** @param {App} app @param {Omit<InboxSectionRow, "rows">} section */
const sectionHead = ({ store }, { key, title, streamId, isMuted, isFolded, count }) =>
  h(
    "header",
    { class: "inbox-section__head", dataset: isMuted ? { muted: "" } : {} },
    h(
      "button",
      { type: "button", class: "sidebar__fold", "aria-expanded": String(!isFolded), dataset: { section: key } },
      icon("chevron"),
      streamId === null ? icon("mail") : channelIcon(channelOf(store, streamId)),
      title,
      countBadge(count, { isMuted }),
    ),
  );

/** @param {App} app @param {InboxRow} row */
const conversationRow = (app, { key, terms, name, isResolved, person, isDirect, isFollowed, isMuted, hasMention, count }) =>
  h(
    "li",
    { class: "conversation-row", dataset: isMuted ? { muted: "" } : {} },
    h(
      "a",
      { class: "conversation", href: `#${app.fragmentOf(terms)}` },
      person !== null ? avatar(userOf(app.store, person), 24) : isDirect ? icon("group") : null,
      isResolved && icon("check"),
      h("span", { class: "conversation__name", dir: "auto" }, name),
      isFollowed && icon("follow"),
      countBadge(count, { hasMention, isMuted }),
    ),
    iconButton("check", t("Mark {name} as read", { name }), { dataset: { read: key } }),
  );

/** The content of an empty inbox. @param {App} app @param {{ filter: string, topics: Topics }} shown */
const emptyParts = (app, shown) => [
  shown.filter === "" && isNew(app.store) && firstSteps(app),
  icon("inbox"),
  h("p", null, emptyInboxText(app.store, shown)),
  shown.filter === "" && [
    h("p", { class: "muted" }, t("New messages appear here, grouped by conversation. In the meantime, look around in the channels:")),
    h(
      "p",
      { class: "choices" },
      subscribedChannels(app.store)
        .slice(0, SUGGESTED)
        .map((channel) => channelButton(app, channel)),
    ),
  ],
];

/** The first steps in a new organization. @param {App} app */
const firstSteps = ({ store }) =>
  h(
    "section",
    { class: "first-steps", "aria-label": t("First steps") },
    h("h2", null, t("Welcome to {name}", { name: store.state.realm_name })),
    h("p", { class: "muted" }, t("You are the only person here so far. To get started:")),
    h(
      "ol",
      null,
      stepTexts().map(([href, name, label, detail]) =>
        h(
          "li",
          null,
          h("a", { href: `#${href}` }, icon(name), h("span", null, h("strong", null, label), h("span", { class: "muted" }, detail))),
        ),
      ),
    ),
  );

/** @param {App} app @param {import("../../types/api.js").Channel} channel */
function channelButton(app, channel) {
  const dataset = { opensChannel: String(channel.stream_id) };
  return h("a", { class: "button", href: `#${app.channelFragment(channel.stream_id)}`, dataset }, channelIcon(channel), channel.name);
}
