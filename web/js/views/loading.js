/**
 * Loading modules on demand: with the first call of their functions, or once the page is idle.
 * @module
 */

import { t } from "../lib/words.js";
import { holdKeys } from "../platform/keyboard.js";
import { toast } from "./toasts.js";

/** @type {Set<() => Promise<unknown>>} */
const loads = new Set();

/** Loads a module, and holds keys meanwhile. @template T @param {() => Promise<T>} load */
const loaded = (load) => holdKeys(load()).catch(() => void toast(t("This could not be loaded. Please load the page again."), true));

/** A function that loads its module with the first call.
 * @template {unknown[]} A @template R @param {() => Promise<(...args: A) => R | Promise<R>>} load @returns {(...args: A) => Promise<R | undefined>} */
export function onDemand(load) {
  loads.add(load);
  return async (...args) => {
    const run = await loaded(load);
    return run?.(...args);
  };
}

/** Counts the calls of functions that open a view. */
let requests = 0;

/** The same for functions that open a view over the page: of several calls while modules load, as by a double click, only the last one runs.
 * @template {unknown[]} A @template R @param {() => Promise<(...args: A) => R | Promise<R>>} load @returns {(...args: A) => Promise<R | undefined>} */
export function opensOnDemand(load) {
  loads.add(load);
  return async (...args) => {
    requests += 1;
    const own = requests;
    const run = await loaded(load);
    return own === requests ? run?.(...args) : undefined;
  };
}

/** Loads all of them, so that they open at once, and also after the server has a new version. */
export const loadOnDemand = () => Promise.all([...loads].map((load) => load()));
