/**
 * Addresses of incoming webhooks. Pure.
 * @module
 */

/** An option of an address besides the channel and the topic. @typedef {{ key: string, label: string, validator: string }} UrlOption */
/** A program whose webhooks the server understands.
 * @typedef {{ name: string, display_name: string, all_event_types: string[] | null, url_options: UrlOption[] }} Integration */

/** The address at which a program delivers.
 * @param {{ origin: string, name: string, key: string, streamId: number | null, topic: string, events?: string[], options?: Record<string, string | boolean> }} webhook
 *   `name`: of the integration; without a channel, messages go to the owner of the bot; `events`: those that are wanted, none for all. */
export function webhookUrl({ origin, name, key, streamId, topic, events = [], options = {} }) {
  const params = new URLSearchParams({ api_key: key });
  if (streamId !== null) params.set("stream", String(streamId));
  if (streamId !== null && topic.trim()) params.set("topic", topic.trim());
  if (events.length > 0) params.set("only_events", JSON.stringify(events));
  for (const [option, value] of Object.entries(options)) {
    const text = String(value).trim();
    if (text && value !== false) params.set(option, text);
  }
  return `${origin}/api/v1/external/${encodeURIComponent(name)}?${params}`;
}

/** A name for a bot's email address that no bot has yet. @param {string} program @param {string[]} emails Those of bots. */
export function shortNameFor(program, emails) {
  const wanted = program.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const isTaken = (/** @type {string} */ name) => emails.some((email) => email.startsWith(`${name}-bot@`));
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    if (!isTaken(name)) return name;
  }
}

/** The name of an event for people: `pull_request_review` is "pull request review". @param {string} event */
export const eventName = (event) => event.replaceAll("_", " ");
