/**
 * The right column: people by presence.
 * @module
 */

import { closest, debounce, h, icon } from "../lib/dom.js";
import { plainList } from "../lib/keyed_list.js";
import { effect, signal } from "../lib/signal.js";
import { bind } from "../platform/keyboard.js";
import { peopleItems } from "../selectors/sidebar_items.js";
import { directKey } from "../store/conversations.js";
import { unreadCount } from "../store/unread.js";
import { userOf } from "../store/users.js";
import { showUserCard } from "./on_demand.js";
import { avatar, countBadge, emojiElement, guestBadge, presenceDot } from "./parts.js";

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
  const input = h("input", { type: "search", placeholder: "Filter people", "aria-label": "Filter people", class: "sidebar__filter" });
  const filterSoon = debounce(() => {
    filter.value = input.value.trim();
  }, 80);
  input.oninput = () => filterSoon();
  const list = h("ul", { class: "side-list" });
  const invite = h(
    "a",
    { class: "side-item", href: "#invite", hidden: true },
    icon("plus"),
    h("span", { class: "side-item__name" }, "Invite people"),
  );
  const element = h(
    "aside",
    { class: "people", "aria-label": "People" },
    h("div", { class: "sidebar__head" }, h("h2", null, "People")),
    input,
    list,
    invite,
  );

  /** @typedef {{ id: number, name: string, picture: string | null, role: number, presence: "active" | "idle" | "offline", status: any, unread: number, style: number }} Item */
  const items = plainList(list, { key: (/** @type {Item} */ { id }) => id, create: row });

  /** @param {Item} item */
  function row({ id, presence, status, unread, style }) {
    const user = userOf(store, id);
    return h(
      "li",
      null,
      h(
        "div",
        { class: "side-row" },
        h(
          "a",
          { class: "side-item", href: `#${app.fragmentOf([{ operator: "dm", operand: [user.user_id] }])}` },
          h("span", { class: "side-item__person" }, style === 3 && avatar(user, 24), presenceDot(presence)),
          h(
            "span",
            { class: "side-item__name" },
            h("bdi", null, user.full_name),
            user.user_id === store.selfId && h("span", { class: "muted" }, " (you)"),
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
            "aria-label": `Card of ${user.full_name}`,
            title: "Card",
          },
          "⋯",
        ),
      ),
    );
  }

  effect(() => {
    store.on("users");
    store.on("presence");
    store.on("status");
    store.on("unread");
    store.on("settings");
    minute.value;
    const people = peopleItems(store, filter.value, store.now()).slice(0, SHOWN);
    const style = store.setting("user_list_style") ?? 3;
    items.set(
      people.map(({ user: { user_id: id, full_name: name, avatar_url: picture, role }, presence, status }) => {
        return { id, name, picture, role, presence, status, style, unread: unreadCount(store, directKey(store, [id])) };
      }),
    );
    invite.hidden = !app.mayInvite();
  });
  list.addEventListener("click", (event) => {
    const control = closest(event, "[data-card]");
    if (control) showUserCard(app, Number(control.dataset.card), control);
  });
  bind({
    keys: ["w"],
    label: "Filter people",
    group: "Going places",
    run: () => {
      app.showColumn("right");
      input.focus();
    },
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") /** @type {HTMLElement | null} */ (list.querySelector("a"))?.click();
    if (event.key === "Escape") {
      input.value = "";
      filter.value = "";
      input.blur();
    }
  });
  return element;
}
