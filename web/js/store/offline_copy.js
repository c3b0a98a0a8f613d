/**
 * The copy for reading without a connection (`offline.js`), whose modules are loaded when it is written or read.
 * @module
 */

import { DATABASE } from "../lib/storage.js";

/** @param {import("./store.js").Store} store @param {() => string} token That of the session, empty without one. */
export function createOfflineCopy(store, token) {
  const session = token();
  /** @type {ReturnType<typeof import("./offline.js").createOffline> | null} */
  let offline = null;
  /** Changes since the modules were last used. @type {{ isOutdated: boolean, gone: number[] }} */
  let news = { isOutdated: false, gone: [] };

  async function used() {
    const [{ createOffline }, database] = await Promise.all([import("./offline.js"), import("../lib/database.js")]);
    offline ??= createOffline(store, { database, session, token, now: Date.now });
    const { isOutdated, gone } = news;
    news = { isOutdated: false, gone: [] };
    if (isOutdated) offline.outdate();
    offline.forget(gone);
    return offline;
  }

  return {
    /** The state has changed. */
    outdate() {
      news.isOutdated = true;
    },
    /** Messages are deleted. @param {number[]} ids */
    forget(ids) {
      news.gone.push(...ids);
    },
    /** Writes what changed. Without its modules, the next time does. @param {boolean} [isLeaving] The page is hidden, and may be closed. */
    save: (isLeaving = false) =>
      used().then(
        (copy) => copy.save(isLeaving),
        () => {},
      ),
    /** The state and the runs of this session, if they are kept. */
    load: () =>
      used().then(
        (copy) => copy.load(),
        () => null,
      ),
    /** Deletes everything. */
    async erase() {
      if (offline) return offline.erase();
      try {
        // Nothing of it is open here.
        const request = indexedDB.deleteDatabase(DATABASE);
        await new Promise((resolve) => {
          request.onsuccess = request.onerror = resolve;
        });
      } catch {
        // Where there is no database, there is nothing to delete.
      }
    },
  };
}
