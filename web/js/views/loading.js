/**
 * Loading of what the start of the page does not need: with the first call, or once the page has come to rest.
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

/** How often something was to open. */
let requests = 0;

/** The same for what opens over the page: of several that are asked for while they load, as by a double click, the last one opens.
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
