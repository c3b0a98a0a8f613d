/**
 * The views that are lists of conversations. The build makes a file of its own of them: a page that begins with messages loads it later,
 * and a page that begins with a list does not load all other modules on demand.
 * @module
 */

import { createInbox } from "./inbox.js";
import { createRecent } from "./recent.js";
import { createTopics } from "./topics.js";

/** @param {import("../../types/app.js").App} app @param {Exclude<import("../../types/app.js").Route, { kind: "narrow" }>} route
 * @returns {{ element: HTMLElement, start: () => void }} */
export function createOverview(app, route) {
  if (route.kind === "inbox") return createInbox(app);
  return route.kind === "recent" ? createRecent(app) : createTopics(app, route.streamId);
}
