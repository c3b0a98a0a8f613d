/**
 * Files that are dropped on the page: they are uploaded into the composer, and never opened in place of the page.
 * @module
 */

import { t } from "../lib/words.js";

/** After this time without a movement, the files are somewhere else, in milliseconds. */
const GONE = 300;

/** @param {import("../../types/app.js").App} app */
export function fileDrop(app) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const leave = () => {
    clearTimeout(timer);
    delete document.body.dataset.drop;
  };
  return {
    /** @param {DragEvent} event */
    ondragover(event) {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      document.body.dataset.drop = app.composer.destination ? "here" : "nowhere";
      clearTimeout(timer);
      timer = setTimeout(leave, GONE);
    },
    /** @param {DragEvent} event */
    ondrop(event) {
      leave();
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length === 0 || event.defaultPrevented) return;
      event.preventDefault();
      if (app.composer.destination) app.composer.editor.upload(files);
      else app.session.tellError(t("Please open a conversation first."));
    },
  };
}
