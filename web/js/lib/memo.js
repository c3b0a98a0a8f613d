/**
 * Memoized values: computed again only if one of their inputs has changed.
 * @module
 */

/** @template T @typedef {(key: string | number, inputs: unknown[], make: () => T) => T} Memo
 *   Returns the value of a key: the previous one if all inputs are the same, or else a new one. */

/** @template T @returns {Memo<T>} */
export function createMemo() {
  /** @type {Map<string | number, { inputs: unknown[], value: T }>} */
  const known = new Map();
  return (key, inputs, make) => {
    const before = known.get(key);
    if (before?.inputs.length === inputs.length && before.inputs.every((input, at) => Object.is(input, inputs[at]))) return before.value;
    const value = make();
    known.set(key, { inputs, value });
    return value;
  };
}
