/**
 * The copy for reading without a connection (`offline.js`), whose modules are loaded when it is written or read.
 * @module
 */

import { DATABASE } from "../lib/storage.js";

/** @typedef {import("../../types/api.js").State} State */

/** @param {import("./store.js").Store} store @param {() => string} token That of the session, empty without one. */
export function createOfflineCopy(store, token) {
  const session = token();
  /** @type {ReturnType<typeof import("./offline.js").createOffline> | null} */
  let offline = null;
  /** Changes since the modules were last used. @type {{ state: State | null, gone: number[] }} */
  let news = { state: null, gone: [] };

  async function used() {
    const [{ createOffline }, database] = await Promise.all([import("./offline.js"), import("../lib/database.js")]);
    offline ??= createOffline(store, { database, session, token, now: Date.now });
    const { state, gone } = news;
    news = { state: null, gone: [] };
    if (state) offline.remember(state);
    offline.forget(gone);
    return offline;
  }

  return {
    /** The server has sent a state, which is not yet taken apart. @param {State} state */
    remember(state) {
      news.state = { ...state };
    },
    /** Messages are deleted. @param {number[]} ids */
    forget(ids) {
      news.gone.push(...ids);
    },
    /** Writes what changed. Without its modules, the next time does. */
    save: () =>
      used().then(
        (copy) => copy.save(),
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
