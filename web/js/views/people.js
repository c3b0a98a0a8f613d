/**
 * The right column: people by presence, those of the open conversation first.
 * @module
 */

import { closest, h, icon } from "../lib/dom.js";
import { plainList } from "../lib/keyed_list.js";
import { distinct, effect, signal } from "../lib/signal.js";
import { t } from "../lib/words.js";
import { bind } from "../platform/keyboard.js";
import { channelOfRoute, directTerms } from "../selectors/narrow.js";
import { peopleOf, peopleRows } from "../selectors/people_rows.js";
import { directKey } from "../store/conversations.js";
import { directsSign, unreadCount } from "../store/unread.js";
import { userOf } from "../store/users.js";
import { showUserCard } from "./on_demand.js";
import { avatar, columnFilter, countBadge, emojiElement, guestBadge, presenceDot } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */

/** The most people that are listed; more are found with the filter. */
const SHOWN = 300;

/** @param {App} app */
export function createPeople(app) {
  const { store } = app;
  const filter = signal("");
  const minute = signal(0);
  setInterval(() => {
    minute.value += 1;
  }, 60_000);
  const input = columnFilter(t("Filter people"), filter, () => element.querySelector("li a"));
  const [here, others] = [peopleSection(app), peopleSection(app)];
  const hint = h("p", { class: "sidebar__empty", hidden: true });
  const invite = h(
    "a",
    { class: "side-item", href: "#invite", hidden: true },
    icon("plus"),
    h("span", { class: "side-item__name" }, t("Invite people")),
  );
  const element = h(
    "aside",
    { class: "people", "aria-label": t("People") },
    h("div", { class: "sidebar__head" }, h("h2", null, t("People"))),
    input,
    here.element,
    others.element,
    hint,
    invite,
  );

  const unread = distinct(() => directsSign(store));
  effect(() => {
    const route = app.route.value;
    const streamId = channelOfRoute(route);
    store.on("subscribers", "channels");
    app.session.recoveries.value;
    if (streamId !== null && store.channels.has(streamId)) void app.session.needSubscribers(streamId);
  });
  effect(() => {
    store.on("users", "presence", "status", "settings", "subscribers");
    minute.value;
    unread.value;
    const own = peopleOf(store, app.route.value);
    const people = peopleRows(store, { filter: filter.value, now: store.now(), here: own?.ids ?? null });
    here.element.hidden = people.here.length === 0;
    here.set(own && `${own.title} (${people.here.length})`, people.here);
    others.set(own && people.others.length > 0 ? t("Others") : null, people.others);
    hint.hidden = people.hidden === 0;
    hint.textContent = t(
      { one: "One person is offline. Type a name to find them.", other: "{count} people are offline. Type a name to find them." },
      { count: people.hidden },
    );
    invite.hidden = !app.mayInvite();
  });
  element.addEventListener("click", (event) => {
    const control = closest(event, "[data-card]");
    if (control) showUserCard(app, Number(control.dataset.card), control);
  });
  bind({
    keys: ["w"],
    label: t("Filter people"),
    group: t("Navigation"),
    run: () => {
      app.showColumn("right");
      input.focus();
    },
  });
  return element;
}

/** @typedef {{ id: number, name: string, picture: string | null, role: number, presence: "active" | "idle" | "offline", status: import("../../types/api.js").Status | undefined, unread: number, style: number }} Item */

/** A part of the column, with a heading where there are two. @param {App} app */
function peopleSection(app) {
  const { store } = app;
  const head = h("h3", { class: "people__head", hidden: true });
  const list = h("ul", { class: "side-list" });
  const rows = plainList(list, { key: (/** @type {Item} */ { id }) => id, create: (item) => personRow(app, item) });
  return {
    element: h("section", null, head, list),
    /** @param {string | null} title @param {import("../selectors/people_rows.js").Person[]} people */
    set(title, people) {
      head.textContent = title ?? "";
      head.hidden = title === null;
      const style = store.setting("user_list_style") ?? 3;
      rows.set(
        people.slice(0, SHOWN).map(({ user: { user_id: id, full_name: name, avatar_url: picture, role }, presence, status }) => {
          return { id, name, picture, role, presence, status, style, unread: unreadCount(store, directKey(store, [id])) };
        }),
      );
    },
  };
}

/** @param {App} app @param {Item} item */
function personRow(app, { id, presence, status, unread, style }) {
  const { store } = app;
  const user = userOf(store, id);
  return h(
    "li",
    null,
    h(
      "div",
      { class: "side-row" },
      h(
        "a",
        { class: "side-item", href: `#${app.fragmentOf(directTerms([user.user_id]))}` },
        h("span", { class: "side-item__person" }, style === 3 && avatar(user, 24), presenceDot(presence)),
        h(
          "span",
          { class: "side-item__name" },
          h("bdi", null, user.full_name),
          user.user_id === store.selfId && h("span", { class: "muted" }, " ", t("(you)")),
          guestBadge(store, user),
          style !== 1 && status?.status_text && h("span", { class: "side-item__status" }, status.status_text),
        ),
        status?.emoji_code && emojiElement(store, status),
        countBadge(unread),
      ),
      h(
        "button",
        {
          type: "button",
          class: "icon-button side-row__menu",
          dataset: { card: String(user.user_id) },
          "aria-label": t("Card of {name}", { name: user.full_name }),
          title: t("Card"),
        },
        "⋯",
      ),
    ),
  );
}
