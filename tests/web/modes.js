/** Ways to slow pages down, which find tests that pass by chance: TEAMCHAT_WEB_MODE, Chromium only.
 *
 *   latency   each request takes 400 ms longer
 *   slow      pages compute 8 times slower
 *   late      half of the replies to `fetch` arrive up to 700 ms late, in an order of TEAMCHAT_SEED, which is printed */

const MODE = process.env.TEAMCHAT_WEB_MODE ?? "";
/** Processes that this one starts have the same. */
process.env.TEAMCHAT_SEED ??= String(Math.floor(Math.random() * 2 ** 32));
const SEED = Number(process.env.TEAMCHAT_SEED);

/** Pages that were opened: each has an order of its own. */
let opened = 0;

/** Runs in the page, before its modules. */
function delayReplies(seed) {
  let state = seed;
  // mulberry32
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const real = window.fetch;
  window.fetch = async (...request) => {
    const delay = random() < 0.5 ? random() * 700 : 0;
    const reply = await real(...request);
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    return reply;
  };
}

const MODES = {
  "": () => {},
  latency: (page) => page.emulateNetworkConditions({ download: -1, upload: -1, latency: 400 }),
  slow: (page) => page.emulateCPUThrottling(8),
  late: (page) => page.evaluateOnNewDocument(delayReplies, (SEED + opened++) | 0),
};

if (!(MODE in MODES)) throw new Error(`TEAMCHAT_WEB_MODE is one of latency, slow, late, and not ${MODE}`);
if (MODE === "late") console.log(`late replies: TEAMCHAT_SEED=${SEED}`);

/** Slows a page down, as the environment has it. */
export const applyMode = (page) => MODES[MODE](page);
