/**
 * Pictures of the shown messages at full size, one after the other.
 * @module
 */

import { fill, h, iconButton } from "../lib/dom.js";
import { decodeComponent } from "../lib/parse.js";
import { userOf } from "../store/users.js";
import { showDialog } from "./popover.js";

/** @typedef {import("../../types/app.js").App} App */

/** @param {App} app @param {HTMLElement} link The link around the picture. @param {import("../../types/api.js").Message} message */
export function showLightbox({ store }, link, message) {
  const links = [...(link.closest(".timeline__list") ?? document).querySelectorAll("a[data-action=lightbox]")];
  let at = Math.max(0, links.indexOf(link));
  const stage = h("div", { class: "lightbox__stage" });
  const caption = h("p", { class: "lightbox__caption" });
  const download = h("a", { class: "button", download: true }, "Download");
  const open = h("a", { class: "button", target: "_blank", rel: "noopener noreferrer" }, "Open");
  const show = () => {
    const current = /** @type {HTMLAnchorElement} */ (links[at]);
    const image = current.querySelector("img");
    const video = current.querySelector("video");
    const transcoded = image?.dataset.transcodedImage;
    const url = transcoded && image ? image.src.replace(/[^/]+$/, transcoded) : current.href;
    const file = url.split("/").pop() ?? "";
    const title = current.title || (decodeComponent(file) ?? file);
    fill(stage, video ? h("video", { src: url, controls: true }) : h("img", { src: url, alt: title }));
    const id = Number(current.closest(".message-row")?.getAttribute("data-id"));
    const sender = store.messages.byId.get(id) ?? message;
    caption.textContent = `${title}, ${userOf(store, sender.sender_id).full_name}${links.length > 1 ? ` (${at + 1} of ${links.length})` : ""}`;
    download.href = `${current.href}${current.href.includes("?") ? "&" : "?"}download=true`;
    open.href = current.href;
  };
  /** @param {number} by */
  const move = (by) => {
    at = (at + by + links.length) % links.length;
    show();
  };
  const dialog = showDialog(
    "Picture",
    () => [
      stage,
      caption,
      h(
        "div",
        { class: "dialog__buttons" },
        links.length > 1 && iconButton("back", "Previous", { onclick: () => move(-1) }),
        links.length > 1 && iconButton("back", "Next", { class: "is-flipped", onclick: () => move(1) }),
        open,
        download,
      ),
    ],
    { class: "dialog--lightbox" },
  );
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") move(-1);
    if (event.key === "ArrowRight") move(1);
    if (event.key !== "v") return;
    // The page would open it again.
    event.stopPropagation();
    dialog.close();
  });
  show();
}
