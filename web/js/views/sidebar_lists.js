/**
 * The lists of the left column: views, direct conversations, channels in sections, and the topics of the open one. Rows whose data have
 * changed are drawn again.
 * @module
 */

import { h, icon, iconButton, morph } from "../lib/dom.js";
import { keyedList, plainList } from "../lib/keyed_list.js";
import { t } from "../lib/words.js";
import { directTerms, topicTerms } from "../selectors/narrow.js";
import { plainTopicName, topicName } from "../selectors/title.js";
import { channelOf } from "../store/channels.js";
import { userOf } from "../store/users.js";
import { avatar, channelIcon, countBadge, presenceDot } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../selectors/sidebar_rows.js").ViewRow} ViewRow */
/** @typedef {import("../selectors/sidebar_rows.js").DirectRow} DirectRow */
/** @typedef {import("../selectors/sidebar_rows.js").ChannelRow} ChannelRow */
/** @typedef {import("../selectors/sidebar_rows.js").SectionRow} SectionRow */
/** @typedef {import("../selectors/sidebar_rows.js").TopicRow} TopicRow */

/** The button that shows a list in full. @param {string} key @param {string} label */
const moreItem = (key, label) =>
  h("li", null, h("button", { type: "button", class: "side-item side-item--more", dataset: { whole: key } }, label));

/** The head of a section, which folds it. @param {{ key: string, title: string, isFolded: boolean }} section @param {HTMLElement} [button] */
export const sectionHead = ({ key, title, isFolded }, button) =>
  h(
    "div",
    { class: "sidebar__head" },
    h(
      "h2",
      null,
      h(
        "button",
        { type: "button", class: "sidebar__fold", "aria-expanded": String(!isFolded), dataset: { fold: key } },
        icon("chevron"),
        title,
      ),
    ),
    button,
  );

/** @param {HTMLElement} list */
export const viewList = (list) =>
  plainList(list, {
    key: (/** @type {ViewRow} */ { href }) => href,
    create: ({ href, name, label, count = 0, isQuiet, key, isCurrent }) =>
      h(
        "li",
        null,
        h(
          "a",
          { class: "side-item", href: `#${href}`, "aria-current": isCurrent ? "page" : null, title: key ? `${label} (${key})` : label },
          icon(name),
          h("span", { class: "side-item__name" }, label),
          isQuiet && count > 0 ? h("span", { class: "count", dataset: { muted: "" } }, String(count)) : countBadge(count),
        ),
      ),
  });

/** @param {App} app @param {HTMLElement} list */
export const directList = (app, list) =>
  plainList(list, {
    key: (/** @type {DirectRow | { key: "more" }} */ { key }) => key,
    create(row) {
      if (!("userIds" in row)) return moreItem("dm", t("More conversations"));
      const { userIds, name, unread, presence, isCurrent } = row;
      const href = `#${app.fragmentOf(directTerms(userIds))}`;
      return h(
        "li",
        null,
        h(
          "a",
          { class: "side-item", href, "aria-current": isCurrent ? "page" : null, title: name },
          presence
            ? h("span", { class: "side-item__person" }, avatar(userOf(app.store, userIds[0]), 20), presenceDot(presence))
            : icon("group"),
          h("span", { class: "side-item__name", dir: "auto" }, name),
          countBadge(unread),
        ),
      );
    },
  });

/** @param {App} app @param {ChannelRow} row */
const channelItem = (app, { id, name, color, isMuted, count, isQuiet, hasMention, href, isCurrent }) =>
  h(
    "li",
    { dataset: { channel: String(id) } },
    h(
      "div",
      { class: "side-row", dataset: isMuted ? { muted: "" } : {} },
      h(
        "a",
        {
          class: "side-item",
          style: { "--channel": color },
          href: `#${href}`,
          "aria-current": isCurrent ? "page" : null,
          title: name,
          dataset: { opensChannel: String(id) },
        },
        channelIcon(channelOf(app.store, id)),
        h("span", { class: "side-item__name", dir: "auto" }, name),
        countBadge(count, { isMuted: isQuiet, hasMention }),
      ),
      iconButton("dots", t("Actions on {name}", { name }), {
        class: "side-row__menu",
        dataset: { menu: String(id) },
        "aria-haspopup": "menu",
      }),
    ),
  );

/** @param {App} app @param {HTMLElement} host */
export function channelSectionList(app, host) {
  /** The channels of each section. @type {Map<string, ReturnType<typeof plainList<ChannelRow>>>} */
  const lists = new Map();
  /** @param {HTMLElement} element @param {SectionRow} section @param {SectionRow} [before] */
  function fillSection(element, section, before) {
    if (before?.title !== section.title || before.isFolded !== section.isFolded || before.hasHead !== section.hasHead) {
      const head = sectionHead(section);
      head.hidden = !section.hasHead;
      morph(/** @type {Element} */ (element.firstElementChild), head);
    }
    lists.get(section.key)?.set(section.rows);
  }
  return keyedList(host, {
    key: (/** @type {SectionRow} */ { key }) => key,
    create(section) {
      const list = h("ul", { class: "side-list" });
      // The topics beside the row are a list of their own.
      const rows = plainList(list, { key: ({ id }) => id, create: (row) => channelItem(app, row), part: (row) => row.firstElementChild });
      lists.set(section.key, rows);
      const element = h("section", { "aria-label": section.title }, sectionHead(section), list);
      fillSection(element, section);
      return element;
    },
    update: fillSection,
  });
}

/** @param {App} app @param {HTMLElement} list */
export const topicList = (app, list) =>
  plainList(list, {
    key: (/** @type {TopicRow | { key: "more" | "new", streamId: number }} */ { key }) => key,
    create(row) {
      if ("name" in row) return topicItem(app, row);
      if (row.key === "more") return moreItem(`topics/${row.streamId}`, t("Show all topics"));
      const dataset = { newTopic: String(row.streamId) };
      return h("li", null, h("button", { type: "button", class: "side-item side-item--more", dataset }, t("New topic")));
    },
  });

/** @param {App} app @param {TopicRow} row */
function topicItem(app, { name, streamId, unread, isMuted, isFollowed, isResolved, hasMention, isCurrent }) {
  const href = app.fragmentOf(topicTerms(streamId, name));
  return h(
    "li",
    null,
    h(
      "div",
      { class: "side-row", dataset: isMuted ? { muted: "" } : {} },
      h(
        "a",
        { class: "side-item", href: `#${href}`, "aria-current": isCurrent ? "page" : null, title: name },
        isResolved && icon("check"),
        h("span", { class: name === "" ? "side-item__name is-general" : "side-item__name", dir: "auto" }, plainTopicName(app.store, name)),
        isFollowed && icon("follow"),
        countBadge(unread, { isMuted, hasMention }),
      ),
      iconButton("dots", t("Actions on {name}", { name: topicName(app.store, name) }), {
        class: "side-row__menu",
        dataset: { topic: name, stream: String(streamId) },
        "aria-haspopup": "menu",
      }),
    ),
  );
}
