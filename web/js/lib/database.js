/**
 * A database of the browser: values by name, in two tables. If the browser has no databases, refuses one, or has no space left, nothing
 * is stored, and nothing fails.
 * @module
 */

import { DATABASE } from "./storage.js";

const TABLES = ["state", "runs"];

/** @typedef {"state" | "runs"} Table */

/** @type {Promise<IDBDatabase> | null} */
let opened = null;

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

function open() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => {
      for (const table of TABLES) request.result.createObjectStore(table);
    };
    request.onsuccess = () => {
      // Another tab deletes it.
      request.result.onversionchange = () => {
        request.result.close();
        opened = null;
      };
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("blocked"));
  });
  return opened;
}

/** All values of a table, by name. @param {Table} table @returns {Promise<Map<string, unknown>>} */
export async function readTable(table) {
  try {
    const store = (await open()).transaction(table).objectStore(table);
    const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
    return new Map(keys.map((key, index) => [String(key), values[index]]));
  } catch {
    return new Map();
  }
}

/** One value. @param {Table} table @param {string} key @returns {Promise<unknown>} */
export async function readValue(table, key) {
  try {
    return await done((await open()).transaction(table).objectStore(table).get(key));
  } catch {
    return undefined;
  }
}

/** Writes values into a table, and deletes those that are null. @param {Table} table @param {Map<string, unknown>} values
 * @returns {Promise<boolean>} Whether they are stored. */
export async function writeTable(table, values) {
  try {
    const transaction = (await open()).transaction(table, "readwrite");
    const store = transaction.objectStore(table);
    for (const [key, value] of values) {
      if (value === null) store.delete(key);
      else store.put(value, key);
    }
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
    });
    return true;
  } catch {
    return false;
  }
}

/** Deletes everything. */
export async function eraseDatabase() {
  const database = await opened?.catch(() => null);
  database?.close();
  opened = null;
  try {
    await done(indexedDB.deleteDatabase(DATABASE));
  } catch {
    // Where there is no database, there is nothing to delete.
  }
}
