/** The interfaces between views. They are declared here, because types cannot be inferred from each other in a circle. */

import type { ReadSignal } from "../js/lib/signal.js";
import type { NarrowKind } from "../js/selectors/narrow.js";
import type { Range } from "../js/store/messages.js";
import type { Destination } from "../js/store/outbox.js";
import type { Session } from "../js/store/session.js";
import type { Store } from "../js/store/store.js";
import type { Message, Term } from "./api.js";

export type Route = { kind: "inbox" } | { kind: "recent" } | { kind: "topics"; streamId: number } | { kind: "narrow"; terms: Term[]; narrow: NarrowKind };

export interface Editor {
  element: HTMLElement;
  textarea: HTMLTextAreaElement;
  toolbar: HTMLElement;
  /** The conversation that is written to, for completions. */
  context: { channel: number | null; isChannel: boolean };
  upload(files: File[]): void;
  /** Inserts text at the cursor. */
  insert(text: string): void;
  /** Inserts text at the cursor, on a line of its own. */
  insertBlock(text: string): void;
  togglePreview(): Promise<void>;
  value(): string;
  setValue(text: string): void;
  isEmpty(): boolean;
  isOver(): boolean;
  isUploading(): boolean;
  focus(): void;
}

export interface Composer {
  element: HTMLElement;
  editor: Editor;
  readonly destination: Destination | null;
  open(next: Destination | null, options?: { content?: string; focus?: boolean }): void;
  close(): void;
  /** Saves the text as a draft; `sync`: on the server now. */
  save(sync: boolean): void;
  /** The conversation on the screen changed. */
  setShown(next: Destination | null): void;
  /** The conversation that a reply to a message goes to. */
  destinationOf(message: Message): Destination;
  replyTo(message: Message, prefix?: string): void;
  quote(message: Message): Promise<void>;
  forward(message: Message): Promise<void>;
  /** Takes a message that is not sent back into the composer. */
  takeBack(localId: string): void;
  hasFocus(): boolean;
  isEmpty(): boolean;
}

export interface Timeline {
  element: HTMLElement;
  list: HTMLElement;
  terms: Term[];
  kind: NarrowKind;
  range: Range;
  /** The key of the conversation, if the narrow is one. */
  conversation: string | null;
  /** The id of the message that keys act on. */
  selected(): number;
  message(): Message | undefined;
  move(step: number): void;
  page(direction: number): void;
  toNewest(): Promise<void>;
  toOldest(): Promise<void>;
  focusSelected(): void;
  /** Whether the reader is further up than the newest message, or keeps messages unread. */
  isReading(): boolean;
  /** Keeps messages unread until the view is left. */
  block(): void;
  reveal(id: number): void;
  rowOf(id: number): HTMLElement | undefined;
  start(): void;
}

export interface App {
  session: Session;
  store: Store;
  route: ReadSignal<Route>;
  composer: Composer;
  timeline: Timeline | null;
  /** The fragment of the view, without that of an overlay. */
  currentFragment(): string;
  fragmentOf(terms: Term[]): string;
  /** Where a click on a channel leads, by the user's setting. */
  channelFragment(streamId: number): string;
  /** Opens a channel as the user's setting says, once its topics are known or have taken too long. */
  goChannel(streamId: number): Promise<void>;
  goNarrow(terms: Term[]): void;
  /** The conversation on the screen is in another place now: shows it there, in the same entry of the history. */
  follow(terms: Term[]): void;
  goFragment(fragment: string): void;
  goHome(): void;
  goConversation(destination: Destination): void;
  toNewest(): void;
  focusMain(): void;
  copy(text: string, words: string): Promise<void>;
  /** Asks for a line of text. `save` answers undefined if it failed: the question stays, with the text. */
  ask(title: string, value: string, options?: { save?: (text: string) => unknown }): Promise<string | null | undefined>;
  /** Sends a message to the conversation of another. */
  sendTo(message: Message, content: string): void;
  /** Senders of the shown conversation, the latest first. */
  recentSenders(): number[];
  mayInvite(): boolean;
  /** Shows a side column where there is no room for it. */
  showColumn(side: "left" | "right" | null): void;
}
