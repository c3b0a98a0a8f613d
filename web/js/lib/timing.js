/**
 * Limiting how often a function is called.
 * @module
 */

/** Resolves in a later task, so that the browser can paint and handle input before. */
export const nextTask = () => new Promise((resolve) => setTimeout(resolve));

/** Calls a function once a burst of calls has ended, with the arguments of the last call. @template {unknown[]} A @param {(...args: A) => void} run
 * @param {number} milliseconds @returns {((...args: A) => void) & { flush(): void, cancel(): void }} */
export function debounce(run, milliseconds) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {A | null} */
  let waiting = null;
  const fire = () => {
    clearTimeout(timer);
    const args = waiting;
    waiting = null;
    if (args) run(...args);
  };
  /** @param {A} args */
  const debounced = (...args) => {
    waiting = args;
    clearTimeout(timer);
    timer = setTimeout(fire, milliseconds);
  };
  const cancel = () => {
    clearTimeout(timer);
    waiting = null;
  };
  return Object.assign(debounced, { flush: fire, cancel });
}

/** Calls a function at once, and then at most once per interval. @param {() => void} run @param {number} milliseconds @returns {() => void} */
export function throttle(run, milliseconds) {
  let isResting = false;
  let isWanted = false;
  const fire = () => {
    isResting = true;
    isWanted = false;
    setTimeout(() => {
      isResting = false;
      if (isWanted) fire();
    }, milliseconds);
    run();
  };
  return () => {
    if (isResting) isWanted = true;
    else fire();
  };
}
