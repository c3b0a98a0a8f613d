/**
 * Choosing people: names as they are typed, chosen ones as removable pills.
 * @module
 */

import { fill, h, iconButton } from "../lib/dom.js";
import { ranked } from "../selectors/completions.js";
import { userOf } from "../store/users.js";
import { choiceText, createChoices } from "./choices.js";
import { avatar } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */

/** @param {App} app @param {{ label: string, chosen: number[], onChange: (ids: number[]) => void, withBots?: boolean }} options */
export function userPicker(app, { label, chosen, onChange, withBots = true }) {
  const { store } = app;
  let ids = [...chosen];
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
  const choices = createChoices(input, list, {
    render: (/** @type {import("../../types/api.js").User} */ user) => [avatar(user, 20), choiceText(user.full_name, user.delivery_email)],
    choose,
  });

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
    choices.set(
      query === ""
        ? []
        : ranked(
            users,
            query,
            (user) => [user.full_name, user.delivery_email],
            (user) => Number(user.is_bot),
          ).slice(0, 8),
    );
  }

  /** @param {import("../../types/api.js").User} user */
  function choose(user) {
    ids = [...ids, user.user_id];
    input.value = "";
    renderPills();
    show();
    onChange(ids);
  }

  input.addEventListener("input", show);
  input.addEventListener("blur", () => choices.set([]));
  input.addEventListener("keydown", (event) => {
    const current = choices.current();
    if (event.key === "Backspace" && input.value === "" && ids.length > 0) {
      ids = ids.slice(0, -1);
      renderPills();
      onChange(ids);
    } else if (current) {
      if (event.key === "Enter" || event.key === "Tab" || event.key === ",") choose(current);
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
  return { element, input, ids: () => ids };
}
