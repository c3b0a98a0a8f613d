/**
 * Fetching the names of emoji, once.
 * @module
 */

import { emojiData } from "../api/endpoints.js";
import { takeEmojiNames } from "../store/emoji.js";

/** @type {Promise<boolean> | null} */
let loading = null;

/** @param {import("../../types/app.js").App} app @returns {Promise<boolean>} Whether they are there. If not, the next call asks again. */
export function loadEmoji(app) {
  loading ??= emojiData(app.store.state.server_emoji_data_url)
    .then(({ code_to_names }) => {
      takeEmojiNames(code_to_names);
      return true;
    })
    .catch(() => {
      loading = null;
      return false;
    });
  return loading;
}
