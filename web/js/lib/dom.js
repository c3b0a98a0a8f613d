/**
 * Elements: `h("button", { class: "send", onclick }, "Send")`.
 * @module
 */

import { icons } from "./icons.js";

/** @typedef {Node | string | number | null | undefined | false | any[]} Child */
/** @typedef {Record<string, any>} Props */

/** Members that have to be set as properties, since the attribute is only the initial value. */
const PROPERTIES = new Set(["value", "checked", "disabled", "selected", "indeterminate", "open", "hidden"]);

/** Creates an element. Members of `props` are attributes, but for `on...`, `style` (an object), `dataset`, and properties
 * whose attribute is only the initial value. Null and false leave an attribute out.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Props | null} [props] @param {Child[]} children @returns {HTMLElementTagNameMap[K]} */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  if (props) assign(element, props);
  append(element, children);
  return element;
}

/** @param {HTMLElement} element @param {Props} props */
export function assign(element, props) {
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), value);
    } else if (name === "style") {
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, text);
    } else if (name === "dataset") {
      Object.assign(element.dataset, value);
    } else if (PROPERTIES.has(name)) {
      if (value !== undefined) Reflect.set(element, name, value);
    } else if (value === null || value === undefined || value === false) {
      element.removeAttribute(name);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

/** @param {Node} parent @param {Child[]} children */
export function append(parent, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) append(parent, child);
    else parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Changes an element in place to look like another one of the same kind. The focus, a click under way and open menus stay. The listeners
 * of the old element stay too, so rows leave their events to the list.
 * @param {Element} old @param {Element} next */
export function morph(old, next) {
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && name !== "style" && name !== "aria-expanded") old.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) if (name !== "style" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old instanceof HTMLElement && next instanceof HTMLElement && old.style.cssText !== next.style.cssText)
    old.style.cssText = next.style.cssText;
  const before = [...old.childNodes];
  const after = [...next.childNodes];
  for (const [index, node] of after.entries()) {
    const place = before[index];
    if (!place) old.append(node);
    else if (place instanceof Element && node instanceof Element && place.tagName === node.tagName) morph(place, node);
    else if (place instanceof Text && node instanceof Text) place.data = node.data;
    else place.replaceWith(node);
  }
  for (const extra of before.slice(after.length)) extra.remove();
}

/** Replaces the children of an element. @param {Element} element @param {Child[]} children */
export function fill(element, ...children) {
  const fragment = document.createDocumentFragment();
  append(fragment, children);
  element.replaceChildren(fragment);
}

const SVG = "http://www.w3.org/2000/svg";

/** An icon of the set in `icons.js`. It is decoration: the control around it has the name.
 * @param {keyof typeof icons} name @returns {SVGElement} */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", icons[name]);
  svg.append(path);
  return svg;
}

/** A button with an icon, and the name as its label and tooltip.
 * @param {keyof typeof icons} iconName @param {string} label @param {Props} [props] @returns {HTMLButtonElement} */
export function iconButton(iconName, label, props) {
  const button = h("button", { type: "button", class: "icon-button", "aria-label": label, title: label }, icon(iconName));
  if (props) assign(button, props.class ? { ...props, class: `icon-button ${props.class}` } : props);
  return button;
}

/** The index of the element that has the focus; -1 if it is none of these. @param {readonly (Element | null)[]} elements */
export const focusedIndex = (elements) => elements.indexOf(document.activeElement);

/** The closest ancestor of an event's target that matches. @param {Event} event @param {string} selector
 * @returns {HTMLElement | null} */
export function closest(event, selector) {
  const target = event.target instanceof Element ? event.target.closest(selector) : null;
  return target instanceof HTMLElement ? target : null;
}
