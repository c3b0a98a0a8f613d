/**
 * Files on their way into texts. In a text, each of them has a placeholder until it has arrived.
 * @module
 */

/** A file for a text. `end` takes it out of the text. @typedef {{ name: string, hasFailed: boolean, end: () => void }} FileUpload */

/** The files of this tab. Their placeholders are kept, as they are in drafts, which other tabs have too and which outlive the tab.
 * @param {{ entries: () => import("./outbox.js").Entries, tab: string }} how `entries`: placeholders by tab and placeholder. */
export function createUploads({ entries, tab }) {
  /** By placeholder. @type {Map<string, FileUpload>} */
  const all = new Map();
  const keyOf = (/** @type {string} */ placeholder) => `${tab}/${placeholder}`;
  /** The placeholders of other tabs, with their keys. */
  const elsewhere = () => [...entries().all()].filter(([key]) => !key.startsWith(keyOf("")));
  /** The files of a text. @param {string} text @param {boolean} hasFailed */
  const filesOf = (text, hasFailed) => [...all].filter(([placeholder, file]) => file.hasFailed === hasFailed && text.includes(placeholder));
  return {
    elsewhere,
    /** @param {string} placeholder @param {FileUpload} file */
    add(placeholder, file) {
      all.set(placeholder, file);
      entries().set(keyOf(placeholder), placeholder);
    },
    /** @param {string} placeholder */
    remove(placeholder) {
      all.delete(placeholder);
      entries().set(keyOf(placeholder), null);
    },
    /** Removes a placeholder of a tab that has ended. @param {string} key @returns {boolean} Whether it was there. */
    removeOther(key) {
      const isThere = entries().all().has(key);
      entries().set(key, null);
      return isThere;
    },
    /** Whether a file has this placeholder. @param {string} placeholder */
    isTaken: (placeholder) => all.has(placeholder) || elsewhere().some(([, other]) => other === placeholder),
    /** Whether files of a text are on their way, also from another tab. @param {string} text */
    isRunning: (text) => filesOf(text, false).length > 0 || elsewhere().some(([, placeholder]) => text.includes(placeholder)),
    /** The names of the files of a text that could not be uploaded. @param {string} text */
    failedIn: (text) => filesOf(text, true).map(([, { name }]) => name),
    /** A text without the files that could not be uploaded. @param {string} text */
    withoutFailed: (text) => filesOf(text, true).reduce((rest, [placeholder]) => rest.replaceAll(placeholder, ""), text),
    /** Gives up the files of a text that could not be uploaded. @param {string} text */
    giveUpFailed(text) {
      for (const [, { end }] of filesOf(text, true)) end();
    },
  };
}
