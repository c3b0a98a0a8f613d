/**
 * Messages' HTML: the only module that turns text of the server into elements. The server has sanitized it; a policy of
 * Trusted Types keeps all other code from doing the same.
 * @module
 */

import { h, icon, iconButton } from "../lib/dom.js";
import { charactersOf } from "../lib/emoji.js";
import { fillTemplate, parseUrl, withoutStyles } from "../lib/parse.js";
import { fullTime } from "../lib/time.js";
import { t } from "../lib/words.js";
import { groupName } from "../selectors/group_names.js";
import { operandOf, parseNarrow } from "../selectors/narrow.js";
import { emptyTopicName } from "../selectors/title.js";
import { groupOf, isInGroup } from "../store/lists.js";
import { userOf } from "../store/users.js";
import { isMarkedGuest } from "./parts.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../../types/api.js").Message} Message */

/** @type {{ createHTML(text: string): any }} */
const policy = /** @type {any} */ (window).trustedTypes?.createPolicy("message", { createHTML: (/** @type {string} */ text) => text }) ?? {
  createHTML: (text) => text,
};

/** Elements with a text direction of their own. */
const BLOCKS = "p, li, h1, h2, h3, h4, h5, h6, td, th, .spoiler-header, .spoiler-content";

/** A text whose first letter is Hebrew, Arabic, or of another script from right to left. */
const RIGHT_TO_LEFT = /^\P{L}*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

/** Formulas with more characters than this, with their source, may be wider than a phone. Shorter ones are measured. */
const LONG_FORMULA = 40;

/** Turns HTML of the server into nodes. @param {string} html @returns {DocumentFragment} */
export function parseHtml(html) {
  const template = document.createElement("template");
  template.innerHTML = policy.createHTML(withoutStyles(html));
  // In the document, they would be requested, which the policy of the page refuses.
  for (const media of template.content.querySelectorAll("img, video, audio")) {
    const url = media.getAttribute("src");
    if (!isForeign(url)) continue;
    media.removeAttribute("src");
    if (url) media.setAttribute("data-foreign", url);
  }
  return /** @type {DocumentFragment} */ (document.adoptNode(template.content));
}

/** A message's content as it is shown. @param {App} app @param {string} html @param {Message | null} message @returns {HTMLElement} */
export function contentElement(app, html, message) {
  const element = h("div", { class: "content" });
  element.append(parseHtml(html));
  refine(app, element, message);
  return element;
}

/** The text of HTML, for notifications and lists. @param {string} html @returns {string} */
export function textOf(html) {
  const fragment = parseHtml(html);
  for (const hidden of fragment.querySelectorAll(".spoiler-content, .katex-html, annotation")) hidden.textContent = "…";
  for (const emoji of fragment.querySelectorAll("span.emoji")) emoji.textContent = emojiText(emoji);
  for (const image of fragment.querySelectorAll("img.emoji")) image.replaceWith(image.getAttribute("alt") ?? "");
  for (const quote of fragment.querySelectorAll("blockquote")) quote.textContent = `> ${(quote.textContent ?? "").trim().slice(0, 60)}\n`;
  return (fragment.textContent ?? "").replace(/\n{2,}/g, "\n").trim() || t("(attached file)");
}

/** @param {Element} element */
function emojiText(element) {
  const code = [...element.classList].find((name) => /^emoji-[0-9a-f-]+$/.test(name));
  return (code && charactersOf(code.slice(6))) || element.textContent || "";
}

/** @param {App} app @param {HTMLElement} root @param {Message | null} message */
function refine(app, root, message) {
  const { store } = app;
  /** @param {string} selector @param {(element: HTMLElement) => void} change */
  const each = (selector, change) => root.querySelectorAll(selector).forEach((element) => change(/** @type {HTMLElement} */ (element)));

  // Each paragraph runs in the direction of its first letter, whatever those around it do.
  each(BLOCKS, (element) => {
    element.dir = "auto";
  });
  // Blocks that contain others are at the side where their text begins: `auto` leaves out what has a direction of its own.
  each("ul, ol, blockquote", (element) => {
    element.dir = RIGHT_TO_LEFT.test(element.textContent ?? "") ? "rtl" : "ltr";
  });
  // Long numbers need more room: what is outside of the content is cut off.
  each("ol", (element) => {
    const list = /** @type {HTMLOListElement} */ (element);
    const { length } = String(list.start + list.childElementCount - 1);
    if (length > 2) list.style.setProperty("padding-inline-start", `${length + 2}ch`);
  });
  each(".katex-html", (element) => element.remove());
  each("span.emoji", (element) => {
    if (store.setting("emojiset") === "text") return;
    element.textContent = emojiText(element);
  });
  each("span.user-mention", (element) => {
    const id = element.dataset.userId;
    if (id && id !== "*") {
      const user = userOf(store, Number(id));
      if (store.users.has(Number(id)) && !element.querySelector(".highlight"))
        element.textContent = `${element.classList.contains("silent") ? "" : "@"}${user.full_name}`;
      // Not in the text, which may be quoted.
      if (isMarkedGuest(store, user)) element.dataset.mark = ` (${t("guest")})`;
      if (user.is_bot) {
        element.append(icon("bot"));
        element.title = t("bot");
      }
      actsAs(element, "user");
    }
    const isMe = id === "*" ? message?.flags.includes("stream_wildcard_mentioned") : Number(id) === store.selfId;
    element.classList.toggle("is-me", Boolean(isMe) && !element.classList.contains("silent"));
  });
  each("span.topic-mention", (element) => element.classList.toggle("is-me", Boolean(message?.flags.includes("topic_wildcard_mentioned"))));
  each("span.user-group-mention", (element) => {
    const id = Number(element.dataset.userGroupId);
    const isSilent = element.classList.contains("silent");
    const group = groupOf(store, id);
    if (group && !element.querySelector(".highlight")) element.textContent = `${isSilent ? "" : "@"}${groupName(group)}`;
    if (group && !group.deactivated && !group.is_system_group) actsAs(element, "group");
    element.classList.toggle("is-me", !isSilent && isInGroup(store, store.selfId, id));
  });
  each("a", (element) => refineLink(app, /** @type {HTMLAnchorElement} */ (element)));
  each("img", (element) => refineImage(app, /** @type {HTMLImageElement} */ (element)));
  each("video, audio", (element) => {
    if (isForeign(element.getAttribute("src"))) showLink(element);
    else {
      element.setAttribute("controls", "");
      element.setAttribute("preload", "metadata");
    }
  });
  each("time", (element) => {
    const seconds = Date.parse(element.getAttribute("datetime") ?? "") / 1000;
    if (Number.isNaN(seconds)) return;
    element.textContent = `🕓 ${fullTime(seconds, store.is24Hours)}`;
    element.title = t("This time is in your own zone.");
  });
  each(".spoiler-block", (element) => refineSpoiler(element));
  each(".codehilite", (element) => refineCode(app, element));
  // What may scroll sideways can be reached by keyboard.
  each("pre, .katex-display, .katex:not(.katex-display *)", (element) => {
    if (!element.matches(".katex") || (element.textContent ?? "").length > LONG_FORMULA) element.tabIndex = 0;
  });
  each(".message_embed_image", (element) => element.remove());
  each("table", (element) =>
    element.replaceWith(
      h("div", { class: "content__scroll", tabindex: "0", role: "region", "aria-label": t("Table") }, element.cloneNode(true)),
    ),
  );
}

/** Formulas that are not too wide, and the width of the window in which they were measured. */
const narrow = { formulas: new WeakSet(), width: 0 };

/** Lets formulas scroll that are wider than their paragraph, as on phones. Each is measured once for a width of the window.
 * @param {HTMLElement} root */
export function scrollWideFormulas(root) {
  if (narrow.width !== innerWidth) Object.assign(narrow, { formulas: new WeakSet(), width: innerWidth });
  const found = /** @type {NodeListOf<HTMLElement>} */ (
    root.querySelectorAll(".content .katex:not([tabindex], .katex-display *, table *)")
  );
  // All are measured before the first change.
  const sizes = [...found].flatMap((formula) => {
    if (narrow.formulas.has(formula)) return [];
    const room = formula.closest(`${BLOCKS}, .content`)?.clientWidth ?? Number.POSITIVE_INFINITY;
    return [{ formula, width: formula.offsetWidth, room }];
  });
  for (const { formula, width, room } of sizes) {
    if (width > room + 1) formula.tabIndex = 0;
    // What is hidden has no width.
    else if (width > 0) narrow.formulas.add(formula);
  }
}

/** Makes a button of a mention. @param {HTMLElement} element @param {string} action */
function actsAs(element, action) {
  element.tabIndex = 0;
  element.setAttribute("role", "button");
  element.dataset.action = action;
}

/** @param {string | null} url */
const isForeign = (url) => !url || parseUrl(url)?.origin !== location.origin;

/** @param {App} app @param {HTMLAnchorElement} link */
function refineLink({ store }, link) {
  const target = parseUrl(link.getAttribute("href") ?? "");
  if (!target || /^(data|javascript|vbscript):$/.test(target.protocol)) {
    link.removeAttribute("href");
    return;
  }
  if (target.origin === location.origin && target.pathname === "/" && target.hash) {
    link.setAttribute("href", target.hash);
  } else {
    link.target = "_blank";
    link.rel = "noopener noreferrer";
  }
  if (target.hash.startsWith("#narrow/") && link.matches(".stream, .stream-topic, .message-link")) nameChannel(store, link, target.hash);
}

/** Gives a link of the server to a channel, topic or message the present name of the channel, unless it shows what a search found.
 * @param {import("../store/store.js").Store} store @param {HTMLAnchorElement} link @param {string} hash */
function nameChannel(store, link, hash) {
  const terms = parseNarrow(store, hash.slice("#narrow/".length)) ?? [];
  const channel = store.channels.get(operandOf(terms, "channel"));
  const [text, general] = link.childNodes;
  if (!channel || !(text instanceof Text) || link.querySelector(".highlight")) return;
  const topic = operandOf(terms, "topic");
  const message = topic && link.classList.contains("message-link") ? " @ 💬" : "";
  text.data = `#${channel.name}${topic === undefined ? "" : ` > ${topic}${message}`}`;
  if (topic === "" && general instanceof HTMLElement) general.textContent = emptyTopicName(store);
}

/** Shows a link in place of a file of another site, which the policy of the page does not load. A preview goes if the text has its link.
 * @param {HTMLElement} media */
function showLink(media) {
  const box = media.closest(".message_inline_image");
  const link = box?.querySelector("a");
  const url = link?.getAttribute("href") ?? media.dataset.foreign ?? "";
  const others = [...(box?.closest(".content")?.querySelectorAll("a") ?? [])].filter((other) => other !== link);
  if (!/^https?:/.test(url) || others.some((other) => other.getAttribute("href") === url)) {
    (box ?? media).remove();
    return;
  }
  const shown = h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, box ? url : media.title || url);
  if (box) box.replaceWith(h("p", { dir: "auto" }, shown));
  else media.replaceWith(shown);
}

/** @param {App} app @param {HTMLImageElement} image */
function refineImage({ store }, image) {
  if (isForeign(image.getAttribute("src"))) {
    const link = image.closest("a");
    if (image.closest(".message_inline_image")) showLink(image);
    else image.replaceWith(link ? image.alt || link.href : image.alt);
    return;
  }
  if (image.classList.contains("emoji")) return;
  image.loading = "lazy";
  image.decoding = "async";
  const dimensions = /^(\d+)x(\d+)$/.exec(image.dataset.originalDimensions ?? "");
  const box = image.closest(".message_inline_image");
  if (!image.alt)
    image.alt = image.closest("a")?.getAttribute("title") || image.closest("a")?.getAttribute("href")?.split("/").pop() || t("Picture");
  if (dimensions) {
    const [width, height] = [Number(dimensions[1]), Number(dimensions[2])];
    const scale = Math.min(1, 480 / width, 300 / height);
    image.width = Math.max(1, Math.round(width * scale));
    image.height = Math.max(1, Math.round(height * scale));
  }
  if (box) {
    const link = box.querySelector("a");
    if (link) link.dataset.action = "lightbox";
    if (image.dataset.animated === "true") animate(image, store);
  }
}

/** Lets a picture move, always or under the pointer, as the settings say.
 * @param {HTMLImageElement} image @param {import("../store/store.js").Store} store */
function animate(image, store) {
  const when = store.setting("web_animate_image_previews");
  const animated = (store.state.server_thumbnail_formats ?? []).find((format) => format.animated);
  if (!animated || when === "never") return;
  const still = image.src;
  const moving = still.replace(/[^/]+$/, animated.name);
  if (when === "always") {
    image.src = moving;
    return;
  }
  image.onpointerenter = () => {
    image.src = moving;
  };
  image.onpointerleave = () => {
    image.src = still;
  };
}

/** @param {HTMLElement} block */
function refineSpoiler(block) {
  const [header, content] = [block.querySelector(".spoiler-header"), block.querySelector(".spoiler-content")];
  if (!(header instanceof HTMLElement) || !(content instanceof HTMLElement)) return;
  if (!header.textContent?.trim()) header.textContent = t("Spoiler");
  content.hidden = true;
  content.removeAttribute("aria-hidden");
  const details = h("details", { class: "spoiler-block" }, h("summary", null), content);
  content.hidden = false;
  const summary = details.querySelector("summary");
  // Paragraphs may not be in a summary.
  summary?.append(...[...header.childNodes].flatMap((node) => (node instanceof HTMLParagraphElement ? [...node.childNodes] : [node])));
  block.replaceWith(details);
}

/** @param {App} app @param {HTMLElement} block */
function refineCode(app, block) {
  const code = block.querySelector("code");
  const language = block.dataset.codeLanguage;
  const buttons = h("div", { class: "code-buttons" });
  for (const playground of app.store.state.realm_playgrounds ?? []) {
    if (playground.pygments_language !== language) continue;
    const url = fillTemplate(playground.url_template, "code", code?.textContent ?? "");
    buttons.append(h("a", { href: url, target: "_blank", rel: "noopener noreferrer", class: "icon-button" }, playground.name));
  }
  const copy = iconButton("copy", t("Copy code"), { onclick: () => void app.copy(code?.textContent ?? "", t("Code copied.")) });
  buttons.append(copy);
  block.append(buttons);
}
