/**
 * Keys: one dispatcher for the page. Views bind keys to actions; the help lists the bindings.
 * @module
 */

/** @typedef {{ keys: string[], label: string, group: string, run: (event: KeyboardEvent) => boolean | void, inFields?: boolean, inDialogs?: boolean }} Binding
 *   `run` returns false if there is nothing to do, so that the browser acts. */

/** @type {Binding[]} */
const bindings = [];

/** @param {Binding} binding @returns {() => void} */
export function bind(binding) {
  bindings.push(binding);
  return () => bindings.splice(bindings.indexOf(binding), 1);
}

/** @returns {readonly Binding[]} */
export const allBindings = () => bindings;

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** Letters of other scripts than Latin. */
const OTHER_SCRIPT = /^[^\p{Script=Latin}\p{Script=Common}]+$/u;

/** The pressed key. Where a keyboard writes Arabic or Cyrillic, or the Option key Greek, it is the Latin letter of this key on other
 * keyboards, so that commands have a key. @param {KeyboardEvent} event */
function latinKey({ key, code, shiftKey }) {
  const letter = OTHER_SCRIPT.test(key) ? /^Key([A-Z])$/.exec(code)?.[1] : undefined;
  return letter === undefined ? key : shiftKey ? letter : letter.toLowerCase();
}

/** The name of a pressed key, such as `Ctrl+k`, `Shift+Enter`, `A`, `ArrowDown`. @param {KeyboardEvent} event */
export function keyName(event) {
  const command = isMac && event.key !== "[" ? event.metaKey : event.ctrlKey;
  const key = event.key === " " ? "Space" : latinKey(event);
  const isNamed = key.length > 1;
  // Some keyboards have other characters only together with Shift, such as the apostrophe or the full stop.
  const isLetter = /^\p{L}$/u.test(key);
  return [
    command && "Ctrl",
    event.altKey && "Alt",
    event.shiftKey && (isNamed || (command && isLetter)) && "Shift",
    command && !isNamed ? key.toLowerCase() : key,
  ]
    .filter(Boolean)
    .join("+");
}

/** The name of a key for people: on a Mac, the command key takes the place of Ctrl, but for the key that means Escape. @param {string} name */
export const shownKey = (name) => (isMac && name !== "Ctrl+[" ? name.replace("Ctrl", "⌘") : name);

/** Whether an element takes text, so that letters are not commands. @param {EventTarget | null} target */
export function isField(target) {
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable || target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit])")
  );
}

/** Whether a dialog is open over the page. */
export const isDialogOpen = () => document.querySelector("dialog[open]") !== null;

/** Whether an event belongs to an input method that composes a character. @param {KeyboardEvent} event */
export const isComposing = (event) => event.isComposing || event.keyCode === 229;

/** Keys that press a button, that choose in a menu, and that are held like characters. */
const ACTIVATING = /^(Enter| )$/;
const CHOOSING = /^(Enter| |ArrowUp|ArrowDown|Home|End)$/;
const NAMED = /^(Backspace|Enter|Escape|Arrow.*|Home|End)$/;

/** How many views are about to open. */
let opening = 0;

/** Whether a view is about to open. */
export const isOpening = () => opening > 0;

/** Keys that were pressed meanwhile. @type {KeyboardEvent[]} */
const held = [];

/** Waits for a view that opens. Keys that are pressed meanwhile are for this view: they are typed into its field, or choose in its menu. If
 * it has neither, they are discarded. @template T @param {Promise<T>} opened */
export async function holdKeys(opened) {
  opening++;
  try {
    return await opened;
  } finally {
    opening--;
    // The caller focuses the field first.
    setTimeout(typeHeld);
  }
}

function typeHeld() {
  if (opening > 0) return;
  for (const event of held.splice(0)) {
    // What a key opens gets those after it.
    if (opening > 0) held.push(event);
    else press(event, document.activeElement);
  }
}

/** Performs the action of a key that was held. @param {KeyboardEvent} event @param {Element | null} target What has the focus. */
function press(event, target) {
  const { key } = event;
  const isItem = target?.matches("[role^=menuitem]") === true;
  const isMeant = isField(target) || (key === "Escape" ? target?.closest("dialog, .popover") : isItem && CHOOSING.test(key));
  if (!isMeant || !target?.dispatchEvent(new KeyboardEvent("keydown", event))) return;
  if (key === "Escape") target.closest("dialog")?.close();
  else if (isItem && ACTIVATING.test(key)) /** @type {HTMLElement} */ (target).click();
  else if (key === "Backspace") document.execCommand("delete");
  else if (key.length === 1) document.execCommand("insertText", false, key);
  else if (key === "Enter" && target instanceof HTMLInputElement) target.form?.requestSubmit();
  else if (key === "Enter") document.execCommand("insertText", false, "\n");
}

/** Whether a key is held: characters, and those that edit or choose. @param {KeyboardEvent} event */
const isTyped = ({ key, ctrlKey, metaKey }) => !ctrlKey && !metaKey && (key.length === 1 || NAMED.test(key));

/** Whether the key presses a button again whose menu is still loading. @param {KeyboardEvent} event */
const isImpatient = ({ key, target }) =>
  held.length === 0 && ACTIVATING.test(key) && target instanceof Element && target.closest("button, a, [role=button]") !== null;

document.addEventListener(
  "keydown",
  (event) => {
    // A field that has the focus already gets its keys, but not before those that were held for it.
    const isHolding = opening > 0 ? !isField(event.target) : held.length > 0;
    if (!isHolding || isComposing(event) || !isTyped(event)) return;
    event.preventDefault();
    event.stopPropagation();
    // A key that is kept down is the command that opens the field.
    if (!event.repeat && !isImpatient(event)) held.push(event);
  },
  true,
);

/** The key of the last command. Empty once something was typed or clicked. */
let command = "";

/** Ends the last command. @returns {boolean} whether it led here: more of them may follow, so no field takes the focus. */
export function endCommand() {
  const isCommanded = command !== "";
  command = "";
  return isCommanded;
}

document.addEventListener("click", endCommand, true);

document.addEventListener("keydown", (event) => {
  const inField = isField(event.target);
  if (inField) command = "";
  if (event.defaultPrevented || isComposing(event)) return;
  const name = keyName(event);
  const inDialog = isDialogOpen();
  if (!inDialog) command = "";
  else if (name === command && !event.repeat) {
    // The key that opened a dialog closes it.
    event.preventDefault();
    [...document.querySelectorAll("dialog")].at(-1)?.close();
    return;
  }
  for (const binding of bindings.toReversed()) {
    if (!binding.keys.includes(name) || (inField && !binding.inFields) || (inDialog && !binding.inDialogs)) continue;
    // A focused control acts by itself.
    if (
      (name === "Enter" || name === "Space") &&
      event.target instanceof Element &&
      event.target.closest("button, a, [role=button], summary, input, select")
    )
      continue;
    if (!inField && !inDialog) command = name;
    if (binding.run(event) !== false) {
      event.preventDefault();
      return;
    }
  }
});
