/** Effects, storage, times, zoom and sound. No server, no browser. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { effect, flush, signal } from "../../web/js/lib/signal.js";
import { keptSet } from "../../web/js/lib/storage.js";
import { relativeTime } from "../../web/js/lib/time.js";
import { setLocale } from "../../web/js/lib/words.js";
import { clamped, moved, pinch, WHOLE, zoomed } from "../../web/js/lib/zoom.js";
import { playSound } from "../../web/js/platform/sound.js";

describe("effects in a flood of changes", () => {
  it("leave as much time to the user as they take, and one after a pause is not held up", () => {
    const { requestAnimationFrame, setTimeout } = globalThis;
    const { now } = performance;
    let time = 10_000;
    let frames = [];
    let timers = [];
    performance.now = () => time;
    globalThis.requestAnimationFrame = (run) => frames.push(run);
    globalThis.setTimeout = (run, delay = 0) => timers.push([time + delay, run]);
    try {
      const source = signal(0);
      let runs = 0;
      const end = effect(() => { source.value; runs += 1; time += 40; });
      const advance = (milliseconds) => {
        time += milliseconds;
        for (const [, run] of timers.filter(([due]) => due <= time)) run();
        timers = timers.filter(([due]) => due > time);
      };
      const change = () => { source.value += 1; };
      const frame = () => { for (const run of frames.splice(0)) run(); advance(0); };
      // Whatever waits from before.
      flush();
      time += 1000;
      change();
      frame();
      change();
      assert.equal(frames.length, 1, "the second frame comes at once");
      frame();
      assert.equal(runs, 3);
      change();
      assert.equal(frames.length, 0, "the third waits");
      advance(45);
      assert.equal(frames.length, 1);
      frame();
      assert.equal(runs, 4);
      advance(1000);
      change();
      assert.equal(frames.length, 1, "after a pause there is no rest");
      frame();
      end();
    } finally {
      Object.assign(globalThis, { requestAnimationFrame, setTimeout });
      performance.now = now;
    }
  });
});

describe("words that the user chooses one by one", () => {
  it("are those of all tabs, each as the tab showed it in which it was changed last", () => {
    const [one, two] = [keptSet("test/folded", ["dm"]), keptSet("test/folded", ["dm"])];
    const shown = () => [one, two].map(({ words }) => [...words.peek()].toSorted().join());
    one.toggle("pinned");
    two.toggle("other");
    assert.deepEqual(shown(), ["dm,pinned", "dm,other,pinned"]);
    two.toggle("dm");
    // The first tab still shows it as chosen.
    one.toggle("dm");
    assert.deepEqual([...shown(), [...keptSet("test/folded").words.peek()].toSorted().join()], ["other,pinned", "other,pinned", "other,pinned"]);
  });
});

describe("times in lists", () => {
  it("are those of the clock for 24 hours, and days after that", () => {
    // Without one, names of days and months are in the language of the machine.
    setLocale("en", []);
    const at = (...parts) => new Date(2026, ...parts).getTime() / 1000;
    const now = at(4, 13, 9, 0);
    const shown = (...parts) => relativeTime(at(...parts), true, now);
    assert.deepEqual([shown(4, 13, 8, 59), shown(4, 12, 23, 50), shown(4, 12, 9, 1)], ["08:59", "23:50", "09:01"]);
    assert.deepEqual([shown(4, 12, 8, 59), shown(4, 12, 0, 1), shown(4, 11, 23, 59), shown(4, 7, 12, 0)], ["Yesterday", "Yesterday", "Monday", "Thursday"]);
    assert.deepEqual([shown(4, 1, 12, 0), shown(-3, 1, 12, 0)], ["May 1", "Oct 1, 2025"]);
  });
});

describe("high contrast", () => {
  it("has the same colours by the setting and by the system", () => {
    const tokens = readFileSync(new URL("../../web/css/tokens.css", import.meta.url), "utf8");
    const colours = ["more", "auto"].map((contrast) => new RegExp(`data-contrast="${contrast}"\\] \\{([^}]*)`).exec(tokens)[1].match(/--[\w-]+: .*;/g));
    assert.ok(colours[0].length > 5);
    assert.deepEqual(colours[0], colours[1]);
  });
});

describe("a picture", () => {
  const [picture, stage] = [{ width: 400, height: 200 }, { width: 400, height: 300 }];

  it("is enlarged around a point, and stays on the stage", () => {
    assert.deepEqual(zoomed(WHOLE, 2, { x: 50, y: -20 }), { scale: 2, x: -50, y: 20 });
    assert.equal(zoomed(WHOLE, 100, { x: 0, y: 0 }).scale, 8);
    assert.deepEqual(zoomed({ scale: 2, x: -50, y: 20 }, 0.5, { x: 50, y: -20 }), WHOLE);
    assert.deepEqual(clamped({ scale: 2, x: 500, y: -500 }, picture, stage), { scale: 2, x: 200, y: -50 });
    assert.deepEqual(clamped({ scale: 1.2, x: 10, y: 90 }, picture, stage), { scale: 1.2, x: 10, y: 0 });
    assert.deepEqual(clamped({ scale: 1.01, x: 10, y: 5 }, picture, stage), WHOLE);
    assert.deepEqual(moved({ scale: 2, x: 1, y: 1 }, 4, -1), { scale: 2, x: 5, y: 0 });
    assert.deepEqual(pinch({ x: 0, y: 0 }, { x: 6, y: 8 }), { x: 3, y: 4, space: 10 });
  });
});

describe("the sound of notifications", () => {
  it("is played once for messages that come at once, and again once it has ended", () => {
    const tones = [];
    let [now, resumed] = [0, 0];
    const node = () => ({ gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} }, frequency: {}, connect: () => ({ connect() {} }) });
    globalThis.AudioContext = class {
      get currentTime() {
        return now;
      }
      resume = async () => {
        resumed += 1;
      };
      createGain = node;
      createOscillator = () => ({ ...node(), start: (at) => tones.push(at), stop() {} });
    };
    const played = (count) => {
      for (let at = 0; at < count; at++) playSound();
      return tones.splice(0).length;
    };
    assert.deepEqual([played(30), played(1)], [2, 0]);
    assert.equal(resumed, 30, "without an input of the user, the clock does not run");
    now = 0.2;
    assert.equal(played(1), 0);
    now = 0.5;
    assert.equal(played(2), 2);
    delete globalThis.AudioContext;
  });
});
