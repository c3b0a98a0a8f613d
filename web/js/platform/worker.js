/**
 * The service worker, where there can be one.
 * @module
 */

import { go } from "./router.js";

export function registerWorker() {
  if (!("serviceWorker" in navigator) || !window.isSecureContext) return;
  /** @type {any} */
  const types = /** @type {any} */ (window).trustedTypes;
  const policy = types?.createPolicy("worker", { createScriptURL: (/** @type {string} */ url) => url });
  const url = "/service_worker.js";
  // A notification was clicked.
  navigator.serviceWorker.addEventListener("message", ({ data }) => typeof data?.fragment === "string" && go(data.fragment));
  navigator.serviceWorker.register(policy ? policy.createScriptURL(url) : url).catch(() => {});
}
