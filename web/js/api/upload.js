/**
 * Uploads, with `XMLHttpRequest`, because `fetch` does not report progress.
 * @module
 */

import { t } from "../lib/words.js";
import { ApiError, csrfToken, obstacle, sessionEnd } from "./client.js";

/** @typedef {{ done: Promise<any>, cancel(): void }} Upload */

/** Sends a file. `done` fails with an `AbortError` if the upload is cancelled. While the session ends, an upload waits as requests do.
 * @param {File | Blob} file @param {(fraction: number) => void} [onProgress]
 * @param {{ path?: string, method?: string, fields?: Record<string, string> }} [where] @returns {Upload} */
export function upload(file, onProgress, { path = "/user_uploads", method = "POST", fields = {} } = {}) {
  const xhr = new XMLHttpRequest();
  const abort = () => xhr.abort();
  const cancelled = new AbortController();
  const done = new Promise((resolve, reject) => {
    xhr.open(method, `/json${path}`);
    xhr.setRequestHeader("X-CSRFToken", csrfToken());
    xhr.responseType = "json";
    xhr.upload.onprogress = (event) => event.lengthComputable && onProgress?.(event.loaded / event.total);
    xhr.onload = () => (xhr.status === 200 ? resolve(xhr.response) : reject(new ApiError(xhr.status, xhr.response ?? {})));
    xhr.onerror = () => reject(new ApiError(0, { code: "NETWORK", msg: t("The server cannot be reached.") }));
    xhr.onloadend = () => sessionEnd.removeEventListener("abort", abort);
    // What was not sent yet has no end when it is cancelled.
    sessionEnd.addEventListener("abort", abort, { signal: cancelled.signal });
    cancelled.signal.addEventListener("abort", () => {
      abort();
      reject(new DOMException("cancelled", "AbortError"));
    });
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("file", file, file instanceof File ? file.name : "image.png");
    void Promise.resolve(obstacle()).then(() => cancelled.signal.aborted || xhr.send(form));
  });
  return { done, cancel: () => cancelled.abort() };
}
