/** Edits of a text: marks, blocks, lists and links, in the place of what is selected. Pure functions: no server, no browser. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { actionOfEnter, asBlock, asCode, asFormula, asList, inBlock, isInCode, linked, nextItem, openFences, pastedLink, sendHint, wrapped } from "../../web/js/lib/text_edits.js";
import { fenced, hasEnd, placeOf } from "../../web/js/lib/text_edits_on_demand.js";

describe("edits of a text", () => {
  /** A text with the selection between bars, or the cursor at one. */
  const marked = (text) => {
    const [before, inside, after] = text.split("|");
    return after === undefined ? { value: before + inside, start: before.length, end: before.length } : { value: before + inside + after, start: before.length, end: before.length + inside.length };
  };
  const applied = (text, edit) => {
    const from = marked(text);
    const { start, end, text: put, select } = edit(from);
    const value = from.value.slice(0, start) + put + from.value.slice(end);
    const [at, to] = select ?? [start + put.length, start + put.length];
    return at === to ? `${value.slice(0, at)}|${value.slice(at)}` : `${value.slice(0, at)}|${value.slice(at, to)}|${value.slice(to)}`;
  };

  it("put marks around what is selected, and take them away", () => {
    const bold = (selected) => wrapped(selected, "**", "**", "bold");
    assert.equal(applied("a |b| c", bold), "a **|b|** c");
    assert.equal(applied("a **|b|** c", bold), "a |b| c");
    assert.equal(applied("a |", bold), "a **|bold|**");
    assert.equal(applied("|a|", asCode), "`|a|`");
    assert.equal(applied("|a\nb|", asCode), "```\n|a\nb|\n```");
  });

  it("leave spaces outside of marks, and tell bold from italic", () => {
    const [bold, italic] = ["**", "*"].map((mark) => (selected) => wrapped(selected, mark, mark, "words"));
    assert.deepEqual(["a |b |c", "a| b|", "a | |b", "|b\n|"].map((text) => applied(text, bold)), ["a **|b|** c", "a **|b|**", "a  **|words|**b", "**|b|**\n"]);
    assert.deepEqual(["**|b|**", "***|b|***", "*|b|*", "|**b**|", "|***b***|", "|*b*|"].map((text) => applied(text, italic)), ["***|b|***", "**|b|**", "|b|", "*|**b**|*", "|**b**|", "|b|"]);
    assert.deepEqual(["***|b|***", "*|b|*", "|**b**|", "|***b***|", "|**a** and **b**|"].map((text) => applied(text, bold)), ["*|b|*", "***|b|***", "|b|", "|*b*|", "**|**a** and **b**|**"]);
    assert.deepEqual(["|`a`|", "|`a` and `b`|"].map((text) => applied(text, asCode)), ["|a|", "`|`a` and `b`|`"]);
  });

  it("put blocks with a fence on lines of their own", () => {
    const quote = (selected) => inBlock(selected, "quote", "words");
    assert.deepEqual(["|", "a|", "a\n|", "a|b"].map((text) => applied(text, quote)), ["```quote\n|words|\n```", "a\n```quote\n|words|\n```", "a\n```quote\n|words|\n```", "a\n```quote\n|words|\n```\nb"]);
    assert.deepEqual(["a |b| c", "a\n|b\n|c"].map((text) => applied(text, quote)), ["a \n```quote\n|b|\n```\n c", "a\n```quote\n|b|\n```\nc"]);
    assert.deepEqual(["a\n```quote\n|b|\n```", "|```quote\nb\n```|"].map((text) => applied(text, quote)), ["a\n|b|", "|b|"]);
    assert.deepEqual(["so: |a\nb|, done", "|a\n|b"].map((text) => applied(text, asCode)), ["so: \n```\n|a\nb|\n```\n, done", "`|a|`\nb"]);
    // The first line of code has an indentation too.
    assert.deepEqual(["|  a\n    b\n|c", "x\n|\n\n  a\nb|"].map((text) => applied(text, asCode)), ["```\n|  a\n    b|\n```\nc", "x\n\n\n```\n|  a\nb|\n```"]);
    assert.equal(applied("```\n|  a\n    b|\n```", asCode), "|  a\n    b|");
  });

  it("put blocks around other blocks, and take them away", () => {
    const quote = (selected) => inBlock(selected, "quote", "words");
    const [bare, quoted] = ["|a\n```\nb\n```|", "````quote\n|a\n```\nb\n```|\n````"];
    assert.deepEqual([bare, quoted, "|````quote\na\n```\nb\n```\n````|"].map((text) => applied(text, quote)), [quoted, bare, bare]);
    assert.deepEqual([bare, "````\n|a\nb|\n````", "|```js\na\n```|"].map((text) => applied(text, asCode)), [quoted.replace("quote", ""), "|a\nb|", "````\n|```js\na\n```|\n````"]);
  });

  it("put formulas of several lines into a block", () => {
    assert.deepEqual(["|", "so |x| is", "|x = 1\ny = 2|"].map((text) => applied(text, asFormula)), ["$$|x^2|$$", "so $$|x|$$ is", "```math\n|x = 1\ny = 2|\n```"]);
    assert.equal(applied("```math\n|x = 1\ny = 2|\n```", asFormula), "|x = 1\ny = 2|");
  });

  it("select what is missing of a link", () => {
    assert.deepEqual(["|", "see |here |", "|https://example.com|", "[|here|](url)"].map((text) => applied(text, linked)), ["[|text|](url)", "see [here](|url|) ", "[|text|](https://example.com)", "|here|"]);
  });

  it("put marks before lines, and blocks on lines of their own", () => {
    const bullets = (selected) => asList(selected, () => "* ");
    const numbers = (selected) => asList(selected, (index) => `${index + 1}. `);
    assert.equal(applied("x\na|b\nc|d\ny", bullets), "x\n* ab\n* cd|\ny");
    assert.deepEqual(["|a\nb|", "* a|", "|* a\n  - b|", "1. a|", "|1. a\nb|"].map((text) => applied(text, numbers)), ["1. a\n2. b|", "1. a|", "1. a\n  2. b|", "a|", "1. a\n2. b|"]);
    assert.deepEqual(["* a|", "|- a\n  * b|", "2. a|", "|* a\nb|"].map((text) => applied(text, bullets)), ["a|", "a\n  b|", "* a|", "* a\n* b|"]);
    assert.equal(applied("a|", (selected) => asBlock(selected, "B")), "a\nB|");
    assert.equal(applied("a\n|", (selected) => asBlock(selected, "B")), "a\nB|");
    assert.deepEqual([fenced("a"), fenced("```\na\n```", "quote")], ["```\na\n```\n", "````quote\n```\na\n```\n````\n"]);
    assert.equal(applied("|", (selected) => asBlock(selected, "B")), "B|");
  });

  it("continue lists, and end them after an empty item", () => {
    assert.equal(applied("* one|", nextItem), "* one\n* |");
    assert.equal(applied("  9. nine|", nextItem), "  9. nine\n  10. |");
    assert.equal(applied("- one\n- |", nextItem), "- one\n|");
    assert.deepEqual(["plain|", "* |one|", "```\n- one|\n```"].map((text) => nextItem(marked(text))), [null, null, null]);
    assert.equal(applied("```quote\n- one|\n```", nextItem), "```quote\n- one\n- |\n```");
  });

  it("make links of pasted URLs, and replace what was uploaded in its place", () => {
    assert.equal(applied("|here|", (selected) => pastedLink(selected, "https://example.com/x")), "[here](https://example.com/x)|");
    assert.deepEqual([pastedLink(marked("a|"), "https://example.com"), pastedLink(marked("|a|"), "two words")], [null, null]);
    // It takes the place of an address.
    assert.deepEqual(["[here](|url|)", "|https://example.com/old|", "```\n|a|\n```"].map((text) => pastedLink(marked(text), "https://example.com/x")), [null, null, null]);
    assert.deepEqual([isInCode(marked("```\na|")), isInCode(marked("```\na\n```\n|"))], [true, false]);
    assert.deepEqual(["````\n```\n|", "```quote\n|", "```quote\n``` py\n|", "a ```\n|"].map((text) => isInCode(marked(text))), [true, false, true, false]);
    assert.deepEqual(["~~~ .spoiler x\n```\n~~~", "```quotes\n```js\n", "```a`\n``` \n", "```(\n"].map((text) => openFences(text).map(({ fence }) => fence)), [["~~~", "```"], ["```"], ["```"], []]);
    const ends = ["```py|\n\n```", "```py|\na\n```\n```js\nb\n```", "```py|", "```py|\n```js\nb\n```", "```py|\n\n```\nb\n```", "````py|\n```"];
    assert.deepEqual(ends.map((text) => hasEnd(marked(text).value, marked(text).start, text.match(/^`+/)[0])), [true, true, false, false, false, false]);
    assert.deepEqual(placeOf(marked("[Up]() and|"), "[Up]()", "[x](y)"), { at: 0, mode: "end" });
    assert.deepEqual(placeOf(marked("|a [Up]()"), "[Up]()", "[x](y)"), { at: 2, mode: "preserve" });
    assert.equal(placeOf(marked("gone|"), "[Up]()", "[x](y)"), null);
  });

  it("know what Enter does", () => {
    const keys = (...held) => Object.fromEntries(["shiftKey", "ctrlKey", "metaKey", "altKey"].map((name) => [name, held.includes(name)]));
    const actions = (sends) => [[], ["shiftKey"], ["ctrlKey"], ["metaKey"], ["altKey"]].map((held) => actionOfEnter(keys(...held), sends)).join();
    assert.equal(actions(false), "item,line,send,send,line");
    assert.equal(actions(true), "send,line,send,send,send");
    assert.deepEqual([sendHint(false, false), sendHint(true, false), sendHint(true, true)], ["Ctrl+Enter sends", "Enter sends, Shift+Enter begins a line", ""]);
  });
});
