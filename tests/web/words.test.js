/** The catalogues of words have what the source asks for. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { request } from "../../web/js/api/client.js";
import { LANGUAGES, bestLanguage, sentence, setLocale, setWords, t } from "../../web/js/lib/words.js";
import { catalogueNames, catalogueOf, formsOf, parametersOf, textsOfClient } from "./words.js";

const { texts, problems, outside } = textsOfClient();

it("texts of the source have their parameters, and are asked for when the language is known", () => {
  assert.deepEqual(problems, []);
});

it("words of the source are in the catalogue", () => {
  assert.deepEqual(outside, []);
});

it("there is a catalogue for each language", () => {
  assert.deepEqual(catalogueNames(), LANGUAGES.filter((language) => language !== "en").toSorted());
});

describe("catalogues are complete, without unused entries, and with the same parameters", () => {
  for (const language of catalogueNames()) {
    it(language, () => {
      const catalogue = catalogueOf(language);
      const missing = [...texts.keys()].filter((key) => !catalogue[key]);
      const unused = Object.keys(catalogue).filter((key) => !texts.has(key));
      const wrong = [];
      for (const [key, text] of texts) {
        const entry = catalogue[key];
        if (!entry) continue;
        if (typeof text === "string") {
          if (typeof entry !== "string" || parametersOf(entry).join() !== parametersOf(key).join()) wrong.push(key);
          continue;
        }
        if (Object.keys(entry).toSorted().join() !== formsOf(language).join()) wrong.push(`${key}: plural forms`);
        for (const [form, translated] of Object.entries(entry)) {
          // The form for one may say so in words.
          const mayLack = form === "one" ? ["count"] : [];
          const lacks = parametersOf(text.other).filter((name) => !parametersOf(translated).includes(name) && !mayLack.includes(name));
          const adds = parametersOf(translated).filter((name) => !parametersOf(text.other).includes(name));
          if (lacks.length + adds.length > 0) wrong.push(`${key}: ${form}`);
        }
      }
      assert.deepEqual({ missing, unused, wrong }, { missing: [], unused: [], wrong: [] });
    });
  }
});

describe("words", () => {
  it("of a language without a catalogue are those of the nearest one", () => {
    assert.equal(bestLanguage(["de-AT"]), "de");
    assert.equal(bestLanguage(["pt-pt"]), "pt-br");
    assert.equal(bestLanguage(["zh-CN"]), "zh-hans");
    assert.equal(bestLanguage(["zh-TW", "fr-CA"]), "fr");
    assert.equal(bestLanguage(["sv", "_"]), "en");
    assert.equal(bestLanguage([]), "en");
  });

  it("have plural forms, and numbers as the language writes them", () => {
    const text = { one: "{count} hour", other: "{count} hours" };
    assert.equal(t(text, { count: 1 }), "1 hour");
    setWords("pl", { "{count} hours": { one: "{count} godzina", few: "{count} godziny", many: "{count} godzin" }, "Saved.": "Zapisano." });
    setLocale("pl", []);
    assert.deepEqual([1, 2, 5, 22, 12345].map((count) => t(text, { count })), ["1 godzina", "2 godziny", "5 godzin", "22 godziny", "12\u00a0345 godzin"]);
    assert.equal(t("Saved."), "Zapisano.");
    assert.equal(t("Not there"), "Not there");
    setWords("en", {});
    setLocale("en", []);
  });

  it("say that the server cannot be reached", async () => {
    setWords("de", { "The server cannot be reached.": "Der Server ist nicht erreichbar." });
    // Without a page, there is no address to ask.
    await assert.rejects(request("GET", "/json/users"), { message: "Der Server ist nicht erreichbar." });
    setWords("en", {});
  });

  it("say the same where a proxy answers in its place, with the status of its errors", async (test) => {
    const message = "The server cannot be reached.";
    for (const [answered, status] of [[502, 502], [404, 0], [200, 0]]) {
      const { mock } = test.mock.method(globalThis, "fetch", async () => new Response("<p>Sorry</p>", { status: answered }));
      await assert.rejects(request("GET", "/json/users"), { message, status, isTransient: true });
      mock.restore();
    }
  });

  it("take texts and elements as parameters, never as words", () => {
    setWords("de", { "{name} left {channel}.": "{channel} hat {name} verloren." });
    assert.equal(t("{name} left {channel}.", { name: "{channel}", channel: "$& <b>" }), "$& <b> hat {channel} verloren.");
    const link = { tag: "a" };
    assert.deepEqual(sentence("{name} left {channel}.", { name: "Ada", channel: link }), [link, " hat ", "Ada", " verloren."]);
    setWords("en", {});
  });
});
