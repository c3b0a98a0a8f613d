/**
 * Files on their way into texts. In a text, each of them has a placeholder until it has arrived.
 * @module
 */

/** A file for a text. `end` takes it out of the text. @typedef {{ name: string, hasFailed: boolean, end: () => void }} FileUpload */
/** @typedef {ReturnType<typeof createUploads>} Uploads */

/** The files of this tab. */
export function createUploads() {
  /** By placeholder. @type {Map<string, FileUpload>} */
  const all = new Map();
  /** The files of a text. @param {string} text @param {boolean} hasFailed */
  const filesOf = (text, hasFailed) => [...all].filter(([placeholder, file]) => file.hasFailed === hasFailed && text.includes(placeholder));
  return {
    all,
    /** Whether files of a text are on their way. @param {string} text */
    isRunning: (text) => filesOf(text, false).length > 0,
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
