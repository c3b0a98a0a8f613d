/**
 * Pictures of the shown messages at full size, one after the other.
 * @module
 */

import { h, icon, iconButton } from "../lib/dom.js";
import { decodeComponent } from "../lib/parse.js";
import { t } from "../lib/words.js";
import { userOf } from "../store/users.js";
import { showDialog } from "./popover.js";
import { createZoomStage } from "./zoom_stage.js";

/** @typedef {import("../../types/app.js").App} App */

/** What a link around a picture leads to. @param {HTMLAnchorElement} link */
function mediaOf(link) {
  const image = link.querySelector("img");
  const transcoded = image?.dataset.transcodedImage;
  const url = transcoded && image ? image.src.replace(/[^/]+$/, transcoded) : link.href;
  const file = url.split("/").pop() ?? "";
  const title = link.title || (decodeComponent(file) ?? file);
  return { url, title, isVideo: link.querySelector("video") !== null };
}

/** @param {App} app @param {HTMLElement} link The link around the picture. @param {import("../../types/api.js").Message} message */
export function showLightbox({ store }, link, message) {
  const links = /** @type {HTMLAnchorElement[]} */ ([
    ...(link.closest(".timeline__list") ?? document).querySelectorAll("a[data-action=lightbox]"),
  ]);
  let at = Math.max(0, links.indexOf(/** @type {HTMLAnchorElement} */ (link)));
  const caption = h("p", { class: "lightbox__caption", "aria-live": "polite" });
  const download = h("a", { class: "icon-button", download: true, "aria-label": t("Download"), title: t("Download") }, icon("download"));
  const open = h(
    "a",
    { class: "icon-button", target: "_blank", rel: "noopener noreferrer", "aria-label": t("Open in a tab"), title: t("Open in a tab") },
    icon("link"),
  );
  const zoomButton = iconButton("search", t("Enlarge (+)"), { onclick: () => stage.toggle() });
  const stage = createZoomStage(({ scale }) => {
    const label = scale > 1 ? t("Show the whole picture (0)") : t("Enlarge (+)");
    zoomButton.setAttribute("aria-label", label);
    zoomButton.title = label;
    zoomButton.setAttribute("aria-pressed", String(scale > 1));
  });
  const show = () => {
    const current = links[at];
    const { url, title, isVideo } = mediaOf(current);
    stage.show(isVideo ? h("video", { src: url, controls: true }) : h("img", { src: url, alt: title }));
    zoomButton.hidden = isVideo;
    const id = Number(current.closest(".message-row")?.getAttribute("data-id"));
    const sender = store.messages.byId.get(id) ?? message;
    const place = links.length > 1 ? ` (${t("{number} of {count}", { number: at + 1, count: links.length })})` : "";
    caption.textContent = `${title}, ${userOf(store, sender.sender_id).full_name}${place}`;
    download.href = `${current.href}${current.href.includes("?") ? "&" : "?"}download=true`;
    open.href = current.href;
  };
  /** @param {number} by */
  const move = (by) => {
    at = (at + by + links.length) % links.length;
    show();
  };
  const isOnly = links.length < 2;
  const dialog = showDialog(
    t("Picture"),
    () => [
      stage.element,
      isOnly ? null : iconButton("back", t("Previous"), { class: "lightbox__previous", onclick: () => move(-1) }),
      isOnly ? null : iconButton("back", t("Next"), { class: "lightbox__next is-flipped", onclick: () => move(1) }),
      h("div", { class: "lightbox__foot" }, caption, zoomButton, open, download),
    ],
    { class: "dialog--lightbox" },
  );
  dialog.addEventListener("keydown", (event) => {
    if (stage.key(event)) event.preventDefault();
    else if (event.key === "ArrowLeft" && !isOnly) move(-1);
    else if (event.key === "ArrowRight" && !isOnly) move(1);
    if (event.key !== "v") return;
    // The page would open it again.
    event.stopPropagation();
    dialog.close();
  });
  show();
}
