/** Lists of conversations and people, and what they count. Pure functions of a state: no server, no browser. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemo } from "../../web/js/lib/memo.js";
import { distinct, effect, flush, scope, signal } from "../../web/js/lib/signal.js";
import { topicTerms } from "../../web/js/selectors/narrow.js";
import { emptyInboxText, inboxRows, isNew, recentRows } from "../../web/js/selectors/overview_rows.js";
import { peopleOf, peopleRows } from "../../web/js/selectors/people_rows.js";
import { routeOf } from "../../web/js/selectors/routes.js";
import { noticePlace } from "../../web/js/selectors/notice_place.js";
import { channelSections } from "../../web/js/selectors/sidebar_items.js";
import { directRows, sectionRows, topicRows, viewRows } from "../../web/js/selectors/sidebar_rows.js";
import { titleCount } from "../../web/js/selectors/title.js";
import { directKey, topicKey, topicOfKey } from "../../web/js/store/conversations.js";
import { applyEvents } from "../../web/js/store/events.js";
import { createReplies, createSubscriberLists } from "../../web/js/store/fetching.js";
import { addUnread, removeUnread, unreadCounts, unreadOfChannel } from "../../web/js/store/unread.js";
import { user, channel, storeWith, inTopic, toPeople, narrowRoute } from "./states.js";

describe("the left column", () => {
  const unread = { streams: [{ stream_id: 10, topic: "soup", unread_message_ids: [1, 2] }, { stream_id: 11, topic: "blue", unread_message_ids: [3] }], pms: [{ other_user_id: 2, unread_message_ids: [4] }], huddles: [], mentions: [2] };

  it("has views with counts, of which one is current", () => {
    const store = storeWith({ unread_msgs: unread, scheduled_messages: [{}], user_settings: { starred_message_counts: true }, starred_messages: [1] });
    const rows = viewRows(store, { fragment: "", route: routeOf(store, ""), drafts: 2 });
    assert.deepEqual(rows.filter(({ count }) => count).map(({ label, count }) => [label, count]), [["Inbox", 4], ["Mentions", 1], ["Starred", 1], ["Drafts", 2], ["Scheduled", 1]]);
    assert.deepEqual(rows.filter(({ isCurrent }) => isCurrent).map(({ label }) => label), ["Inbox"]);
    store.state.user_settings.web_home_view = "all_messages";
    const current = (fragment) => viewRows(store, { fragment, route: routeOf(store, fragment), drafts: 0 }).filter(({ isCurrent }) => isCurrent).map(({ label }) => label);
    assert.deepEqual(["", "all_messages", "narrow/is/starred", "narrow/channel/10"].map(current), [["Combined feed"], ["Combined feed"], ["Starred"], []]);
    assert.deepEqual(viewRows(storeWith(), { fragment: "narrow/is/starred", route: routeOf(store, ""), drafts: 0 }).map(({ label }) => label), ["Inbox", "Recent conversations", "Combined feed", "Mentions", "Starred"]);
  });

  it("has the views that the user chose, and for visitors those without an account", () => {
    const views = [{ fragment: "feed", is_pinned: false, name: null }, { fragment: "narrow/has/link", is_pinned: true, name: "Links" }, { fragment: "narrow/has/image", is_pinned: false, name: "Pictures" }];
    const labels = (more) => viewRows(storeWith(more), { fragment: "", route: { kind: "inbox" }, drafts: 0 }).map(({ label }) => label);
    assert.deepEqual(labels({ navigation_views: views }), ["Inbox", "Recent conversations", "Mentions", "Starred", "Links"]);
    assert.deepEqual(labels({ queue_id: null }), ["Recent conversations", "Combined feed"]);
  });

  it("has the latest direct conversations, the unread ones and the open one", () => {
    const people = Array.from({ length: 30 }, (_, at) => user(100 + at, `Person ${at}`));
    const recent = people.map(({ user_id }, at) => ({ user_ids: [user_id], max_message_id: 1000 - at }));
    const store = storeWith({ realm_users: [user(1, "Ada"), user(2, "Bob"), ...people], recent_private_conversations: recent, unread_msgs: unread });
    const rows = directRows(store, narrowRoute([{ operator: "dm", operand: [129] }]), false);
    assert.deepEqual([rows.length, rows.at(-1).key, rows.at(-2).name, rows.find(({ isCurrent }) => isCurrent).name], [11, "more", "Bob", "Person 29"]);
    assert.equal(directRows(store, { kind: "inbox" }, true).length, 31);
    store.unread = new Map(people.map(({ user_id }) => [directKey(store, [user_id]), new Set([user_id])]));
    assert.equal(directRows(store, { kind: "inbox" }, false).length, 16, "15 and what shows the others");
  });

  it("has channels in sections; of folded ones only the open channel", () => {
    const store = storeWith({ unread_msgs: unread, subscriptions: [channel(10, "general", { pin_to_top: true }), channel(11, "design", { is_muted: true })] });
    const rows = (folded, route = { kind: "inbox" }) => sectionRows(store, channelSections(store), { route, folded: new Set(folded), hrefOf: (id) => `c/${id}` });
    assert.deepEqual(rows([]).map(({ key, hasHead, rows: all }) => [key, hasHead, ...all.map(({ name, count, isQuiet, hasMention }) => [name, count, isQuiet, hasMention])]), [["pinned", true, ["general", 2, false, true]], ["other", true, ["design", 0, true, false]]]);
    store.state.user_settings.web_stream_unreads_count_display_policy = 1;
    assert.deepEqual(rows([]).flatMap(({ rows: all }) => all.map(({ name, count, isQuiet }) => [name, count, isQuiet])), [["general", 2, false], ["design", 1, true]]);
    assert.deepEqual(rows(["pinned"]).map(({ rows: all }) => all.length), [0, 1]);
    assert.deepEqual(rows(["pinned"], narrowRoute([{ operator: "channel", operand: 10 }]))[0].rows.map(({ isCurrent }) => isCurrent), [true]);
    store.state.user_settings.web_stream_unreads_count_display_policy = 3;
    assert.deepEqual(rows([]).flatMap(({ rows: all }) => all.map(({ count }) => count)), [0, 0]);
  });

  it("has channels by folder, unless the user does not want that", () => {
    const folders = [{ id: 5, name: "Work", is_archived: false }, { id: 6, name: "Old", is_archived: true }];
    const store = storeWith({ channel_folders: folders, subscriptions: [channel(10, "general"), channel(11, "design", { folder_id: 5 }), channel(13, "attic", { folder_id: 6 })] });
    const sections = () => channelSections(store).map(({ title, channels }) => [title, ...channels.map(({ name }) => name)]);
    assert.deepEqual(sections(), [["Work", "design"], ["Other channels", "attic", "general"]]);
    store.state.user_settings.web_left_sidebar_show_channel_folders = false;
    assert.deepEqual(sections(), [["Channels", "attic", "design", "general"]]);
  });

  it("is filtered by words in any order, without case and accents", () => {
    const store = storeWith({ subscriptions: [channel(10, "Büro Köln"), channel(11, "design")] });
    assert.deepEqual(["buro", "KÖLN bü", "sig", "x"].map((filter) => channelSections(store, filter).flatMap(({ channels }) => channels.map(({ name }) => name))), [["Büro Köln"], ["Büro Köln"], ["design"], []]);
  });

  it("demotes inactive channels always, never, or from 30 channels on", () => {
    const demoted = (count, policy) => {
      const subscriptions = Array.from({ length: count }, (_, at) => channel(10 + at, `channel ${at}`, { is_recently_active: at > 0 }));
      return channelSections(storeWith({ subscriptions, user_settings: { demote_inactive_streams: policy } })).at(-1).key === "inactive";
    };
    assert.deepEqual([[29, 1], [30, 1], [2, 2], [30, 3]].map(([count, policy]) => demoted(count, policy)), [false, true, true, false]);
  });

  it("has inactive channels at the end, but not those that the user has just joined", () => {
    const store = storeWith({ user_settings: { demote_inactive_streams: 2 }, subscriptions: [channel(10, "general"), channel(11, "design", { is_recently_active: false })] });
    const sections = () => channelSections(store).map(({ key, channels }) => [key, ...channels.map(({ name }) => name)]);
    assert.deepEqual(sections(), [["other", "general"], ["inactive", "design"]]);
    applyEvents(store, [{ type: "subscription", op: "add", subscriptions: [channel(12, "secret garden", { is_recently_active: false })] }], { matches: () => false });
    assert.deepEqual(sections(), [["other", "general", "secret garden"], ["inactive", "design"]]);
  });

  it("has the topics of the open channel", () => {
    const store = storeWith({ unread_msgs: unread });
    store.topics.set(10, Array.from({ length: 20 }, (_, at) => ({ name: `topic ${at}`, max_id: 100 - at })));
    const rows = topicRows(store, narrowRoute(topicTerms(10, "just begun")), false);
    assert.deepEqual([rows[0].name, rows[0].isCurrent, rows.length, ...rows.slice(-2).map(({ key }) => key)], ["just begun", true, 10, "more", "new"]);
    assert.equal(topicRows(store, narrowRoute(topicTerms(10, "topic 0")), true).length, 21);
    assert.deepEqual(topicRows(store, narrowRoute(topicTerms(10, "TOPIC 3")), true).filter(({ isCurrent }) => isCurrent).map(({ name }) => name), ["topic 3"]);
    for (const at of [0, 1, 2]) store.userTopics.set(topicKey(10, `topic ${at}`), 1);
    const names = topicRows(store, narrowRoute(topicTerms(10, "Topic 15")), false).map(({ name }) => name);
    assert.deepEqual([names[0], names[7], names[8], names.length], ["topic 3", "topic 10", "topic 15", 11]);
    assert.deepEqual([topicRows(store, { kind: "inbox" }, false), topicRows(store, narrowRoute(topicTerms(99, "x")), false)], [[], []]);
    // In a muted channel, unmuted and followed topics come first.
    store.channels.get(10).is_muted = true;
    for (const [at, policy] of [[5, 2], [6, 3]]) store.userTopics.set(topicKey(10, `topic ${at}`), policy);
    const first = topicRows(store, narrowRoute([{ operator: "channel", operand: 10 }]), false).slice(0, 3);
    assert.deepEqual(first.map(({ name, isFollowed, isMuted }) => [name, isFollowed, isMuted]), [["topic 5", false, false], ["topic 6", true, false], ["topic 3", false, true]]);
  });
});

describe("the right column", () => {
  const people = [user(1, "Ada"), user(2, "Bob"), user(3, "Cleo"), user(4, "Dora"), user(5, "Robot", { is_bot: true })];
  const names = (list) => list.map(({ user: { full_name } }) => full_name);

  it("has the people of the open conversation first, and then the others", () => {
    const store = storeWith({ realm_users: people, presences: {} });
    store.presences.set(4, { active_timestamp: 990 });
    const inChannel = narrowRoute([{ operator: "channel", operand: 10 }]);
    assert.equal(peopleOf(store, inChannel), null, "its people are not known yet");
    store.subscribers.set(10, new Set([1, 2, 4, 5]));
    const { title, ids } = peopleOf(store, inChannel);
    assert.equal(title, "In this channel");
    const shown = (filter, here = ids) => peopleRows(store, { filter, now: 1000, here });
    assert.deepEqual([names(shown("").here), names(shown("").others)], [["Ada", "Dora", "Bob"], ["Cleo"]]);
    assert.deepEqual([names(shown("cl").here), names(shown("cl").others)], [[], ["Cleo"]]);
    assert.deepEqual(names(shown("", null).others), ["Ada", "Dora", "Bob", "Cleo"]);
    store.users.get(3).full_name = "山田 Zoë";
    assert.deepEqual(["zoe", "zo 山", "田", "oe"].map((filter) => names(shown(filter, null).others)), [["山田 Zoë"], ["山田 Zoë"], ["山田 Zoë"], []]);
    store.users.get(3).full_name = "Cleo Smith-Jones";
    assert.deepEqual(["smith-j", "jones", "smith-jones cl", "mith-j"].map((filter) => names(shown(filter, null).others).length), [1, 1, 1, 0]);
    store.users.get(3).full_name = "Cleo";
    const direct = peopleOf(store, narrowRoute([{ operator: "dm", operand: [3] }]));
    assert.deepEqual([direct.title, [...direct.ids]], ["In this conversation", [3, 1]]);
    assert.equal(peopleOf(store, { kind: "inbox" }), null);
  });

  it("shows those who are offline in a large organization only where they belong to the conversation", () => {
    const store = storeWith({ realm_users: [user(1, "Ada"), ...Array.from({ length: 700 }, (_, at) => user(10 + at, `Person ${at}`))], presences: {} });
    const { here, others, hidden } = peopleRows(store, { filter: "", now: 1000, here: new Set([1, 15, 16]) });
    assert.deepEqual([names(here), names(others), hidden], [["Ada", "Person 5", "Person 6"], [], 698]);
    assert.deepEqual(names(peopleRows(store, { filter: "person 699", now: 1000, here: null }).others), ["Person 699"]);
    assert.equal(peopleRows(store, { filter: "pers", now: 1000, here: null }).others.length, 700);
  });

  it("follows who comes and goes", async () => {
    const store = storeWith();
    let requests = 0;
    const need = createSubscriberLists(store, createReplies(store), async () => { requests += 1; return { subscribers: [1, 2] }; });
    await Promise.all([need(10), need(10)]);
    await need(10);
    assert.equal(requests, 1);
    applyEvents(store, [
      { type: "subscription", op: "peer_add", stream_ids: [10, 11], user_ids: [3] },
      { type: "subscription", op: "peer_remove", stream_ids: [10], user_ids: [2] },
      { type: "subscription", op: "remove", subscriptions: [{ stream_id: 10 }] },
    ], { matches: () => false });
    assert.deepEqual([...store.subscribers], [[10, new Set([3])]]);
  });
});

describe("topics with a setting", () => {
  it("are written as people write them", () => {
    const store = storeWith({ user_topics: [{ stream_id: 10, topic_name: "V1/Plan", visibility_policy: 3 }] });
    applyEvents(store, [{ type: "user_topic", stream_id: 11, topic_name: "Über uns", visibility_policy: 1 }], { matches: () => false });
    assert.deepEqual([...store.userTopics.keys()].map(topicOfKey), [{ streamId: 10, topic: "V1/Plan" }, { streamId: 11, topic: "Über uns" }]);
    assert.deepEqual(topicOfKey("channel/12/a/b"), { streamId: 12, topic: "a/b" });
  });
});

describe("what is counted", () => {
  it("is made again only where it changes", () => {
    const store = storeWith({ unread_msgs: { streams: [{ stream_id: 10, topic: "soup", unread_message_ids: [1, 2] }, { stream_id: 11, topic: "blue", unread_message_ids: [3] }], pms: [], huddles: [], mentions: [2] } });
    const [memo, folded] = [createMemo(), new Set()];
    const sections = () => inboxRows(store, { filter: "", topics: "all", folded }, memo);
    const [design, general] = sections();
    addUnread(store, topicKey(11, "blue"), inTopic(9, 11, "blue"), []);
    const [laterDesign, laterGeneral] = sections();
    assert.deepEqual([design.rows[0].count, laterDesign.rows[0].count], [1, 2]);
    assert.equal(laterGeneral.rows[0], general.rows[0], "the same object, which lists skip");
    assert.equal(general.rows[0].hasMention, true);
    const columns = createMemo();
    const channels = () => sectionRows(store, channelSections(store), { route: { kind: "inbox" }, folded, hrefOf: String }, columns).flatMap(({ rows }) => rows);
    const before = channels();
    removeUnread(store, [9]);
    assert.deepEqual(channels().map((row, at) => row === before[at]), [false, true]);
  });

  it("has mentions that an edit adds, and not those that it removes", () => {
    const store = storeWith({ unread_msgs: { streams: [{ stream_id: 10, topic: "soup", unread_message_ids: [1] }], pms: [], huddles: [], mentions: [] } });
    const edit = (message_id, ...flags) => {
      applyEvents(store, [{ type: "update_message", message_id, message_ids: [message_id], stream_id: 10, content: "x", rendered_content: "x", flags }], { matches: () => false });
      return [...store.mentions];
    };
    assert.deepEqual([edit(1, "mentioned"), edit(1), edit(1, "stream_wildcard_mentioned"), edit(2, "read", "mentioned")], [[1], [], [1], [1]]);
    store.userTopics.set(topicKey(10, "soup"), 1);
    assert.deepEqual(edit(1, "stream_wildcard_mentioned"), []);
  });

  it("has no mentions in channels that the user left", () => {
    const store = storeWith({ unread_msgs: { streams: [{ stream_id: 10, topic: "soup", unread_message_ids: [1] }], pms: [{ other_user_id: 2, unread_message_ids: [2] }], huddles: [], mentions: [1, 2] } });
    const counted = (...events) => {
      applyEvents(store, events, { matches: () => false });
      const { mentions, mentionsInDirects } = unreadCounts(store);
      return [mentions, mentionsInDirects];
    };
    const change = (op) => ({ type: "subscription", op, subscriptions: [channel(10, "general")] });
    assert.deepEqual([counted(), counted(change("remove")), counted(change("add"))], [[2, 1], [1, 1], [2, 1]]);
  });

  it("has mentions of everyone only where the topic is not muted, as the server counts them", () => {
    const store = storeWith({ subscriptions: [channel(10, "general", { is_muted: true }), channel(11, "design")], user_topics: [{ stream_id: 10, topic_name: "soup", visibility_policy: 2 }] });
    const arrives = (id, streamId, name, flag) => addUnread(store, topicKey(streamId, name), inTopic(id, streamId, name), [flag]);
    arrives(1, 10, "bread", "stream_wildcard_mentioned");
    arrives(2, 10, "bread", "mentioned");
    arrives(3, 10, "soup", "topic_wildcard_mentioned");
    arrives(4, 11, "blue", "stream_wildcard_mentioned");
    assert.deepEqual([...store.mentions], [2, 3, 4]);
  });

  it("counts each message once in the title", () => {
    const store = storeWith({
      unread_msgs: { streams: [{ stream_id: 10, topic: "soup", unread_message_ids: [1, 2] }, { stream_id: 11, topic: "blue", unread_message_ids: [3, 4] }], pms: [{ other_user_id: 2, unread_message_ids: [5, 6] }], huddles: [], mentions: [1, 3, 5] },
      user_topics: [{ stream_id: 10, topic_name: "soup", visibility_policy: 3 }],
    });
    const counts = [1, 2, 3, 4].map((policy) => {
      store.state.user_settings.desktop_icon_count_display = policy;
      return titleCount(store);
    });
    assert.deepEqual(counts, [6, 5, 4, 0]);
  });

  it("is said to others only where it is another", () => {
    const source = signal(1);
    let runs = 0;
    const end = scope(() => {
      const isOdd = distinct(() => source.value % 2 === 1);
      effect(() => { isOdd.value; runs += 1; });
    });
    for (const value of [3, 5, 6]) { source.value = value; flush(); }
    end();
    assert.equal(runs, 2);
  });
});

describe("overviews", () => {
  it("says that all is read only if no choice of topics leaves out unread messages", () => {
    const streams = [{ stream_id: 10, topic: "soup", unread_message_ids: [1] }, { stream_id: 11, topic: "blue", unread_message_ids: [2] }];
    const subscriptions = [channel(10, "general"), channel(11, "design", { is_muted: true })];
    const texts = (state) => [["", "followed"], ["", "unmuted"], ["", "all"], ["s", "followed"]].map(([filter, topics]) => emptyInboxText(storeWith({ subscriptions, ...state }), { filter, topics }));
    const unread = { streams, pms: [], huddles: [], mentions: [] };
    assert.deepEqual(texts({ unread_msgs: unread }).filter((_, at) => at !== 2), ["You have read everything in the topics that you follow.", "You have read everything except muted topics.", "No matches."]);
    assert.deepEqual(texts({ unread_msgs: { ...unread, streams: [] } }), ["You have read everything.", "You have read everything.", "You have read everything.", "No matches."]);
  });

  it("show what is unread by conversation, and filter it", () => {
    const store = storeWith({ unread_msgs: { streams: [{ stream_id: 10, topic: "soup", unread_message_ids: [1, 2] }, { stream_id: 11, topic: "blue", unread_message_ids: [3] }], pms: [{ other_user_id: 2, unread_message_ids: [4] }], huddles: [], mentions: [] } });
    const shown = (more = {}) => inboxRows(store, { filter: "", topics: "all", folded: new Set(), ...more }).map(({ title, count, rows }) => [title, count, ...rows.map(({ name }) => name)]);
    assert.deepEqual(shown(), [["Direct messages", 1, "Bob"], ["design", 1, "blue"], ["general", 2, "soup"]]);
    assert.deepEqual(shown({ filter: "gen SOU" }), [["general", 2, "soup"]]);
    assert.deepEqual(shown({ topics: "followed" }), [["Direct messages", 1, "Bob"]]);
    addUnread(store, topicKey(11, ""), inTopic(9, 11, ""), []);
    assert.deepEqual(shown({ filter: "general chat" }), [["design", 1, "general chat"]]);
    removeUnread(store, [9]);
    assert.deepEqual(shown({ folded: new Set(["dm"]) })[0], ["Direct messages", 1]);
    assert.deepEqual([unreadOfChannel(store, 10), unreadOfChannel(store, 1)], [[1, 2], []]);
    // A muted topic is among the unmuted ones only if it mentions the user.
    const muted = (mentions) => inboxRows(storeWith({ subscriptions: [channel(10, "general", { is_muted: true, invite_only: true })], unread_msgs: { streams: [{ stream_id: 10, topic: "soup", unread_message_ids: [1] }], pms: [], huddles: [], mentions } }), { filter: "", topics: "unmuted", folded: new Set() });
    assert.deepEqual([muted([]).length, ...muted([1]).map(({ isMuted, isPrivate, isWebPublic, rows }) => [isMuted, isPrivate, isWebPublic, rows[0].hasMention])], [0, [true, true, false, true]]);
    const [{ isMuted, isPrivate, isWebPublic, color, rows: [bob] }] = inboxRows(store, { filter: "", topics: "all", folded: new Set() });
    assert.deepEqual([isMuted, isPrivate, isWebPublic, color, bob.isDirect, bob.isMuted, bob.isFollowed, bob.hasMention], [false, false, false, null, true, false, false, false]);
  });

  it("help the owner of a new organization, until others are there", () => {
    const people = (...users) => isNew(storeWith({ is_admin: true, realm_users: [user(1, "Ada"), ...users] }));
    assert.deepEqual([people(), people(user(2, "Helper", { is_bot: true })), people(user(3, "Bob"))], [true, true, false]);
    assert.equal(isNew(storeWith({ realm_users: [user(1, "Ada")] })), false, "only administrators can change it");
  });

  it("show by an icon what is resolved", () => {
    const store = storeWith({ unread_msgs: { streams: [{ stream_id: 10, topic: "✔ soup", unread_message_ids: [1] }], pms: [], huddles: [], mentions: [] } });
    store.messages.put([inTopic(1, 10, "✔ soup"), inTopic(2, 11, "✔")]);
    const inbox = inboxRows(store, { filter: "", topics: "all", folded: new Set() }).flatMap(({ rows }) => rows);
    const recent = recentRows(store, [1, 2], { filter: "", only: new Set() });
    assert.deepEqual([...inbox, ...recent].map(({ name, isResolved }) => [name, isResolved]), [["soup", true], ["✔", false], ["soup", true]]);
  });

  it("show recent conversations with their people, the latest first", () => {
    const store = storeWith();
    store.messages.put([inTopic(1, 10, "soup"), inTopic(2, 11, "blue", 3), toPeople(3, [1, 2]), inTopic(4, 10, "Soup", 1), inTopic(5, 12, "not in it")]);
    const shown = (...only) => recentRows(store, [1, 2, 3, 4, 5], { filter: "", only: new Set(only) }).map(({ name, people }) => [name, ...people.map((one) => one.name)]);
    assert.deepEqual(shown("dm"), [["Soup", "Ada", "Bob"], ["Bob", "Bob"], ["blue", "Cleo"]]);
    assert.deepEqual(shown(), [["Soup", "Ada", "Bob"], ["blue", "Cleo"]]);
    assert.deepEqual(shown("participated"), [["Soup", "Ada", "Bob"]]);
    assert.deepEqual(shown("dm", "unread"), []);
    store.userTopics.set(topicKey(11, "blue"), 3);
    assert.deepEqual(shown("dm", "followed"), [["Bob", "Bob"], ["blue", "Cleo"]]);
    assert.deepEqual(recentRows(store, [1, 2], { filter: "DES", only: new Set() }).map(({ name }) => name), ["blue"]);
    store.userTopics.set(topicKey(10, "soup"), 1);
    assert.deepEqual([shown(), shown("muted")], [[["blue", "Cleo"]], [["Soup", "Ada", "Bob"], ["blue", "Cleo"]]]);
  });

  it("sort recent conversations by time, unread messages, channel or topic", () => {
    const store = storeWith({ unread_msgs: { streams: [{ stream_id: 10, topic: "soup", unread_message_ids: [1, 4] }, { stream_id: 11, topic: "zebra 10", unread_message_ids: [3] }], pms: [], huddles: [], mentions: [] } });
    store.messages.put([inTopic(1, 10, "soup"), inTopic(2, 11, "Zebra 2"), inTopic(3, 11, "zebra 10"), inTopic(4, 10, "soup"), inTopic(5, 10, "apple")]);
    const sorted = (order) => recentRows(store, [1, 2, 3, 4, 5], { filter: "", only: new Set(), order }).map(({ name }) => name);
    assert.deepEqual(sorted("oldest"), ["Zebra 2", "zebra 10", "soup", "apple"]);
    assert.deepEqual(sorted("unread"), ["soup", "zebra 10", "apple", "Zebra 2"]);
    assert.deepEqual(sorted("channel"), ["zebra 10", "Zebra 2", "apple", "soup"]);
    assert.deepEqual(sorted("topic"), ["apple", "soup", "Zebra 2", "zebra 10"]);
    assert.deepEqual([sorted(""), sorted("constructor")], Array(2).fill(["apple", "soup", "zebra 10", "Zebra 2"]));
  });
});

describe("the title of a notification", () => {
  it("says where a message is, and counts people whose names are too long", () => {
    const store = storeWith({ realm_users: [user(1, "Ada"), user(2, "Bob"), user(3, "Cleo"), user(4, "Wolfeschlegelsteinhausenbergerdorff the Elder")] });
    const long = "why the dishwasher in the second kitchen leaks every Monday";
    const places = [toPeople(1, [1, 2]), toPeople(2, [1, 2, 3]), toPeople(3, [1, 2, 3, 4]), toPeople(4, [1, 2, 4]), inTopic(5, 10, long)].map((message) => noticePlace(store, message));
    assert.deepEqual(places, ["to you", "to you and Cleo", "to you and 2 others", "to you and one more", `#general > ${long}`]);
  });
});
