/**
 * Values that are made again only where what they are made from is another.
 * @module
 */

/** @template T @typedef {(key: string | number, inputs: unknown[], make: () => T) => T} Memo
 *   Makes the value of a key, or answers the one before where all inputs are the same. */

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
