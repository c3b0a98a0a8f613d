/**
 * Asks for the state of the organization, and for the messages of a channel or topic, while the page itself is still loading.
 * @module
 */

import { csrfToken } from "./api/client.js";
import { getMessagesEarly, messagesAround, registerEarly } from "./api/endpoints.js";
import { decodeFragment } from "./lib/parse.js";

/** The terms of a channel or topic, as the timeline asks for them. Other views need the state first. */
function narrowHere() {
  const [, channel, fragment] = /^#narrow\/channel\/(\d+)[^/]*(?:\/topic\/([^/]+))?$/.exec(location.hash) ?? [];
  const topic = fragment === undefined ? undefined : decodeFragment(fragment);
  if (!channel || topic === null) return null;
  const terms = [{ operator: "channel", operand: Number(channel), negated: false }];
  return topic === undefined ? terms : [...terms, { operator: "topic", operand: topic, negated: false }];
}

if (csrfToken()) {
  registerEarly();
  const narrow = narrowHere();
  if (narrow) getMessagesEarly(messagesAround(narrow, "first_unread"));
}
