/**
 * Requests to the server: `/json/...`, with the session's cookie.
 * @module
 */

import { t } from "../lib/words.js";

/** An error response of the server. `code` is "NETWORK" if there was no response, or one of a proxy. */
export class ApiError extends Error {
  /** @param {number} status @param {Record<string, any>} body */
  constructor(status, body) {
    super(body.msg || t("Something went wrong."));
    this.status = status;
    this.code = /** @type {string} */ (body.code ?? "");
    this.body = body;
  }

  /** Whether the same request may succeed later. */
  get isTransient() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** What an error says. @param {unknown} error */
export const errorText = (error) => (error instanceof Error ? error.message : String(error));

/** @typedef {Record<string, any>} Params */
/** @template {import("../../types/api.js").Method} M @template {string} P @typedef {import("../../types/api.js").Reply<M, P>} Reply */
/** @typedef {{ signal?: AbortSignal, keepalive?: boolean }} Options */

/** The requests that the server answers without an account. */
const FOR_VISITORS = /^(POST \/json\/register|GET \/json\/(messages(\/\d+)?|users|users\/me\/\d+\/topics))$/;

/** Requests that the page sends by itself, without an action of the user. */
const IN_BACKGROUND = /\/(presence|typing|flags|narrow|members)$/;

let onLoggedOut = () => {};
/** Set for visitors: requests that need an account are not sent, but call this. @type {(() => void) | null} */
let onBlocked = null;

/** Sets the handler of actions for which a visitor needs an account. @param {() => void} run */
export function whenBlocked(run) {
  onBlocked = run;
}

export const isVisitor = () => onBlocked !== null;

/** Sets the handler of the end of the session. @param {() => void} run */
export function whenLoggedOut(run) {
  onLoggedOut = run;
}

/** Requests wait for this while the session ends. Once it has ended, they wait for ever: timers and listeners go on until the page is left.
 * @type {Promise<unknown> | null} */
let ending = null;

const ended = new AbortController();

/** Aborted once the session has ended: running requests stop, without further effects. */
export const sessionEnd = ended.signal;

/** The token of the session that the page shows. Empty until it does, and for visitors. */
let shownSession = "";

/** The page shows the session of this token from now on. @param {string} token */
export function pinSession(token) {
  shownSession = token;
}

/** The promise that a request has to wait for; null if it can be sent. */
export function obstacle() {
  if (ending || shownSession === "" || csrfToken() === shownSession) return ending;
  // Another tab has logged out, perhaps to log in as another person. What is written here is not theirs.
  ended.abort();
  ending = new Promise(() => {});
  onLoggedOut();
  return ending;
}

/** Ends the session by a request, and holds all others meanwhile: they are sent if it fails. @param {string} path */
export function endOwnSession(path) {
  const reply = request("POST", path);
  ending = reply.then(
    () => {
      ended.abort();
      // The browser may show the page again: Back leads to it.
      addEventListener("pageshow", () => onLoggedOut());
      return new Promise(() => {});
    },
    () => {
      ending = null;
    },
  );
  return reply;
}

/** The token against forged requests, which belongs to the session. The browser may have that of another session besides, from before
 * the server had TLS, or of another server on the same host. */
export function csrfToken() {
  const names = ["__Host-teamchat_csrf=", "teamchat_csrf="];
  if (globalThis.location?.protocol === "http:") names.reverse();
  const cookies = document.cookie.split("; ");
  const found = names.map((name) => cookies.find((cookie) => cookie.startsWith(name))?.slice(name.length));
  return found.find((token) => token !== undefined) ?? "";
}

/** Encodes parameters for the API: strings as they are, everything else as JSON.
 * @param {Params} params @returns {URLSearchParams} */
export function encode(params) {
  const encoded = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue;
    encoded.append(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return encoded;
}

/** @param {string} method @param {string} path @param {Params} [params] @param {Options} [options] @returns {Promise<any>} */
export async function request(method, path, params = {}, options = {}) {
  const isRead = method === "GET";
  if (onBlocked && path.startsWith("/json/") && !FOR_VISITORS.test(`${method} ${path}`)) {
    if (!IN_BACKGROUND.test(path)) onBlocked();
    throw new DOMException("This needs an account.", "AbortError");
  }
  if (obstacle()) await obstacle();
  const form = params instanceof FormData ? params : encode(params);
  const query = isRead && form.toString() ? `?${form}` : "";
  /** @type {Response | null} */
  let response = null;
  /** @type {any} */
  let body;
  try {
    response = await fetch(`${path}${query}`, {
      method,
      headers: { Accept: "application/json", ...(isRead ? {} : { "X-CSRFToken": csrfToken() }) },
      body: isRead ? undefined : form,
      credentials: "same-origin",
      ...options,
    });
    body = await response.json();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    // A page of a proxy that does not reach the server. Other pages say nothing of the request.
    const status = response !== null && response.status >= 500 ? response.status : 0;
    throw new ApiError(status, { code: "NETWORK", msg: t("The server cannot be reached.") });
  }
  if (response.ok) return body;
  const refusal = new ApiError(response.status, body);
  // What was on its way when the user logged out says nothing new.
  if (!ending && response.status === 401 && ["UNAUTHORIZED", "USER_DEACTIVATED", "REALM_DEACTIVATED"].includes(refusal.code)) {
    onLoggedOut();
  }
  throw refusal;
}

/** @template {string} Path @param {Path} path @param {Params} [params] @param {Options} [options] @returns {Promise<Reply<"GET", Path>>} */
export const get = (path, params, options) => request("GET", `/json${path}`, params, options);
/** @template {string} Path @param {Path} path @param {Params} [params] @param {Options} [options] @returns {Promise<Reply<"POST", Path>>} */
export const post = (path, params, options) => request("POST", `/json${path}`, params, options);
/** @template {string} Path @param {Path} path @param {Params} [params] @param {Options} [options] @returns {Promise<Reply<"PATCH", Path>>} */
export const patch = (path, params, options) => request("PATCH", `/json${path}`, params, options);
/** @template {string} Path @param {Path} path @param {Params} [params] @param {Options} [options] @returns {Promise<Reply<"DELETE", Path>>} */
export const del = (path, params, options) => request("DELETE", `/json${path}`, params, options);

/** The file with the words of a language, of this version of the page. English has none. @param {string} language */
export const catalogueUrl = (language) => (language === "en" ? null : `/static/HASH/words/${language}.json`);

/** The words of a language. Null if they cannot be loaded.
 * @param {string} language @returns {Promise<Record<string, import("../lib/words.js").Entry> | null>} */
export async function catalogue(language) {
  const url = catalogueUrl(language);
  if (!url) return {};
  try {
    const response = await fetch(url);
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}
