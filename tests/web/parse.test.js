/** Texts and values that others wrote: nothing in them is an error. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { charactersOf } from "../../web/js/lib/emoji.js";
import { keyedList } from "../../web/js/lib/keyed_list.js";
import { asList, asObject, asText, decodeComponent, fillTemplate, isPreformatted, parseJson, parseUrl, decodeFragment, withoutStyles, withoutTrailingSpaces } from "../../web/js/lib/parse.js";
import { encodeFragment } from "../../web/js/selectors/narrow.js";
import { choicesState, pollState, todoState } from "../../web/js/views/widgets.js";

/** Values of every type, as JSON has them. The last but one is an object that cannot be made a text of. */
const VALUES = [null, true, 0, -1, 1e308, "", "text", "\ud800", [], [null], [[]], {}, { length: 1e9 }, { toString: 5, valueOf: 5 }, JSON.parse('{"__proto__": {"type": 1}}')];
const DEEP = JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`);

describe("parsers", () => {
  it("answer null for what is no URL", () => {
    for (const text of ["http://a:99999", "http://[", "http://%zz", "http://a:b", "https://", "relative without a page"]) assert.equal(parseUrl(text), null, text);
    assert.equal(parseUrl("https://example.com/a?b#c").hash, "#c");
    assert.equal(parseUrl("mailto:ada@example.com").protocol, "mailto:");
    assert.equal(parseUrl(" java\nscript:x").protocol, "javascript:");
  });

  it("answer null for malformed JSON and percent-encoding", () => {
    for (const text of ["", "{", "undefined", "\ud800", "NaN"]) assert.equal(parseJson(text), null, text);
    for (const none of [null, undefined]) assert.equal(parseJson(none), null);
    assert.deepEqual(parseJson('{"a": [1]}'), { a: [1] });
    for (const text of ["100%", "%zz", "%ff", "%ed%a0%80"]) assert.equal(decodeComponent(text), null, text);
    assert.equal(decodeComponent("100%25"), "100%");
  });

  it("fill templates of URLs", () => {
    const filled = ["{code}", "{?code}", "{&code}", "{;code}", "{/code}", "{.code}", "{+code}", "{#code}", "{code*}", "{other}{code"].map((template) => fillTemplate(template, "code", "a=b/ü"));
    const value = "a%3Db%2F%C3%BC";
    assert.deepEqual(filled, [value, `?code=${value}`, `&code=${value}`, `;code=${value}`, `/${value}`, `.${value}`, "a=b/%C3%BC", "#a=b/%C3%BC", value, "{other}{code"]);
    assert.equal(fillTemplate("https://example.com/$&{?code}", "code", "$&"), "https://example.com/$&?code=%24%26");
  });

  it("answer what is of the wanted type, or else what is empty", () => {
    for (const value of [...VALUES, DEEP]) {
      assert.equal(typeof asText(value), "string");
      assert.ok(Array.isArray(asList(value)));
      assert.ok(asObject(value) !== null && typeof asObject(value) === "object");
    }
    assert.deepEqual([asText(5), asText("a"), asText(["a"]), asText({ toString: 5 })], ["5", "a", "", ""]);
  });

  it("remove the styles of elements, and nothing of texts and values", () => {
    const cases = [
      ['<th style="text-align: right;">a</th>', '<th data-align="right">a</th>'],
      ['<span class="strut" style="height:1em;" aria-hidden="true"></span>', '<span class="strut" aria-hidden="true"></span>'],
      ['<SPAN STYLE="color: red" hidden>a</SPAN>', "<SPAN hidden>a</SPAN>"],
      ['<img alt="a" style="b"/>', '<img alt="a"/>'],
      ['<p>I owe you 100" style="0 euros, to be paid " today</p>'],
      ['<p><code>&lt;div style="color:red"&gt;</code></p>'],
      ['<p>a" style="<a href="/b" title="c">d</a></p>'],
      ['<a title=" style=" href="/b">a</a>'],
      ['<a title="&lt;b style=" class="c">a</a>'],
      ['<p class="a > b">style="c"</p>'],
      ["a < b style=\"c\" and <br> style=\"d\""],
    ];
    for (const [html, expected = html] of cases) assert.equal(withoutStyles(html), expected);
    // Linear, also for what is never closed.
    for (const part of ['<a b="', "<a b ", '<a b="c" ', "<a", " style=\""]) assert.equal(withoutStyles(part.repeat(20_000)), part.repeat(20_000));
  });

  it("recognize HTML of code editors, whatever comments are before it", () => {
    const code = '<div style="color: red; white-space: pre;">a</div>';
    for (const before of ["", "<meta charset='utf-8'>", "<html>\n<body>\n<!--StartFragment-->", "<!-- a - b -- c ---><!---->"]) assert.equal(isPreformatted(before + code), true, before);
    for (const html of ["", "<p>a</p>", `a${code}`, `<!-- ${code} -->`, `<!---->-->${code}`, "<p style=\"white-space: nowrap\">a</p>"]) assert.equal(isPreformatted(html), false, html);
    // Linear.
    for (const part of ["<!---->", "<!-- a -->", "<!--", "<meta ", "</head", 'style="', "white-space:"]) assert.equal(isPreformatted(`${part.repeat(20_000)}<p>`), false, part);
  });

  it("remove spaces at the ends of lines", () => {
    assert.equal(withoutTrailingSpaces("a \t\n b\n  \nc "), "a\n b\n\nc ");
    // Linear.
    assert.equal(withoutTrailingSpaces(`${" ".repeat(500_000)}a`).length, 500_001);
  });

  it("answer none for codes of emoji that there are not", () => {
    for (const code of ["", "x", "ffffffff", "110000", "1f642-ffffffff", "1f642--1", "-1"]) assert.equal(charactersOf(code), "", code);
    assert.equal(charactersOf("1f1e6-1f1e8"), "🇦🇨");
  });

  it("write fragments of any name", () => {
    for (const name of ["100%", "%zz", "\u202eright to left", "e\u0301".repeat(500), "a/b?c#d", "."]) assert.equal(decodeFragment(encodeFragment(name)), name);
    assert.equal(decodeFragment(encodeFragment("half \ud83d")), "half \ufffd");
  });
});

describe("widgets", () => {
  const texts = ({ options }) => [...options.values()].map(({ text }) => text);

  it("read definitions with members of any type", () => {
    for (const value of [...VALUES, DEEP]) {
      for (const extra of [asObject(value), { question: value, options: value }, { options: [value, "one"] }]) {
        const state = pollState(extra, [], 7);
        assert.equal(typeof state.question, "string");
        assert.ok(texts(state).every((text) => typeof text === "string" && text !== ""));
        assert.equal(texts(state).includes("one"), extra.options !== value && Array.isArray(extra.options));
      }
      for (const extra of [asObject(value), { task_list_title: value, tasks: value }, { tasks: [value, { task: value, desc: value }, { task: "one", desc: value }] }]) {
        const state = todoState(extra, [], 7);
        assert.equal(typeof state.title, "string");
        assert.ok([...state.tasks.values()].every(({ task, desc, isDone }) => typeof task === "string" && typeof desc === "string" && isDone === false));
      }
      for (const extra of [asObject(value), { heading: value, choices: value }, { choices: [value, { reply: "yes", short_name: value, long_name: value }, { reply: value }] }]) {
        const { heading, choices } = choicesState(extra);
        assert.ok([heading, ...choices.flatMap(Object.values)].every((text) => typeof text === "string"));
      }
    }
    assert.deepEqual(choicesState({ choices: [null, { reply: "yes", short_name: 1 }] }).choices, [{ short_name: "1", long_name: "", reply: "yes" }]);
  });

  it("read what is added with members of any type", () => {
    for (const value of [...VALUES, DEEP].filter((one) => one !== null)) {
      const events = [
        { sender: 7, data: value },
        ...["question", "new_option", "vote", "new_task", "strike", "new_task_list_title", value].map((type) => ({ sender: 7, data: { type, question: value, option: value, idx: value, key: value, vote: value, task: value, desc: value, title: value, completed: value } })),
        { sender: 8, data: { type: "new_option", option: "late", idx: 1 } },
        { sender: 8, data: { type: "vote", key: "8,1", vote: 1 } },
        { sender: 8, data: { type: "new_task", task: "late", desc: "", key: 1, completed: false } },
        { sender: 8, data: { type: "strike", key: "1,8" } },
      ];
      const poll = pollState({ options: ["one"] }, events, 7);
      assert.equal(typeof poll.question, "string");
      assert.deepEqual([poll.options.get("8,1").text, [...poll.options.get("8,1").votes]], ["late", [8]]);
      const todo = todoState({ tasks: [{ task: "one" }] }, events, 7);
      assert.equal(typeof todo.title, "string");
      assert.deepEqual(todo.tasks.get("1,8"), { task: "late", desc: "", isDone: true });
    }
  });

  it("keep the keys of entries beside those that are left out, and of senders apart", () => {
    const poll = pollState({ options: [null, "one", { a: 1 }, "two"] }, [{ sender: 8, data: { type: "new_option", option: "own", idx: "1,9" } }, { sender: 8, data: { type: "new_option", option: "own", idx: 1 } }, { sender: 9, data: { type: "new_option", option: "one", idx: 1 } }], 7);
    assert.deepEqual([...poll.options.keys()], ["canned,1", "canned,3", "8,1"]);
    const todo = todoState({ tasks: [5, { task: "one" }] }, [{ sender: 8, data: { type: "new_task", task: "x", key: "1,9" } }], 7);
    assert.deepEqual([...todo.tasks.keys()], ["1,canned"]);
  });

  /** Counts the steps of `run`: looks into the lists that it wraps, and into the maps and sets that are made meanwhile. */
  function stepsOf(run) {
    let steps = 0;
    const wrap = (list) => new Proxy(list, {
      get(target, name) {
        steps += 1;
        return Reflect.get(target, name);
      },
    });
    const counting = (Base) => {
      const Counting = class extends Base {};
      const count = (names, cost) => {
        for (const name of names.filter((one) => one in Base.prototype)) {
          Counting.prototype[name] = function step(...args) {
            steps += cost(this);
            return Base.prototype[name].apply(this, args);
          };
        }
      };
      count(["get", "set", "has", "add", "delete"], () => 1);
      count(["values", "keys", "entries", "forEach", Symbol.iterator], ({ size }) => size);
      return Counting;
    };
    const real = { Map, Set };
    Object.assign(globalThis, { Map: counting(Map), Set: counting(Set) });
    try {
      run(wrap);
    } finally {
      Object.assign(globalThis, real);
    }
    return steps;
  }

  it("read twice as many entries in twice as many steps", () => {
    const read = (count) => stepsOf((wrap) => {
      const events = Array.from({ length: count }, (_, idx) => ({ sender: 8, data: { type: "new_option", option: `late ${idx}`, idx } }));
      const poll = pollState({ options: wrap(Array.from({ length: count }, (_, at) => `option ${at}`)) }, wrap(events), 7);
      assert.equal(poll.options.size, 2 * count);
      const tasks = events.map(({ data }) => ({ sender: 8, data: { type: "new_task", task: data.option, key: data.idx } }));
      const todo = todoState({ tasks: wrap(Array.from({ length: count }, (_, at) => ({ task: `task ${at}` }))) }, wrap(tasks), 7);
      assert.equal(todo.tasks.size, 2 * count);
    });
    const [once, twice] = [read(1000), read(2000)];
    assert.ok(twice <= 2 * once && once > 4000, `${once} and ${twice} steps`);
  });
});

describe("rows", () => {
  const fail = () => {
    throw new Error("no such row");
  };

  /** Runs `run`, and answers how many errors it logged. */
  function countErrors(run) {
    const { error } = console;
    let count = 0;
    console.error = () => { count += 1; };
    try {
      run();
    } finally {
      console.error = error;
    }
    return count;
  }

  /** As much of an element as lists by key need. */
  class Row {
    constructor(text) { this.text = text; }
    remove() { this.parent?.rows.splice(this.parent.rows.indexOf(this), 1); }
    replaceWith(other) { this.parent.rows[this.parent.rows.indexOf(this)] = Object.assign(other, { parent: this.parent }); }
    get nextSibling() { return this.parent.rows[this.parent.rows.indexOf(this) + 1] ?? null; }
  }
  class List {
    rows = [];
    get firstChild() { return this.rows[0] ?? null; }
    get texts() { return this.rows.map(({ text }) => text); }
    insertBefore(row, next) {
      if (row.parent) row.remove();
      row.parent = this;
      this.rows.splice(next ? this.rows.indexOf(next) : this.rows.length, 0, row);
    }
  }

  it("that cannot be drawn are replaced, logged, and drawn again once they can be", () => {
    const list = new List();
    const draw = ({ id, isBad }) => (isBad ? fail() : new Row(`row ${id}`));
    const rows = keyedList(list, { key: ({ id }) => id, create: draw, update: (_, item) => draw(item), replacement: ({ id }) => new Row(`instead of ${id}`) });
    const set = (...bad) => rows.set([1, 2, 3].map((id) => ({ id, isBad: bad.includes(id) })));
    assert.equal(countErrors(() => set(2)), 1);
    assert.deepEqual(list.texts, ["row 1", "instead of 2", "row 3"]);
    assert.equal(countErrors(() => set(1)), 1);
    assert.deepEqual(list.texts, ["instead of 1", "row 2", "row 3"]);
    assert.equal(countErrors(() => set()), 0);
    assert.deepEqual(list.texts, ["row 1", "row 2", "row 3"]);
  });
});
