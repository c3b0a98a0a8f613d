/** States, users, channels and messages for tests without a server. */

import { kindOf } from "../../web/js/selectors/narrow.js";
import { createStore, reset } from "../../web/js/store/store.js";

export const user = (user_id, full_name, more = {}) => ({ user_id, full_name, email: `user${user_id}@example.com`, role: 400, is_bot: false, is_active: true, avatar_url: null, ...more });
export const channel = (stream_id, name, more = {}) => ({ stream_id, name, description: "", rendered_description: "", color: "#123456", is_muted: false, pin_to_top: false, invite_only: false, is_web_public: false, is_archived: false, subscriber_count: 3, ...more });

/** A store of Ada with Bob and Cleo, in the channels general and design. */
export function storeWith(more = {}) {
  const store = createStore();
  reset(store, {
    user_id: 1,
    realm_users: [user(1, "Ada"), user(2, "Bob"), user(3, "Cleo")],
    realm_non_active_users: [],
    cross_realm_bots: [],
    subscriptions: [channel(10, "general"), channel(11, "design")],
    unsubscribed: [],
    never_subscribed: [channel(12, "secret garden")],
    user_settings: {},
    unread_msgs: { streams: [], pms: [], huddles: [], mentions: [] },
    realm_user_groups: [],
    max_message_length: 10_000,
    ...more,
  });
  return store;
}

export const topic = (to, name) => ({ type: "stream", to: [to], topic: name });
export const direct = (...to) => ({ type: "direct", to, topic: "" });
export const inTopic = (id, stream_id, subject, sender_id = 2, more = {}) => ({ id, type: "stream", stream_id, subject, display_recipient: "", sender_id, flags: [], timestamp: 1000 + id, content: "", ...more });
export const toPeople = (id, ids, sender_id = 2) => ({ id, type: "private", subject: "", display_recipient: ids.map((one) => ({ id: one })), sender_id, flags: [], timestamp: 1000 + id, content: "" });
export const narrowRoute = (terms) => ({ kind: "narrow", terms, narrow: kindOf(terms) });
