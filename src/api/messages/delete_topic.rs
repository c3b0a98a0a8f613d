//! `POST /streams/{stream_id}/delete_topic`: deletes a whole topic.

use crate::auth::Ctx;
use crate::domain::access::channels;
use crate::domain::messages::access::Sight;
use crate::domain::messages::destination::read_topic;
use crate::domain::messages::{removal, sql, topic_sql};
use crate::http::{Administrator, ApiError, ApiResult, Call, Caller, Reply};
use crate::store::Tx;
use crate::types::{StreamId, Topic};
use serde::Deserialize;
use std::sync::Arc;

/// Messages deleted in one job, so that no request waits long behind it.
const BATCH: usize = 500;

/// Jobs for one request. A client whose topic is larger asks again.
const MAX_BATCHES: usize = 20;

/// Parameters of `POST /streams/{stream_id}/delete_topic`.
#[derive(Deserialize)]
pub struct DeleteTopicParams {
    /// The channel.
    stream_id: StreamId,
    /// The topic.
    topic_name: String,
}

/// `POST /streams/{stream_id}/delete_topic`: deletes the messages of a topic that the caller may read, the newest
/// first. `complete` tells whether all are gone.
pub async fn delete_topic(call: Call<Administrator>, params: DeleteTopicParams) -> ApiResult<Reply> {
    let topic = Arc::new(read_topic(&params.topic_name)?);
    let (app, caller) = (Arc::clone(&call.app), call.caller.clone());
    let mut complete = false;
    for _ in 0..MAX_BATCHES {
        let (caller, topic) = (caller.clone(), Arc::clone(&topic));
        let batch = move |tx: &mut Tx<'_>| delete_batch(tx, caller, params.stream_id, &topic);
        complete = app.writer.run(batch).await?;
        if complete {
            break;
        }
    }
    Reply::field("complete", &complete)
}

/// Deletes the newest messages of a topic. Answers whether those were all.
fn delete_batch(tx: &mut Tx<'_>, mut caller: Caller, stream_id: StreamId, topic: &Topic) -> ApiResult<bool> {
    caller.reload(tx)?;
    if !caller.role.is_administrator() {
        return Err(ApiError::administrators_only());
    }
    let stream = channels::find_for_content(Ctx::in_job(tx, &caller), stream_id)?;
    if stream.is_archived {
        return Err(channels::no_such_channel());
    }
    let Some(topic_id) = sql::topic(tx, stream_id, &topic.key())? else { return Ok(true) };
    let view = Sight::new(tx, &caller, tx.now()).view_of_stream(&stream)?;
    // One more than are deleted tells whether there are more.
    let mut batch = topic_sql::newest_ids(tx, topic_id, &view.visible, BATCH + 1)?;
    let complete = batch.len() <= BATCH;
    if !complete {
        batch.remove(0);
    }
    if let Some(newest) = batch.last() {
        let subject = sql::subject_of(tx, *newest)?;
        removal::remove_from_channel(tx, &stream, &subject, &batch, Some(caller.user_id))?;
    }
    Ok(complete)
}
