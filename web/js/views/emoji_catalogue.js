/**
 * Fetching the names of emoji, once.
 * @module
 */

import { emojiData } from "../api/endpoints.js";
import { takeEmojiNames } from "../store/emoji.js";

/** @type {Promise<void> | null} */
let loading = null;

/** @param {import("../../types/app.js").App} app */
export function loadEmoji(app) {
  loading ??= emojiData(app.store.state.server_emoji_data_url)
    .then(({ code_to_names }) => takeEmojiNames(code_to_names))
    .catch(() => {
      loading = null;
    });
  return loading;
}
