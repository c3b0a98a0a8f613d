/**
 * The keys that work everywhere on the page.
 * @module
 */

import { t } from "../lib/words.js";
import { bind, isDialogOpen, isField, isOpening } from "../platform/keyboard.js";
import { go } from "../platform/router.js";
import { channelOfRoute, conversationOfRoute, directTerms, topicTerms } from "../selectors/narrow.js";
import { unreadDirects, unreadTopics } from "../store/unread.js";
import { showMainMenu, showPalette } from "./on_demand.js";
import { closePopover, openPopover } from "./open_popover.js";

/** @typedef {import("../../types/app.js").App} App */

/** @param {App} app @param {{ header: ReturnType<typeof import("./header.js").createHeader>, sidebar: HTMLElement }} parts */
export function bindPageKeys(app, { header, sidebar }) {
  const { store, session, route, composer } = app;

  /** @param {KeyboardEvent} event @returns {boolean | void} */
  function leaveOne(event) {
    if (openPopover()) return closePopover();
    if (document.body.dataset.column) return app.showColumn(null);
    if (composer.hasFocus()) {
      if (composer.destination && !conversationOfRoute(route.peek())) composer.close();
      else {
        composer.save(true);
        app.focusMain();
      }
      return;
    }
    if (isField(event.target)) return /** @type {HTMLElement} */ (event.target).blur();
    if (event.key === "Escape" && store.setting("web_escape_navigates_to_home_view") === false) return;
    app.goHome();
  }

  /** The newest message of the conversation that is open, which may be read or not; 0 if none is. @param {readonly { key: string, newest: number }[]} unread */
  function newestHere(unread) {
    if (!app.timeline?.conversation) return 0;
    const { conversation, range } = app.timeline;
    return unread.find(({ key }) => key === conversation)?.newest ?? range.ids.at(-1) ?? 0;
  }

  /** Opens the unread topic after the one that is open, in the order of channels. After the last one comes the first, so that one that
   * stays unread does not come back before all others.
   * @param {(topic: import("../store/unread.js").UnreadTopic) => boolean} fits @param {string} otherwise Said if there is none. */
  function nextUnread(fits, otherwise) {
    const current = app.timeline?.conversation;
    const unread = unreadTopics(store);
    const topics = unread
      .filter((topic) => !topic.isMuted && topic.key !== current && fits(topic))
      .sort((one, other) => one.streamId - other.streamId || one.newest - other.newest);
    const streamId = channelOfRoute(route.peek()) ?? 0;
    const here = newestHere(unread);
    const isAfter = (/** @type {typeof topics[number]} */ topic) =>
      topic.streamId > streamId || (topic.streamId === streamId && topic.newest > here);
    const next = topics.find(isAfter) ?? topics[0];
    if (!next) return session.tell(otherwise);
    app.goNarrow(topicTerms(next.streamId, next.topic));
  }

  /** @param {number} step */
  function stepChannel(step) {
    const rows = [...sidebar.querySelectorAll("li[data-channel]")].map((row) => Number(/** @type {HTMLElement} */ (row).dataset.channel));
    const at = rows.indexOf(channelOfRoute(route.peek()) ?? -1);
    // Without an open channel, the one before is the last.
    const next = rows.at(at < 0 && step < 0 ? -1 : (at + step) % rows.length);
    if (next !== undefined) void app.goChannel(next);
  }

  /** While the palette is loading, a field that has the focus would get the keys that are meant for it. */
  function openPalette() {
    if (isOpening()) return;
    const before = document.activeElement;
    const field = before instanceof HTMLElement && isField(before) ? before : null;
    field?.blur();
    const giveBack = () => {
      if (!isDialogOpen() && document.activeElement === document.body) field?.focus({ preventScroll: true });
    };
    // If it cannot be loaded, the keys are discarded before the field gets the focus back.
    void showPalette(app, field).then(() => setTimeout(giveBack));
  }

  /** @param {string[]} keys @param {string} label @param {string} group @param {(event: KeyboardEvent) => boolean | void} run @param {{ inFields?: boolean, inDialogs?: boolean }} [more] */
  const on = (keys, label, group, run, more = {}) => bind({ keys, label, group, run, ...more });
  const GO = t("Navigation");
  on(["/"], t("Search"), GO, () => header.search.focus());
  on(["Ctrl+k"], t("Go to any conversation"), GO, openPalette, { inFields: true });
  on(["I"], t("Inbox"), GO, () => go("inbox"));
  on(["t"], t("Recent conversations"), GO, () => {
    if (route.peek().kind === "recent") /** @type {HTMLElement | null} */ (document.querySelector(".page__tools input"))?.focus();
    else go("recent");
  });
  on(["a"], t("Combined feed"), GO, () => go("feed"));
  on(["*"], t("Starred messages"), GO, () => go("narrow/is/starred"));
  on(["d"], t("Drafts"), GO, () => go("drafts"));
  on(["P"], t("All direct messages"), GO, () => go("narrow/is/dm"));
  on(["n"], t("Next unread topic"), GO, () => nextUnread(() => true, t("There are no more unread topics.")));
  on(["N"], t("Next unread topic that you follow"), GO, () =>
    nextUnread((topic) => topic.isFollowed, t("There are no more unread topics that you follow.")),
  );
  on(["p"], t("Next unread direct messages"), GO, () => {
    const current = app.timeline?.conversation;
    const unread = unreadDirects(store);
    // From elsewhere, the oldest come first.
    const here = current?.startsWith("dm/") ? newestHere(unread) : 0;
    const directs = unread.filter(({ key }) => key !== current).sort((one, other) => one.newest - other.newest);
    const next = directs.find(({ newest }) => newest > here) ?? directs[0];
    if (!next) return session.tell(t("There are no unread direct messages."));
    app.goNarrow(directTerms(next.userIds));
  });
  on(["A"], t("Previous channel"), GO, () => stepChannel(-1));
  on(["D"], t("Next channel"), GO, () => stepChannel(1));
  on(["g"], t("Main menu"), GO, () => void showMainMenu(app, header.element));
  on(["?"], t("This list"), GO, () => go("keyboard-shortcuts"));
  on(["c"], t("New message in a channel"), t("Writing"), () => {
    const current = route.peek();
    const streamId = channelOfRoute(current);
    if (composer.destination && current.kind === "narrow" && current.narrow.kind === "topic") return composer.editor.focus();
    composer.open({ type: "stream", to: streamId === null ? [] : [streamId], topic: "" });
  });
  on(["x"], t("New direct message"), t("Writing"), () => composer.open({ type: "direct", to: [], topic: "" }));
  on(
    ["Ctrl+."],
    t("Go to the conversation that you are writing to"),
    t("Writing"),
    () => {
      if (composer.destination) app.goConversation(composer.destination);
    },
    { inFields: true },
  );
  on(["Escape", "Ctrl+["], t("Close, leave, or open the home view"), GO, (event) => leaveOne(event), { inFields: true });
  // In an empty box, these keys are for the messages.
  for (const key of ["ArrowUp", "ArrowDown", "ArrowLeft", "PageUp", "PageDown", "Home", "End"]) {
    bind({
      keys: [key],
      label: "",
      group: "",
      inFields: true,
      run: () => {
        if (document.activeElement !== composer.editor.textarea || !composer.isEmpty()) return false;
        composer.editor.textarea.blur();
        // Views without messages bind none of them.
        if (document.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }))) app.focusMain();
      },
    });
  }
}
