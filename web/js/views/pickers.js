/**
 * Choosing people: names as they are typed, chosen ones as removable pills.
 * @module
 */

import { fill, h, iconButton } from "../lib/dom.js";
import { ranked } from "../selectors/completions.js";
import { userOf } from "../store/users.js";
import { avatar } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */

/** @param {App} app @param {{ label: string, chosen: number[], onChange: (ids: number[]) => void, withBots?: boolean }} options */
export function userPicker(app, { label, chosen, onChange, withBots = true }) {
  const { store } = app;
  let ids = [...chosen];
  let at = 0;
  /** @type {import("../../types/api.js").User[]} */
  let found = [];
  const id = `picker-${Math.random().toString(36).slice(2)}`;
  const input = h("input", {
    type: "text",
    "aria-label": label,
    placeholder: ids.length === 0 ? "Names of people" : "",
    autocomplete: "off",
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": id,
    "aria-autocomplete": "list",
  });
  const list = h("div", { class: "completions completions--below", role: "listbox", id, "aria-label": "People", hidden: true });
  const pills = h("span", { class: "pills" });
  const element = h("div", { class: "picker" }, pills, input, list);

  function renderPills() {
    fill(
      pills,
      ids.map((userId) =>
        h(
          "span",
          { class: "pill" },
          userOf(store, userId).full_name,
          iconButton("close", `Remove ${userOf(store, userId).full_name}`, {
            onclick: () => {
              ids = ids.filter((other) => other !== userId);
              renderPills();
              onChange(ids);
              input.focus();
            },
          }),
        ),
      ),
    );
    input.placeholder = ids.length === 0 ? "Names of people" : "";
  }

  function show() {
    const query = input.value.trim();
    const users = [...store.users.values()].filter(
      (user) => user.is_active !== false && !ids.includes(user.user_id) && (withBots || !user.is_bot),
    );
    found =
      query === ""
        ? []
        : ranked(
            users,
            query,
            (user) => [user.full_name, user.delivery_email],
            (user) => Number(user.is_bot),
          ).slice(0, 8);
    at = 0;
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(found.length > 0));
    fill(
      list,
      found.map((user, index) =>
        h(
          "div",
          {
            class: "completion",
            role: "option",
            id: `${id}-${index}`,
            "aria-selected": String(index === at),
            onpointerdown: (/** @type {Event} */ event) => {
              event.preventDefault();
              choose(user.user_id);
            },
          },
          avatar(user, 20),
          h("span", { class: "completion__label" }, user.full_name),
          user.delivery_email && h("span", { class: "completion__detail" }, user.delivery_email),
        ),
      ),
    );
    if (found.length > 0) input.setAttribute("aria-activedescendant", `${id}-0`);
    else input.removeAttribute("aria-activedescendant");
  }

  /** @param {number} userId */
  function choose(userId) {
    ids = [...ids, userId];
    input.value = "";
    renderPills();
    show();
    onChange(ids);
  }

  input.addEventListener("input", show);
  input.addEventListener("blur", () => {
    list.hidden = true;
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Backspace" && input.value === "" && ids.length > 0) {
      ids = ids.slice(0, -1);
      renderPills();
      onChange(ids);
    } else if (found.length > 0 && !list.hidden) {
      if (event.key === "ArrowDown") at = (at + 1) % found.length;
      else if (event.key === "ArrowUp") at = (at - 1 + found.length) % found.length;
      else if (event.key === "Enter" || event.key === "Tab" || event.key === ",")
        return void (event.preventDefault(), choose(found[at].user_id));
      else if (event.key === "Escape") {
        list.hidden = true;
        event.stopPropagation();
      } else return;
      event.preventDefault();
      [...list.children].forEach((option, index) => option.setAttribute("aria-selected", String(index === at)));
      input.setAttribute("aria-activedescendant", `${id}-${at}`);
    } else if (event.key === "Enter" && input.value === "") {
      event.preventDefault();
    }
  });
  renderPills();
  return { element, input, ids: () => ids };
}
