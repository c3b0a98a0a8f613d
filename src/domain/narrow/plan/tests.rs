use crate::domain::messages::record::attribute;
use crate::domain::narrow::plan::*;
use crate::domain::rows::channel::{StreamRow, TopicsPolicy};
use std::ops::RangeInclusive;

/// A viewer, user 9, in two channels, of which they received messages 1 to 20, and in one direct conversation.
struct Facts {
    muting: Muting,
    messages: i64,
}

const PUBLIC: RecipientId = RecipientId(1);
const PRIVATE: RecipientId = RecipientId(2);
const DIRECT: RecipientId = RecipientId(3);

fn stream(recipient_id: RecipientId) -> StreamRow {
    StreamRow {
        stream_id: StreamId(100 + recipient_id.0),
        recipient_id,
        name: String::new(),
        is_archived: false,
        description: String::new(),
        rendered_description: String::new(),
        date_created: 0,
        creator_id: None,
        invite_only: recipient_id == PRIVATE,
        is_web_public: false,
        history_public_to_subscribers: recipient_id == PUBLIC,
        message_retention_days: None,
        topics_policy: TopicsPolicy::Inherit,
        folder_id: None,
    }
}

impl Catalog for Facts {
    fn user_id(&self) -> UserId {
        UserId(9)
    }

    fn conversation(&self, recipient_id: RecipientId) -> ApiResult<Rc<ConversationAccess>> {
        let received = vec![1..=20];
        Ok(Rc::new(if recipient_id == DIRECT {
            let participants = vec![UserId(7), UserId(9)];
            ConversationAccess { stream: None, participants, received: vec![ALL_IDS], visible: vec![ALL_IDS] }
        } else {
            let visible = if recipient_id == PUBLIC { vec![ALL_IDS] } else { received.clone() };
            ConversationAccess {
                stream: Some(stream(recipient_id)),
                participants: Vec::new(),
                received,
                visible,
            }
        }))
    }

    fn muting(&self) -> ApiResult<&Muting> {
        Ok(&self.muting)
    }

    fn channel(&self, stream_id: StreamId) -> ApiResult<Option<RecipientId>> {
        Ok(Some(RecipientId(stream_id.0 - 100)))
    }

    fn public_channels(&self) -> ApiResult<Vec<RecipientId>> {
        Ok(vec![PUBLIC])
    }

    fn received_channels(&self) -> ApiResult<Vec<RecipientId>> {
        Ok(vec![PUBLIC, PRIVATE])
    }

    fn direct_conversations(&self) -> ApiResult<Vec<RecipientId>> {
        Ok(vec![DIRECT])
    }

    fn topic(&self, stream_id: StreamId, key: &str) -> ApiResult<Option<TopicId>> {
        Ok((key == "lunch").then_some(TopicId(stream_id.0 * 10)))
    }

    fn resolved_topics(&self, stream_id: StreamId) -> ApiResult<Vec<TopicId>> {
        Ok(if stream_id == StreamId(101) { vec![TopicId(51), TopicId(52)] } else { Vec::new() })
    }

    fn count(&self, _: RecipientId, _: &RangeInclusive<u32>, limit: i64) -> ApiResult<i64> {
        Ok(self.messages.min(limit))
    }
}

fn narrow(terms: Vec<(Test, bool)>) -> Narrow {
    let terms = terms.into_iter().map(|(test, negated)| Term { test, negated }).collect();
    Narrow { terms, ..Narrow::default() }
}

#[track_caller]
fn check(narrow: &Narrow, expected: &[&str]) {
    let facts = Facts { muting: Muting::default(), messages: 1_000_000 };
    let plan = Plan::new(&facts, narrow).unwrap().to_string();
    assert_eq!(plan.lines().collect::<Vec<_>>(), expected, "\n{plan}");
}

fn channel(recipient_id: RecipientId) -> Test {
    Test::Channel(Rc::new(stream(recipient_id)))
}

#[test]
fn the_combined_feed_is_a_union_of_conversations() {
    let conversations =
        ["Union", "  Scan Recipient 1 [1..=20]", "  Scan Recipient 2 [1..=20]", "  Scan Recipient 3"];
    check(&Narrow::default(), &conversations);
    check(&narrow(vec![(Test::Everything, false)]), &conversations);
}

#[test]
fn channels_and_topics_are_scanned_alone() {
    check(&narrow(vec![(channel(PUBLIC), false)]), &["Scan Recipient 1 [1..=20]"]);
    let mut with_history = narrow(vec![(channel(PUBLIC), false), (Test::Topic("lunch".to_owned()), false)]);
    check(&with_history, &["Scan Topic 1010 [1..=20]"]);
    with_history.wants_shared_history = true;
    check(&with_history, &["Scan Topic 1010"]);
    check(
        &narrow(vec![(Test::Topic("lunch".to_owned()), false)]),
        &["Union", "  Scan Topic 1010 [1..=20]", "  Scan Topic 1020 [1..=20]"],
    );
    check(
        &narrow(vec![(Test::Resolved, false)]),
        &["Union", "  Scan Topic 51 [1..=20]", "  Scan Topic 52 [1..=20]"],
    );
    let unknown = [(channel(PUBLIC), false), (Test::Topic("dinner".to_owned()), false)];
    check(&narrow(unknown.to_vec()), &["Union of nothing"]);
}

#[test]
fn direct_conversations_are_selected_by_their_participants() {
    check(&narrow(vec![(Test::AnyDirect, false)]), &["Scan Recipient 3"]);
    check(&narrow(vec![(Test::DirectIncluding(UserId(7)), false)]), &["Scan Recipient 3"]);
    check(&narrow(vec![(Test::DirectIncluding(UserId(8)), false)]), &["Union of nothing"]);
    check(&narrow(vec![(Test::Direct(None), false)]), &["Union of nothing"]);
}

#[test]
fn read_state_limits_the_scans_of_conversations() {
    let conversation = (channel(PRIVATE), false);
    let unread = vec![conversation.clone(), (Test::Unread, false)];
    check(&narrow(unread), &["Scan Recipient 2 [1..=20] unread"]);
    check(&narrow(vec![conversation, (Test::Unread, true)]), &["Scan Recipient 2 [1..=20] read"]);
    let starred = vec![(Test::Flag(bit::STARRED), false), (Test::Unread, true)];
    check(&narrow(starred), &["Filter Readable, not Unread", "  Scan Starred 9"]);
}

#[test]
fn plans_without_conversations_use_an_index() {
    let sender = (Test::Sender(UserId(7)), false);
    check(&narrow(vec![sender.clone()]), &["Filter Received", "  Scan Sender 7"]);
    let facts = Facts { muting: Muting::default(), messages: 10 };
    let of_few = Plan::new(&facts, &narrow(vec![sender.clone()])).unwrap().to_string();
    assert!(of_few.starts_with("Intersect\n  Scan Sender 7\n  Union\n    Scan Recipient 1"), "{of_few}");
    check(
        &narrow(vec![sender.clone(), (channel(PUBLIC), false), (Test::Resolved, true)]),
        &["Filter not Resolved", "  Intersect", "    Scan Sender 7", "    Scan Recipient 1 [1..=20]"],
    );
    check(&narrow(vec![(Test::Id(MessageId(5)), false)]), &["Filter Received", "  Ids [5]"]);
    check(
        &narrow(vec![(Test::Mentioned, false)]),
        &[
            "Filter Received",
            "  Union",
            "    Scan Mentioned 9",
            "    Scan StreamWildcard 1 [1..=20]",
            "    Scan StreamWildcard 2 [1..=20]",
            "    Scan StreamWildcard 3",
        ],
    );
}

#[test]
fn attributes_have_indexes_in_each_conversation() {
    let link = (Test::Attribute(attribute::HAS_LINK), false);
    check(
        &narrow(vec![link.clone(), (Test::Reaction, false), (channel(PRIVATE), false)]),
        &["Filter Reaction", "  Intersect", "    Scan Link 2 [1..=20]", "    Scan Reaction 2 [1..=20]"],
    );
    let no_link = vec![(Test::Attribute(attribute::HAS_LINK), true), (channel(PRIVATE), false)];
    check(&narrow(no_link), &["Filter not Attribute(4)", "  Scan Recipient 2 [1..=20]"]);
}

#[test]
fn searches_are_intersected_or_excluded() {
    let folder = tempfile::tempdir().unwrap();
    let database = crate::store::Database::open(&folder.path().join("chat.sqlite")).unwrap();
    let connection = database.connect_writer().unwrap();
    let search = |text| Test::Search(Rc::new(SearchQuery::new(&connection, text).unwrap()));
    let Test::Search(soup) = search("\"soup\"") else { unreachable!() };
    let scan = format!("  Scan Search {}", soup.expression());
    check(&narrow(vec![(search("\"soup\""), false)]), &["Filter Received", &scan]);
    check(
        &narrow(vec![(channel(PRIVATE), false), (search("\"soup\""), true)]),
        &["Except", "  Scan Recipient 2 [1..=20]", &scan],
    );
    let known = Plan::of_readable(&narrow(vec![(search("\"soup\""), false)]), &[MessageId(4), MessageId(8)]);
    let expected = format!("Filter Readable\n  Intersect\n    Ids [4, 8]\n  {scan} [4..=8]\n");
    assert_eq!(known.to_string(), expected);
    check(&narrow(vec![(search("!"), false)]), &["Filter Received", "  Ids []"]);
}
