/**
 * The service worker, where there can be one.
 * @module
 */

import { decodeComponent, parseUrl } from "../lib/parse.js";
import { go } from "./router.js";

/** @param {string | null} words The file with the words of the user's language, which is kept beside the files that the page names. */
export function registerWorker(words) {
  if (!("serviceWorker" in navigator) || !window.isSecureContext) return;
  const types = /** @type {any} */ (window).trustedTypes;
  const policy = types?.createPolicy("worker", { createScriptURL: (/** @type {string} */ url) => url });
  const url = "/service_worker.js";
  // A notification was clicked.
  navigator.serviceWorker.addEventListener("message", ({ data }) => typeof data?.fragment === "string" && go(data.fragment));
  navigator.serviceWorker.register(policy ? policy.createScriptURL(url) : url).catch(() => {});
  void navigator.serviceWorker.ready.then(() => keepWords(words)).catch(() => {});
}

/** Keeps the words of a language, and those of no other one: the service worker takes its text from them. If they cannot be loaded,
 * those that are kept stay.
 * @param {string | null} words */
async function keepWords(words) {
  const cache = await caches.open("/static/HASH/");
  if (words) await cache.add(words);
  for (const kept of await cache.keys()) {
    const pathname = parseUrl(kept.url)?.pathname;
    if (pathname?.startsWith("/static/HASH/words/") && pathname !== words) await cache.delete(kept);
  }
}

/** The cache in which the service worker puts what other programs share. */
const SHARED = "shared";

/** Takes what was shared with the page by another program. @returns {Promise<{ text: string, files: File[] } | null>} */
export async function takeShared() {
  if (!("caches" in globalThis) || !(await caches.has(SHARED))) return null;
  const cache = await caches.open(SHARED);
  /** @type {{ text: string, files: File[] }} */
  const shared = { text: "", files: [] };
  for (const request of await cache.keys()) {
    const response = await cache.match(request);
    if (!response) continue;
    const name = decodeComponent(response.headers.get("X-Name") ?? "");
    if (name) shared.files.push(new File([await response.blob()], name, { type: response.headers.get("content-type") ?? "" }));
    else shared.text = await response.text();
  }
  await caches.delete(SHARED);
  return shared;
}
