//! `POST /streams/{stream_id}/delete_topic`: deletes a whole topic.

use crate::domain::audit::{Action, Entry};
use crate::domain::messages::destination::read_topic;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::messages::{delete, topic_sql};
use crate::domain::{access, messages};
use crate::http::{Administrator, ApiError, ApiResult, Call, Caller, Reply};
use crate::store::Tx;
use crate::types::Origin;
use crate::types::{StreamId, Topic};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// The most messages that are deleted in one job, so that no request waits long for it.
const BATCH: usize = 500;

/// The most jobs for one request. Clients repeat the request for larger topics.
const MAX_BATCHES: usize = 20;

/// Parameters of `POST /streams/{stream_id}/delete_topic`.
#[derive(Deserialize)]
pub struct DeleteTopicParams {
    /// The channel.
    stream_id: StreamId,
    /// The topic.
    topic_name: String,
}

/// The reply to `POST /streams/{stream_id}/delete_topic`.
#[derive(Serialize)]
pub struct DeletedTopic {
    /// True if all messages were deleted. If not, the request is to be repeated.
    pub complete: bool,
}

/// `POST /streams/{stream_id}/delete_topic`: deletes the messages of a topic that the caller may read, the newest
/// first. `complete` says whether all were deleted.
pub async fn delete_topic(
    call: Call<Administrator>,
    params: DeleteTopicParams,
) -> ApiResult<Reply<DeletedTopic>> {
    let topic = Arc::new(read_topic(&params.topic_name)?);
    let (app, caller) = (Arc::clone(&call.app), call.caller.clone());
    let origin = Origin::request(Some(caller.user_id), call.info.peer);
    let mut complete = false;
    for _ in 0..MAX_BATCHES {
        let (caller, topic) = (caller.clone(), Arc::clone(&topic));
        let batch = move |tx: &mut Tx<'_>| {
            tx.set_origin(origin);
            delete_batch(tx, caller, params.stream_id, &topic)
        };
        complete = app.writer.run(batch).await?;
        if complete {
            break;
        }
    }
    Reply::data(&DeletedTopic { complete })
}

/// Deletes the newest messages of a topic. Returns whether those were all.
fn delete_batch(tx: &mut Tx<'_>, mut caller: Caller, stream_id: StreamId, topic: &Topic) -> ApiResult<bool> {
    caller.reload(tx)?;
    if !caller.role.is_administrator() {
        return Err(ApiError::administrators_only());
    }
    let stream = access::channels::find_for_content(tx.ctx(&caller), stream_id)?;
    if stream.is_archived {
        return Err(access::channels::no_such_channel());
    }
    let Some(topic_id) = access::messages::topic(tx, stream_id, &topic.key())? else { return Ok(true) };
    let view = MessageViewer::new(tx.ctx(&caller)).channel(&stream)?;
    // Find one more than is deleted, to know whether there are more.
    let mut batch = topic_sql::newest_ids(tx, topic_id, &view.visible, BATCH + 1)?;
    let count = messages::count_for_one_job(tx, batch.iter().rev().take(BATCH).copied())?;
    let complete = batch.len() <= count;
    batch.drain(..batch.len() - count);
    if let Some(newest) = batch.last() {
        let facts = json!({ "messages": batch.len(), "newest_id": newest });
        tx.audit(Entry::new(Action::TopicDeleted, stream_id).before(facts))?;
        let subject = messages::subject_of(tx, *newest)?;
        delete::from_channel(tx, &stream, &subject, &batch, Some(caller.user_id))?;
    }
    Ok(complete)
}
