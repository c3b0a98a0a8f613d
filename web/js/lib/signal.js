/**
 * Signals: values that effects and computed values depend on by reading them. Effects run again at the next frame, once
 * for all changes until then.
 * @module
 */

/** @typedef {{ notify(): void, sources: Set<Set<Node>> }} Node */
/** @template T @typedef {{ value: T, peek(): T }} Signal */
/** @template T @typedef {{ readonly value: T, peek(): T }} ReadSignal */

/** @type {Node | null} */
let reader = null;
/** @type {(() => void)[] | null} */
let owner = null;
/** @type {Set<() => void>} */
const pending = new Set();
let isScheduled = false;

/** @param {Set<Node>} readers */
function track(readers) {
  if (!reader) return;
  readers.add(reader);
  reader.sources.add(readers);
}

/** @param {Node} node */
function forget(node) {
  for (const readers of node.sources) readers.delete(node);
  node.sources.clear();
}

/** @template T @param {T} initial @returns {Signal<T>} */
export function signal(initial) {
  let value = initial;
  /** @type {Set<Node>} */
  const readers = new Set();
  return {
    get value() {
      track(readers);
      return value;
    },
    set value(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const node of [...readers]) node.notify();
    },
    peek: () => value,
  };
}

/** A value that is computed when it is read, and again after one of its dependencies has changed.
 * @template T @param {() => T} compute @returns {ReadSignal<T>} */
export function computed(compute) {
  /** @type {T} */
  let value;
  let isStale = true;
  /** @type {Set<Node>} */
  const readers = new Set();
  /** @type {Node} */
  const node = {
    sources: new Set(),
    notify() {
      if (isStale) return;
      isStale = true;
      for (const other of [...readers]) other.notify();
    },
  };
  const get = () => {
    if (isStale) {
      forget(node);
      value = within(node, null, compute);
      isStale = false;
    }
    return value;
  };
  return {
    get value() {
      track(readers);
      return get();
    },
    peek: get,
  };
}

/** A computed value for each object: computed once for all readers, and again after one of its dependencies has changed.
 * @template {object} O @template T @param {(object: O) => T} compute @returns {(object: O) => T} */
export function computedOf(compute) {
  /** @type {WeakMap<O, ReadSignal<T>>} */
  const known = new WeakMap();
  return (object) => {
    const found = known.get(object) ?? computed(() => compute(object));
    known.set(object, found);
    return found.value;
  };
}

/** A value that is computed after each change, and notifies its readers only if it is another value. For views: it ends with their scope.
 * @template T @param {() => T} compute @returns {ReadSignal<T>} */
export function distinct(compute) {
  const latest = signal(/** @type {T} */ (undefined));
  effect(() => {
    latest.value = compute();
  });
  return latest;
}

/** @template T @param {Node | null} node @param {(() => void)[] | null} cleanups @param {() => T} run @returns {T} */
function within(node, cleanups, run) {
  const [outerReader, outerOwner] = [reader, owner];
  reader = node;
  owner = cleanups;
  try {
    return run();
  } finally {
    reader = outerReader;
    owner = outerOwner;
  }
}

/** Runs `run` now, and again at the next frame after a value that it has read changed. Returns a function that ends the effect.
 * @param {() => void} run @returns {() => void} */
export function effect(run) {
  /** @type {(() => void)[]} */
  const cleanups = [];
  let isEnded = false;
  /** @type {Node} */
  const node = { sources: new Set(), notify: () => schedule(again) };
  const clean = () => {
    for (const cleanup of cleanups.splice(0)) cleanup();
  };
  const again = () => {
    if (isEnded) return;
    forget(node);
    clean();
    within(node, cleanups, run);
  };
  const end = () => {
    isEnded = true;
    pending.delete(again);
    forget(node);
    clean();
  };
  owner?.push(end);
  again();
  return end;
}

/** Runs `run`, and returns a function that ends all effects that began in it.
 * @param {() => void} run @returns {() => void} */
export function scope(run) {
  /** @type {(() => void)[]} */
  const cleanups = [];
  const end = () => {
    for (const cleanup of cleanups.splice(0)) cleanup();
  };
  owner?.push(end);
  try {
    within(null, cleanups, run);
  } catch (error) {
    end();
    throw error;
  }
  return end;
}

/** Like {@link scope}, for effects that outlive the effect around them: the caller ends them.
 * @param {() => void} run @returns {() => void} */
export const detachedScope = (run) => within(null, null, () => scope(run));

/** Runs `cleanup` when the running effect or scope ends.
 * @param {() => void} cleanup */
export function onEnd(cleanup) {
  owner?.push(cleanup);
}

/** Reads signals without depending on them. @template T @param {() => T} run @returns {T} */
export function untracked(run) {
  return within(null, owner, run);
}

/** The longest time of a frame after which the next one may follow at once, and the longest pause between frames, in milliseconds. */
const QUICK = 12;
const LONGEST_REST = 120;

/** When the latest frame with effects ended, and until when none begins. */
let lastEnd = 0;
let restsUntil = 0;

/** @param {() => void} run */
function schedule(run) {
  pending.add(run);
  if (isScheduled) return;
  isScheduled = true;
  const rest = restsUntil - performance.now();
  if (rest > 0) setTimeout(runInFrame, rest);
  else runInFrame();
}

function runInFrame() {
  // Hidden pages have no frames.
  const timer = setTimeout(flush, 100);
  globalThis.requestAnimationFrame?.(() => {
    clearTimeout(timer);
    const started = performance.now();
    flush();
    // After the page is painted.
    setTimeout(() => measured(started));
  });
}

/** In a flood of changes, half of the time is left to the user: expensive frames are followed by a pause of the same length.
 * @param {number} started */
function measured(started) {
  const now = performance.now();
  const isFlood = started - lastEnd < LONGEST_REST;
  restsUntil = isFlood && now - started > QUICK ? now + Math.min(now - started, LONGEST_REST) : 0;
  lastEnd = now;
}

let onFailure = () => {};

/** Sets the handler for effects that fail when they run again, and so leave the page as it was. @param {() => void} handler */
export function whenEffectFails(handler) {
  onFailure = handler;
}

/** Runs the effects that wait for the next frame. */
export function flush() {
  isScheduled = false;
  for (let round = 0; pending.size > 0 && round < 50; round++) {
    const running = [...pending];
    pending.clear();
    for (const run of running) {
      try {
        run();
      } catch (error) {
        console.error(error);
        onFailure();
      }
    }
  }
}
