//! `POST /mark_all_as_read`, `POST /mark_stream_as_read` and `POST /mark_topic_as_read`: the older ways to mark much as
//! read, all deprecated for `POST /messages/flags/narrow`.

use crate::api::messages::fetch::MAX_MESSAGES;
use crate::auth::Ctx;
use crate::domain::access::messages::ALL_IDS;
use crate::domain::limits::MAX_SHOWN_UNREAD;
use crate::domain::messages::destination::read_topic;
use crate::domain::messages::events::FlagsChanged;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::messages::{phones, read_state};
use crate::domain::narrow::cursor::Direction;
use crate::domain::narrow::executor::Query;
use crate::domain::narrow::{Narrow, Term, Test};
use crate::domain::rows::channel::StreamRow;
use crate::domain::{access, messages, subscriptions};
use crate::events::Audience;
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, User};
use crate::store::{Snapshot, Tx};
use crate::types::{MessageId, RecipientId, StreamId, Topic, UserId};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// The reply to `POST /mark_all_as_read`.
#[derive(Serialize)]
pub struct MarkedAsRead {
    /// Always true: all messages are marked in one request.
    pub complete: bool,
}

/// The most conversations of which one step of a job marks all messages as read.
const CONVERSATIONS_PER_STEP: usize = 20;

/// A conversation with unread messages: the newest of them, ascending. Clients know no others.
type UnreadConversation = (RecipientId, Vec<MessageId>);

/// `POST /mark_all_as_read`: marks all messages of the caller as read.
pub async fn mark_all_as_read(call: Call<User>, _params: NoParams) -> ApiResult<Reply<MarkedAsRead>> {
    let (caller, now) = (Caller::clone(&call.caller), call.app.clock.seconds());
    // A user may be in thousands of conversations, of which few have unread messages.
    let find = move |snapshot: &Snapshot<'_>| find_all_unread(Ctx::new(snapshot, &caller, now));
    let owner = Some(call.caller.quota_owner());
    let found = call.app.read_quickly_or_slowly(owner, find).await?;
    // One event says that everything is read, if one job does it. Otherwise each job lists what it marked: clients may register
    // between the jobs, and the server may stop there.
    let Some((mut unread, newest)) = found else { return call.write(mark_everything).await };
    while !unread.is_empty() {
        let mut caller = Caller::clone(&call.caller);
        let job = move |tx: &mut Tx<'_>| {
            caller.reload(tx)?;
            mark_some(tx, &caller, unread, newest)
        };
        unread = call.app.writer.run(job).await?;
    }
    Reply::data(&MarkedAsRead { complete: true })
}

/// The conversations in which a user can have received messages.
fn conversations_of(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<RecipientId>> {
    let mut recipient_ids = subscriptions::ever_received(connection, user_id)?;
    recipient_ids.extend(messages::direct_recipients(connection, user_id)?);
    Ok(recipient_ids)
}

/// Returns the conversations of a user with unread messages, and the newest message of all; `None` if the user is in so few
/// conversations that one job can look at them.
fn find_all_unread(ctx: Ctx<'_>) -> ApiResult<Option<(Vec<UnreadConversation>, MessageId)>> {
    let (connection, user_id) = (ctx.connection, ctx.caller.user_id);
    let recipient_ids = conversations_of(connection, user_id)?;
    if recipient_ids.len() <= CONVERSATIONS_PER_STEP {
        return Ok(None);
    }
    let mut unread: BTreeMap<RecipientId, Vec<MessageId>> = BTreeMap::new();
    for recipient_id in recipient_ids {
        if !read_state::is_all_read(connection, user_id, recipient_id)? {
            unread.insert(recipient_id, Vec::new());
        }
    }
    for id in messages(ctx, vec![Test::Unread], *ALL_IDS.end(), MAX_SHOWN_UNREAD)? {
        let recipient_id = access::messages::recipient_of(connection, id)?;
        if let Some(ids) = recipient_id.and_then(|recipient_id| unread.get_mut(&recipient_id)) {
            ids.push(id);
        }
    }
    Ok(Some((unread.into_iter().collect(), messages::newest_id(connection)?)))
}

/// Marks all conversations of the caller as read.
fn mark_everything(tx: &mut Tx<'_>, caller: &User) -> ApiResult<Reply<MarkedAsRead>> {
    let newest = messages::newest_id(tx)?;
    read_state::mark_conversations_read(tx, caller.user_id, conversations_of(tx, caller.user_id)?, newest)?;
    tx.emit(FlagsChanged::all_read(), Audience::user(caller.user_id));
    phones::all_read(tx, caller.user_id)?;
    Reply::data(&MarkedAsRead { complete: true })
}

/// Marks the messages up to an id as read in as many conversations as there is time for, and returns the others.
fn mark_some(
    tx: &mut Tx<'_>,
    caller: &Caller,
    mut unread: Vec<UnreadConversation>,
    until: MessageId,
) -> ApiResult<Vec<UnreadConversation>> {
    let mut ids = Vec::new();
    let mut budget = tx.budget("read_conversations");
    while !unread.is_empty() && budget.next_step() {
        let step = unread.split_off(unread.len().saturating_sub(CONVERSATIONS_PER_STEP));
        for (recipient_id, listed) in step {
            read_state::mark_read_until(tx, caller.user_id, recipient_id, until)?;
            ids.extend(listed);
        }
    }
    ids.sort_unstable();
    emit_read(tx, caller, &ids);
    Ok(unread)
}

/// Parameters of `POST /mark_stream_as_read`.
#[derive(Deserialize)]
pub struct StreamParams {
    /// The id of the channel.
    stream_id: StreamId,
}

/// `POST /mark_stream_as_read`: marks all messages of a channel as read. If there are very many, the event lists
/// only the newest, which are the only ones that clients know.
pub async fn mark_stream_as_read(call: Call<User>, params: StreamParams) -> ApiResult<Reply> {
    let (caller, now) = (Caller::clone(&call.caller), call.app.clock.seconds());
    let stream_id = params.stream_id;
    let find = move |snapshot: &Snapshot<'_>| -> ApiResult<(Vec<MessageId>, MessageId)> {
        let ctx = Ctx::new(snapshot, &caller, now);
        let stream = access::channels::find_for_content(ctx, stream_id)?;
        let tests = vec![Test::Channel(Rc::new(stream)), Test::Unread];
        Ok((messages(ctx, tests, *ALL_IDS.end(), MAX_SHOWN_UNREAD)?, messages::newest_id(snapshot)?))
    };
    let owner = Some(call.caller.quota_owner());
    let (ids, newest) = call.app.read_in(&call.app.pools.slow_reads, owner, find).await?;
    let mark = move |tx: &mut Tx<'_>, caller: &User| -> ApiResult<Reply> {
        let stream = access::channels::find_for_content(tx.ctx(caller), stream_id)?;
        // Messages that arrived or became unread since are not in the event.
        if ids.len() <= MAX_MESSAGES {
            mark_listed(tx, caller, stream.recipient_id, &ids)?;
        } else {
            read_state::mark_read_until(tx, caller.user_id, stream.recipient_id, newest)?;
            emit_read(tx, caller, &ids);
        }
        Ok(Reply::ok())
    };
    call.write(mark).await
}

/// Parameters of `POST /mark_topic_as_read`.
#[derive(Deserialize)]
pub struct TopicParams {
    /// The id of the channel.
    stream_id: StreamId,
    /// The topic, in any spelling. It must have a message that the caller received.
    topic_name: String,
}

/// `POST /mark_topic_as_read`: marks all messages of a topic as read.
pub async fn mark_topic_as_read(call: Call<User>, params: TopicParams) -> ApiResult<Reply> {
    let (stream_id, params) = (params.stream_id, Arc::new(params));
    let mut next = Some(*ALL_IDS.end());
    while let Some(until) = next {
        let (caller, params) = (Caller::clone(&call.caller), Arc::clone(&params));
        let now = call.app.clock.seconds();
        let find =
            move |snapshot: &Snapshot<'_>| find_unread(Ctx::new(snapshot, &caller, now), &params, until);
        let owner = Some(call.caller.quota_owner());
        let ids = call.app.read_in(&call.app.pools.slow_reads, owner, find).await?;
        let oldest = ids.first().filter(|_| ids.len() == MAX_MESSAGES);
        // Messages that arrive or become unread between the jobs stay unread.
        next = oldest.and_then(|oldest| Direction::Down.past(oldest.bit()?));
        if ids.is_empty() {
            break;
        }
        let mut caller = Caller::clone(&call.caller);
        let mark = move |tx: &mut Tx<'_>| -> ApiResult<()> {
            caller.reload(tx)?;
            let stream = access::channels::find_for_content(tx.ctx(&caller), stream_id)?;
            mark_listed(tx, &caller, stream.recipient_id, &ids)
        };
        call.app.writer.run(mark).await?;
    }
    Ok(Reply::ok())
}

/// The newest unread messages of a topic up to an id, as many as one job marks.
fn find_unread(ctx: Ctx<'_>, params: &TopicParams, until: u32) -> ApiResult<Vec<MessageId>> {
    let stream = Rc::new(access::channels::find_for_content(ctx, params.stream_id)?);
    let topic = read_topic(&params.topic_name)?;
    if messages(ctx, in_topic(&stream, &topic), *ALL_IDS.end(), 1)?.is_empty() {
        return Err(ApiError::bad_request(format!("No such topic '{}'", params.topic_name)));
    }
    let mut unread_in_topic = in_topic(&stream, &topic);
    unread_in_topic.push(Test::Unread);
    messages(ctx, unread_in_topic, until, MAX_MESSAGES)
}

fn in_topic(stream: &Rc<StreamRow>, topic: &Topic) -> Vec<Test> {
    vec![Test::Channel(Rc::clone(stream)), Test::Topic(topic.key())]
}

/// The newest received messages up to an id that match all tests, ascending.
fn messages(ctx: Ctx<'_>, tests: Vec<Test>, until: u32, limit: usize) -> ApiResult<Vec<MessageId>> {
    let terms = tests.into_iter().map(|test| Term { test, negated: false }).collect();
    let narrow = Narrow { terms, ..Narrow::default() };
    let viewer = MessageViewer::new(ctx);
    let mut ids = Query::new(&viewer, &narrow, Direction::Down, limit)?.take(Some(until), limit)?;
    ids.reverse();
    Ok(ids)
}

/// Marks some messages of a conversation as read, ascending, and emits those that were unread.
fn mark_listed(
    tx: &mut Tx<'_>,
    caller: &Caller,
    recipient_id: RecipientId,
    ids: &[MessageId],
) -> ApiResult<()> {
    let changed = read_state::mark_read(tx, caller.user_id, recipient_id, ids)?;
    emit_read(tx, caller, &changed);
    Ok(())
}

/// Emits messages that became read, if there are any.
fn emit_read(tx: &mut Tx<'_>, caller: &Caller, ids: &[MessageId]) {
    if !ids.is_empty() {
        tx.emit(FlagsChanged::new(true, "read", ids, None), Audience::user(caller.user_id));
    }
}
