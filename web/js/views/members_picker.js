/**
 * Choosing people one by one, or all of a group or of a channel at once.
 * @module
 */

import * as api from "../api/endpoints.js";
import { icon } from "../lib/dom.js";
import { t } from "../lib/words.js";
import { memberChoices } from "../selectors/choices.js";
import { userOf } from "../store/users.js";
import { choiceText } from "./choices.js";
import { avatar, channelIcon } from "./parts.js";
import { pillPicker } from "./pickers.js";

/** @typedef {import("../../types/app.js").App} App */
/** @typedef {import("../selectors/choices.js").MemberChoice} MemberChoice */

/** @param {App} app @param {{ label: string, chosen: number[], withGroups?: boolean }} options */
export function membersPicker({ store, session }, { label, chosen, withGroups = true }) {
  /** @param {MemberChoice} choice @returns {Promise<number[]>} */
  async function expand({ user, group, channel }) {
    if (user) return [user.user_id];
    if (group) return group.members.filter((/** @type {number} */ id) => userOf(store, id).is_active !== false);
    if (!channel) return [];
    const reply = await session.attempt(api.channelMembers(channel.stream_id));
    return reply?.subscribers ?? [];
  }
  return pillPicker({
    label,
    placeholder: t("People, or all of a group or channel"),
    chosen,
    find: (query, without) => memberChoices(store, query, without, withGroups),
    expand,
    nameOf: (id) => userOf(store, id).full_name,
    render: ({ user, group, channel, label: name, detail }) => [
      user ? avatar(user, 20) : group ? icon("group") : channel ? channelIcon(channel) : null,
      choiceText(name, detail),
    ],
  });
}
