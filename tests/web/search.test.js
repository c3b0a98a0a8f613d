/** URLs of views and searches. Pure functions of a state: no server, no browser. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { channelLink } from "../../web/js/selectors/links.js";
import { messageFragment, requestTerms } from "../../web/js/selectors/narrow.js";
import { channelFragment, isKnownRoute, meansMessages, narrowFragment, routeOf, viewName } from "../../web/js/selectors/routes.js";
import { setWords } from "../../web/js/lib/words.js";
import { dayOfText } from "../../web/js/selectors/dates.js";
import { messageAt } from "../../web/js/selectors/message_at.js";
import { suggestions } from "../../web/js/selectors/search_suggestions.js";
import { parseSearch, searchProblem, searchText, splitDate, takeTerms } from "../../web/js/selectors/search_terms.js";
import { narrowName, searchPills } from "../../web/js/selectors/title.js";
import { topTopic } from "../../web/js/store/channels.js";
import { user, channel, storeWith, narrowRoute, toPeople } from "./states.js";

describe("routes", () => {
  it("are what the fragment says, or the home view", () => {
    const store = storeWith();
    const kinds = ["", "inbox", "recent", "recent_topics", "feed", "topics/channel/10-general", "topics/channel/99", "narrow/nonsense/1", "narrow/channel/10"].map((fragment) => routeOf(store, fragment).kind);
    assert.deepEqual(kinds, ["inbox", "inbox", "recent", "recent", "narrow", "topics", "inbox", "inbox", "narrow"]);
    store.state.user_settings.web_home_view = "recent_topics";
    assert.equal(routeOf(store, "").kind, "recent");
    store.state.user_settings.web_home_view = "all_messages";
    assert.equal(viewName(store, routeOf(store, "")), "Combined feed");
    assert.equal(viewName(store, routeOf(store, "topics/channel/10")), "Topics of #general");
    assert.deepEqual(["narrow/channel/10", "narrow/channel/77", "inbox"].map((fragment) => isKnownRoute(store, routeOf(store, fragment))), [true, false, true]);
    const [home, all] = ["home", "all"].map((operand) => ({ operator: "in", operand }));
    assert.deepEqual([[home], [all], [home, { operator: "near", operand: 5 }], [{ operator: "sender", operand: 2 }]].map((terms) => narrowFragment(store, terms)), ["feed", "narrow/in/all", "narrow/in/home/near/5", "narrow/sender/2-Bob"]);
    assert.deepEqual(["feed", "narrow/channel/10", "inbox", ""].map(meansMessages), [true, true, false, false]);
  });

  it("of visitors have messages that are the same for everyone", () => {
    const visitor = storeWith({ queue_id: null, user_settings: { web_home_view: "recent_topics" } });
    assert.deepEqual(["inbox", "feed", "recent"].map((fragment) => routeOf(visitor, fragment).kind), ["recent", "narrow", "recent"]);
    const isKnown = (operator, operand, negated = false) => isKnownRoute(visitor, narrowRoute([{ operator, operand, negated }]));
    assert.deepEqual([isKnown("channel", 10), isKnown("is", "resolved"), isKnown("in", "home"), isKnown("search", "soup"), isKnown("sender", 2)], [true, true, true, true, true]);
    assert.deepEqual([isKnown("channel", 77), isKnown("is", "starred"), isKnown("in", "all"), isKnown("in", "home", true), isKnown("dm", [2])], [false, false, false, false, false]);
    assert.equal(isKnownRoute(visitor, narrowRoute([{ operator: "channel", operand: 10 }, { operator: "is", operand: "starred" }])), false);
    assert.equal(isKnownRoute(storeWith(), narrowRoute([{ operator: "is", operand: "starred" }])), true);
  });

  it("lead everyone to the same direct message", () => {
    const links = [toPeople(5, [2, 1]), toPeople(6, [3, 1, 2]), toPeople(7, [1])].map((message) => messageFragment(storeWith(), message));
    assert.deepEqual(links, ["narrow/dm/1,2-dm/near/5", "narrow/dm/1,2,3-group/near/6", "narrow/dm/1-dm/near/7"]);
    const readBy = (user_id) => links.slice(0, 2).map((link) => routeOf(storeWith({ user_id }), link).narrow.userIds);
    assert.deepEqual([readBy(1), readBy(2)], [[[2], [2, 3]], [[1], [1, 3]]]);
  });

  it("are written into messages by name, or where a name cannot be in a link, by id", () => {
    const store = storeWith({ subscriptions: [channel(10, "general"), channel(15, "c [and] d")] });
    const links = [[10], [10, "soup"], [10, ""], [15], [15, "a b"], [10, "50 % > 40 %"]].map(([id, name]) => channelLink(store, store.channels.get(id), name));
    assert.deepEqual(links.slice(0, 3), ["#**general**", "#**general>soup**", "#**general>**"]);
    const [brackets, general] = ["#c &#91;and&#93; d", "#general &#62; 50 % &#62; 40 %"];
    const path = "#narrow/channel/15-c-.5Band.5D-d";
    assert.deepEqual(links.slice(3), [`[${brackets}](${path})`, `[${brackets} &#62; a b](${path}/topic/a.20b)`, `[${general}](#narrow/channel/10-general/topic/50.20.25.20.3E.2040.20.25)`]);
  });

  it("are named by their terms", () => {
    const store = storeWith();
    const term = (operator, operand, negated = false) => ({ operator, operand, negated });
    const names = (...narrows) => narrows.map((terms) => narrowName(store, terms));
    assert.deepEqual(names([term("channel", 10)], [term("channel", 10), term("topic", "soup")], [term("topic", ""), term("channel", 10)]), ["#general", "#general > soup", "#general > general chat"]);
    assert.deepEqual(names([term("dm", [2, 3])], [term("dm", [1])], [term("dm-including", [2])], [term("sender", 3)]), ["Bob, Cleo", "Ada (you)", "Direct messages including Bob", "Messages sent by Cleo"]);
    assert.deepEqual(names([term("in", "home")], [term("is", "starred")], [term("is", "later")], [term("has", "reaction"), term("sender", 1)]), ["Combined feed", "Starred messages", "Messages", "Reactions"]);
    const searches = [[term("is", "starred", true)], [term("is", "starred"), term("sender", 1)], [term("has", "link"), term("sender", 1)], [term("sender", 1), term("has", "reaction")], [term("has", "reaction")], [term("search", "soup")]];
    assert.deepEqual(new Set(names(...searches)), new Set(["Search results"]));
    store.state.realm_empty_topic_display_name = "no topic";
    assert.deepEqual(names([term("channel", 10), term("topic", "")]), ["#general > no topic"]);
  });

  it("lead from a channel where the user's setting says", () => {
    const store = storeWith({ unread_msgs: { streams: [{ stream_id: 10, topic: "old", unread_message_ids: [5] }], pms: [], huddles: [], mentions: [] } });
    const all = "narrow/channel/10-general";
    store.state.user_settings.web_channel_default_view = 1;
    assert.equal(channelFragment(store, 10), all, "its topics are not known yet");
    store.topics.set(10, [{ name: "new", max_id: 9 }, { name: "old", max_id: 5 }]);
    const leads = [1, 2, 3, 4].map((view) => {
      store.state.user_settings.web_channel_default_view = view;
      return channelFragment(store, 10);
    });
    assert.deepEqual(leads, [`${all}/topic/new`, all, "topics/channel/10-general", `${all}/topic/old`]);
    const unread = { streams: ["old", "older"].map((name, at) => ({ stream_id: 10, topic: name, unread_message_ids: [5 - at] })), pms: [], huddles: [], mentions: [] };
    const leadsWith = (isMuted, policies) => {
      const own = storeWith({ unread_msgs: unread, subscriptions: [channel(10, "general", { is_muted: isMuted })], user_topics: policies.map(([topic_name, visibility_policy]) => ({ stream_id: 10, topic_name, visibility_policy })) });
      own.topics.set(10, ["new", "old", "older"].map((name, at) => ({ name, max_id: 9 - at })));
      return [1, 4].map((view) => {
        own.state.user_settings.web_channel_default_view = view;
        return channelFragment(own, 10).slice(`${all}/topic/`.length);
      });
    };
    assert.deepEqual(leadsWith(false, [["new", 1], ["old", 1]]), ["older", "older"]);
    assert.deepEqual(leadsWith(true, [["older", 3]]), ["older", "older"]);
    assert.deepEqual(leadsWith(true, [["new", 1]]), ["old", "old"]);
    assert.deepEqual(leadsWith(false, [["new", 1], ["old", 1], ["older", 1]]), ["new", "new"]);
    // Of a muted channel without policies only one topic is looked at, however many there are.
    let looks = 0;
    const muted = storeWith({ subscriptions: [channel(10, "general", { is_muted: true })], user_topics: [{ stream_id: 11, topic_name: "x", visibility_policy: 3 }] });
    muted.topics.set(10, Array.from({ length: 50 }, (_, at) => ({ max_id: 90 - at, get name() { looks += 1; return `topic ${at}`; } })));
    assert.deepEqual([topTopic(muted, 10), looks], ["topic 0", 1]);
  });
});

describe("a search", () => {
  const store = storeWith({ realm_users: [user(1, "Ada"), user(2, "Bo Diddley"), user(3, "Bo Derek"), user(4, "Cleo")] });

  it("is shown term by term, each of which can be left out", () => {
    const terms = parseSearch(store, "sender:cleo -channel:general has:link soup of the day");
    assert.deepEqual(searchPills(store, [...terms, { operator: "near", operand: 5 }]).map(({ label, others }) => [label, others.length]), [["sender: Cleo", 3], ["not channel: general", 3], ["has: link", 3], ["“soup of the day”", 3]]);
    setWords("de", { "not {term}": "nicht {term}" });
    assert.equal(searchPills(store, terms)[1].label, "nicht channel: general");
    setWords("en", {});
  });

  it("keeps what it understands as terms, and the rest as words", () => {
    const taken = ({ terms, rest }) => [...terms.map(({ operator, operand, negated }) => `${negated ? "-" : ""}${operator} ${operand}`), rest];
    assert.deepEqual(taken(takeTerms(store, "soup channel:gen -sender:cleo of before:2026-11-24 channel:e sender:")), ["channel 10", "-sender 4", "before 2026-11-24", "soup of channel:e sender:"]);
    assert.deepEqual(parseSearch(store, "on:2026-11-24 soup").map(({ operator, operand }) => [operator, operand]), [["date", "2026-11-24"], ["search", "soup"]]);
    const { others, seconds, isBefore } = splitDate(parseSearch(store, "until:2026-11-24 channel:design"));
    assert.deepEqual([others.map(({ operator }) => operator), seconds, isBefore], [["channel"], new Date(2026, 10, 24).getTime() / 1000, true]);
    assert.deepEqual(suggestions(store, "date:yes").map(({ text }) => text), ["date:yesterday "]);
    assert.deepEqual(suggestions(store, "date:2025-03").map(({ text, detail }) => [text, detail]), [["date:2025-03 ", "2025-03-01"]]);
  });

  it("knows days, and finds where they begin with few requests", async () => {
    const now = new Date(2026, 10, 24, 15, 30);
    const day = (text) => { const seconds = dayOfText(text, now); return seconds === null ? null : new Date(seconds * 1000).toDateString(); };
    assert.deepEqual(["today", "Yesterday", "monday", "tuesday", "2026-02-28", "2026-02", "2026"].map(day), ["Tue Nov 24 2026", "Mon Nov 23 2026", "Mon Nov 23 2026", "Tue Nov 17 2026", "Sat Feb 28 2026", "Sun Feb 01 2026", "Thu Jan 01 2026"]);
    assert.deepEqual(["2026-02-30", "soon", "", "26-1-1"].map(day), [null, null, null, null]);
    // Ten thousand messages with gaps between their ids, most of them of late.
    const all = Array.from({ length: 10_000 }, (_, index) => ({ id: 7 + index * 3 + (index % 2), timestamp: 1_000_000 + Math.floor(index ** 0.5 * 1000) }));
    let requests = 0;
    const load = async ({ anchor, num_before, num_after }) => {
      requests++;
      const at = anchor === "oldest" ? 0 : anchor === "newest" ? all.length : all.findIndex(({ id }) => id >= anchor);
      return all.slice(Math.max(0, at - num_before), at + num_after);
    };
    for (const seconds of [0, 4, 1234, 5000, 9998].flatMap((at) => [all[at].timestamp, all[at].timestamp + 1]).concat(all.at(-1).timestamp)) {
      requests = 0;
      assert.equal(await messageAt(load, seconds, false), all.find(({ timestamp }) => timestamp >= seconds).id, String(seconds));
      assert.equal(await messageAt(load, seconds, true), all.findLast(({ timestamp }) => timestamp < seconds)?.id ?? null, String(seconds));
      assert.ok(requests < 40, `${requests} requests`);
    }
    assert.deepEqual([await messageAt(load, 5, false), await messageAt(load, 5, true)], [7, null]);
    assert.deepEqual([await messageAt(load, 9_999_999, false), await messageAt(load, 9_999_999, true)], [null, all.at(-1).id]);
    assert.equal(await messageAt(async () => [], 5, false), null);
  });

  it("takes names of several words, and spaces in quotes", () => {
    const terms = (text) => parseSearch(store, text).map(({ operator, operand }) => `${operator} ${operand}`);
    assert.deepEqual(terms("sender:Bo Diddley soup"), ["sender 2", "search soup"]);
    assert.deepEqual(terms("dm:bo derek,bo diddley soup"), ["dm 2,3", "search soup"]);
    assert.deepEqual(terms("sender:cleo diddley"), ["sender 4", "search diddley"]);
    assert.deepEqual(terms('channel:"general" topic:"long run" soup'), ["channel 10", "topic long run", "search soup"]);
    assert.deepEqual(terms("streams:public soup"), ["channels public", "search soup"]);
    assert.deepEqual(takeTerms(store, "sender:Bo Diddley ").rest, "");
    const namesakes = storeWith({ realm_users: [user(1, "Ada"), { ...user(2, "Bo"), email: "bo@x.org" }, { ...user(3, "Bo"), email: "bo@y.org" }] });
    assert.deepEqual(suggestions(namesakes, "sender:bo").map(({ label, detail }) => [label, detail]), [["sender:bo@x.org", "Bo"], ["sender:bo@y.org", "Bo"]]);
    assert.deepEqual(["from:cl", "stream:gen", "pm-with:cl"].map((text) => suggestions(store, text)[0]?.text), ["from:Cleo ", "stream:general ", "pm-with:Cleo "]);
    assert.deepEqual(["fro", "-str", "pm-w"].map((text) => suggestions(store, text)[0]?.text), ["sender:", "-channel:", "dm:"]);
    assert.deepEqual(suggestions(store, "has:link dm:Bo D").map(({ text }) => text), ["has:link dm:Bo+Diddley ", "has:link dm:Bo+Derek "]);
  });

  it("needs no accents, and takes a part of a name from the beginning of a word", () => {
    const named = storeWith({ realm_users: [user(1, "Ada"), user(2, "José Luis")], subscriptions: [channel(10, "design"), channel(11, "codesign")] });
    const operands = ["sender:jose", "sender:luis", "channel:des"].map((text) => parseSearch(named, text)[0].operand);
    assert.deepEqual([operands, searchProblem(named, "sender:uis") === null], [[2, 2, 10], false]);
  });

  it("leads to the same people, channels and topics again, whatever they are called", () => {
    const odd = storeWith({ realm_users: [user(1, "Ada"), user(2, "Bo"), user(3, "bo"), user(4, "King, Billie")], subscriptions: [channel(10, "general"), channel(11, "c++"), channel(13, "13 monkeys")] });
    const name = 'Say "hi" to “100%” + more';
    odd.topics.set(10, [{ name, max_id: 1 }]);
    for (const [operator, operand] of [["sender", 2], ["sender", 3], ["dm", [3, 4]], ["dm-including", [4]], ["channel", 11], ["channel", 13], ["topic", name], ["topic", "C++  tips"], ["topic", ""]]) {
      const terms = [{ operator, operand }];
      assert.deepEqual(takeTerms(odd, searchText(odd, terms)), { terms, rest: "" });
    }
    for (const [typed, operand] of [["channel:c", 11], ["sender:king", 4], ["sender:bo", 2], ["topic:say", name]]) {
      const [{ text }] = suggestions(odd, typed);
      assert.deepEqual([searchProblem(odd, text), takeTerms(odd, text).terms.map((term) => term.operand)], [null, [operand]], text);
    }
    assert.deepEqual(parseSearch(odd, 'topic:"C++ tips"'), [{ operator: "topic", operand: "C++ tips" }]);
    assert.equal(searchPills(odd, [{ operator: "topic", operand: "" }])[0].label, "topic: general chat");
  });

  it("asks for one person in each term, as the server takes them", () => {
    const sent = requestTerms([{ operator: "dm-including", operand: [2, 3] }, { operator: "dm", operand: [2, 3] }, { operator: "near", operand: 5 }]);
    assert.deepEqual(sent.map(({ operator, operand }) => [operator, operand]), [["dm-including", 2], ["dm-including", 3], ["dm", [2, 3]]]);
  });

  it("says what it does not understand, instead of looking for it as words", () => {
    const said = (text) => searchProblem(store, text)?.split(/[.:“]/)[0] ?? null;
    assert.deepEqual(["sender:bo", "from:nobody", "before:2026-13-01", "channel:e", "colour:red", "topic:"].map(said), ["", "", "", "", "There is no search operator ", "Please write something after "]);
    assert.match(searchProblem(store, "since:long ago"), /^“long” is not a day\. Write it as \d{4}-\d\d-\d\d/);
    assert.match(searchProblem(store, "sender:bo"), /^“bo” matches no person, or several/);
    assert.deepEqual(["sender:cleo soup", "sender:diddley", "\"colour:red\"", "https://example.com", "at 12:30", "-is:muted x"].map((text) => searchProblem(store, text)), [null, null, null, null, null, null]);
  });
});
