/**
 * Links to messages, and quotations of them.
 * @module
 */

import { getMessage } from "../api/endpoints.js";
import { fenced } from "../lib/text_edits_on_demand.js";
import { messageFragment } from "../selectors/narrow.js";
import { userOf } from "../store/users.js";
import { markdownOf } from "./paste.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Message} Message */

/** @param {App} app @param {Message} message */
export const linkTo = ({ store }, message) => `${location.origin}/#${messageFragment(store, message)}`;

/** Elements that a part of them is quoted with: a part of code is code, and a part of a spoiler stays hidden. */
const ENCLOSING = "pre, code, .codehilite, .spoiler-block, .spoiler-content";

/** Puts a part of an element into a copy of it. @param {DocumentFragment} part @param {Element} element */
function enclose(part, element) {
  const copy = /** @type {Element} */ (element.cloneNode(false));
  if (element.matches(".spoiler-block")) {
    // Its title is no secret.
    if (!part.querySelector(".spoiler-content")) return;
    const title = element.querySelector("summary");
    if (title && !part.querySelector("summary")) copy.append(title.cloneNode(true));
  }
  copy.append(part);
  part.append(copy);
}

/** The selection within an element; null if nothing is selected. @param {Element | null} element */
function selectedPart(element) {
  const selection = getSelection();
  if (!selection || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const inner = range.commonAncestorContainer;
  if (!element?.contains(inner)) return null;
  const part = range.cloneContents();
  for (let outer = inner instanceof Element ? inner : inner.parentElement; outer && outer !== element; outer = outer.parentElement) {
    if (outer.matches(ENCLOSING)) enclose(part, outer);
  }
  return part;
}

/** The quotation of a message, or of what is selected of it, as the published clients write it. @param {App} app @param {Message} message @returns {Promise<string>} */
export async function quotation(app, message) {
  const selected = selectedPart(document.getElementById(`content-${message.id}`));
  const markdown = selected && markdownOf(selected);
  const content = markdown || (await getMessage(message.id, false)).message.content;
  const sender = userOf(app.store, message.sender_id);
  return `@_**${sender.full_name}|${sender.user_id}** [said](${linkTo(app, message)}):\n${fenced(content, "quote")}`;
}
