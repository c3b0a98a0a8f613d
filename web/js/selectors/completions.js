/**
 * Completions of the text before the cursor. Pure.
 * @module
 */

import { isInCode } from "../lib/text_edits.js";
import { t } from "../lib/words.js";
import { channelByName, openChannels } from "../store/channels.js";
import { directKey } from "../store/conversations.js";
import { isInGroup, ownGroups } from "../store/lists.js";
import { mentionName } from "../store/users.js";
import { findEmoji } from "./emoji_choices.js";
import { channelLink } from "./links.js";
import { channelPreference, matchesWords, ranked, withinLast } from "./ranking.js";
import { topicName } from "./title.js";

/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {{ text: string, label: string, detail?: string, kind: "user" | "group" | "wildcard" | "channel" | "topic" | "emoji" | "language" | "command" | "time",
 *   user?: import("../../types/api.js").User, channel?: import("../../types/api.js").Channel, emoji?: any }} Completion */
/** @typedef {{ start: number, query: string, kind: "mention" | "silent" | "channel" | "topic" | "emoji" | "language" | "command" | "time", channel?: string }} Trigger */

/** Finds the text that is being completed, unless a word goes on behind the cursor. @param {string} text @param {number} cursor
 * @returns {Trigger | null} */
export function triggerAt(text, cursor) {
  if (!/^($|[\s,.;?!()[\]> "'])/.test(text.slice(cursor))) return null;
  const before = text.slice(0, cursor);
  const start = before.lastIndexOf("\n") + 1;
  const line = before.slice(start);
  const found = (/** @type {RegExp} */ pattern) => pattern.exec(line);
  const at = (/** @type {string} */ match) => cursor - match.length;

  let match = found(/^(?:`{3,}|~{3,})([^\s`~]+)$/);
  if (match && !isInCode({ value: text, start, end: start })) return { kind: "language", start: at(match[1]), query: match[1] };
  if (isInCode({ value: text, start: cursor, end: cursor })) return null;
  match = /^\/(\w*)$/.exec(before);
  if (match) return { kind: "command", start: 0, query: match[1] };
  match = found(/<time:?([^>]*)$/);
  if (match) return { kind: "time", start: at(match[0]), query: match[1] };
  match = found(/#\*\*([^*>]+)>([^*]*)$/) ?? found(/(?:^|[\s(])#()>([^*]*)$/);
  if (match) return { kind: "topic", start: at(match[0].trimStart().replace(/^\(/, "")), query: match[2], channel: match[1] };
  match = found(/(?:^|[\s([{'"/])#(?:\*\*)?([^\s#*>][^#*>]*)$/);
  if (match && match[1].length <= 60) return { kind: "channel", start: at(match[0].replace(/^[\s([{'"/]/, "")), query: match[1] };
  match = found(/(?:^|[\s([{'"/])@(_?)\**([^@*\n]{0,40})$/);
  if (match && !match[2].startsWith(" "))
    return { kind: match[1] ? "silent" : "mention", start: at(match[0].replace(/^[\s([{'"/]/, "")), query: match[2] };
  match = found(/(?:^|[\s(])(:[a-z+0-9][a-z_+\- 0-9]*)$/i);
  // Not faces such as :D and :3, which Enter would replace.
  if (match && !/^:[a-z\d]$/i.test(match[1])) return { kind: "emoji", start: at(match[1]), query: match[1].slice(1) };
  return null;
}

const wildcardTexts = () => [
  ["all", t("Everyone in this conversation")],
  ["everyone", t("Everyone in this conversation")],
  ["channel", t("Everyone in this channel")],
  ["topic", t("Everyone in this topic")],
];

const commands = () => [
  ["me", t("Describe what you are doing"), "/me "],
  ["poll", t("Ask a question"), "/poll "],
  ["todo", t("A list of tasks"), "/todo "],
];

const LANGUAGES = [
  "bash",
  "c",
  "cpp",
  "csharp",
  "css",
  "diff",
  "go",
  "haskell",
  "html",
  "java",
  "javascript",
  "json",
  "kotlin",
  "latex",
  "lua",
  "makefile",
  "markdown",
  "math",
  "perl",
  "php",
  "python",
  "quote",
  "r",
  "ruby",
  "rust",
  "scala",
  "shell",
  "spoiler",
  "sql",
  "swift",
  "text",
  "toml",
  "typescript",
  "xml",
  "yaml",
];

/** The completions of a trigger.
 * @param {Store} store @param {Trigger} trigger
 * @param {{ isChannel: boolean, channel: number | null, recent?: number[], emoji: (import("../store/emoji.js").CatalogEmoji & { text?: string })[] }} context
 * @returns {Completion[]} */
export function completionsFor(store, trigger, context) {
  const { kind, query } = trigger;
  switch (kind) {
    case "mention":
    case "silent":
      return mentions(store, query, kind === "silent", context);
    case "channel":
      return ranked(openChannels(store), query, (channel) => [channel.name, channel.description], channelPreference)
        .slice(0, 20)
        .map((channel) => ({
          kind,
          channel,
          text: `${channelLink(store, channel)} `,
          label: `#${channel.name}`,
          detail: channel.description,
        }));
    case "topic":
      return topics(store, trigger, context);
    case "emoji":
      return findEmoji(context.emoji, query)
        .slice(0, 20)
        .map((emoji) => ({ kind, emoji, text: `${emoji.text ?? `:${emoji.name}:`} `, label: `:${emoji.name}:` }));
    case "language": {
      const playgrounds = (store.state.realm_playgrounds ?? []).map((one) => one.pygments_language.toLowerCase());
      // Enter takes the first one: a language that is not in the list must not become one that contains its name.
      return ranked([...new Set([...LANGUAGES, ...playgrounds])], query, (name) => [name])
        .filter((name) => matchesWords(name, query))
        .slice(0, 10)
        .map((name) => ({ kind, text: `${name}\n`, label: name }));
    }
    case "command":
      return commands()
        .filter(([name]) => name.startsWith(query.toLowerCase()))
        .map(([name, detail, text]) => ({
          kind,
          text,
          label: `/${name}`,
          detail,
        }));
    case "time":
      return [{ kind, text: "", label: t("Choose a time"), detail: t("Each reader sees it in their own time zone") }];
    default:
      return [];
  }
}

/** More than the id of any message. */
const FAR = 1e12;

/** The order of people who match equally well, the lowest first: members of the channel, recent senders in this view, people with recent
 * direct messages, and bots last.
 * @param {Store} store @param {{ channel: number | null, recent?: number[] }} context
 * @returns {(user: import("../../types/api.js").User) => number} */
function closeness(store, { channel, recent = [] }) {
  const people = channel === null ? undefined : store.subscribers.get(channel);
  return ({ user_id: id, is_bot: isBot }) => {
    const place = recent.indexOf(id);
    const newest = store.directs.get(directKey(store, [id]))?.max_id ?? 0;
    return (place < 0 ? FAR - newest : place) + (people && !people.has(id) ? 2 * FAR : 0) + (isBot ? 4 * FAR : 0);
  };
}

/** @param {Store} store @param {string} query @param {boolean} isSilent @param {{ isChannel: boolean, channel: number | null, recent?: number[] }} context
 * @returns {Completion[]} */
function mentions(store, query, isSilent, context) {
  const { isChannel } = context;
  const mark = isSilent ? "@_" : "@";
  const users = [...store.users.values()].filter((user) => user.is_active !== false && !user.is_system_bot);
  const people = ranked(users, query, (user) => [user.full_name, user.delivery_email], closeness(store, context))
    .slice(0, 15)
    .map((user) => ({
      kind: /** @type {const} */ ("user"),
      user,
      text: `${mark}**${mentionName(store, user)}** `,
      label: user.full_name,
      detail: user.delivery_email ?? undefined,
    }));
  // A message that mentions one of the others is refused.
  const mayMention = (/** @type {import("../../types/api.js").UserGroup} */ { can_mention_group: allowed }) =>
    isSilent || allowed === undefined || isInGroup(store, store.selfId, allowed);
  const groups = ranked(ownGroups(store).filter(mayMention), query, (group) => [group.name])
    .slice(0, 5)
    .map((group) => ({
      kind: /** @type {const} */ ("group"),
      text: `${mark}*${group.name}* `,
      label: group.name,
      detail: group.description || t("Group"),
    }));
  const wildcards = isSilent
    ? []
    : wildcardTexts()
        .filter(([name]) => query !== "" && name.startsWith(query.toLowerCase()) && (isChannel || name === "all" || name === "everyone"))
        .map(([name, detail]) => ({ kind: /** @type {const} */ ("wildcard"), text: `@**${name}** `, label: name, detail }));
  return withinLast(isChannel ? [...wildcards, ...people, ...groups] : [...people, ...groups, ...wildcards], query);
}

/** @param {Store} store @param {Trigger} trigger @param {{ channel: number | null }} context @returns {Completion[]} */
function topics(store, { query, channel: name }, { channel: current }) {
  const channel = name ? channelByName(store, name) : current === null ? undefined : store.channels.get(current);
  if (!channel) return [];
  const known = (store.topics.get(channel.stream_id) ?? []).map((topic) => topic.name);
  const nameOf = (/** @type {string} */ topic) => topicName(store, topic);
  const found = query ? ranked(known, query, (topic) => [nameOf(topic)]) : known;
  const all = query && !known.some((topic) => nameOf(topic).toLowerCase() === query.toLowerCase()) ? [...found, query] : found;
  return all.slice(0, 15).map((topic) => ({
    kind: "topic",
    channel,
    text: `${channelLink(store, channel, topic)} `,
    label: topicName(store, topic),
    detail: known.includes(topic) ? undefined : t("New topic"),
  }));
}
