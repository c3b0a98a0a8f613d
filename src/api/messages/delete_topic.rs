//! `POST /streams/{stream_id}/delete_topic`: deletes a whole topic.

use crate::domain::audit::{Action, Entry};
use crate::domain::messages::audience::may_read;
use crate::domain::messages::create::can_read_any;
use crate::domain::messages::destination::read_topic;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::messages::{delete, topic_sql};
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::{access, messages, rows, user_topics};
use crate::http::{Administrator, ApiResult, Call, Caller, Reply};
use crate::store::{Budget, FollowUp, Tx};
use crate::types::Origin;
use crate::types::{StreamId, Topic, UserId};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most messages that are deleted in one step, fewer if they are long.
const STEP: usize = 50;

/// The messages after which a request ends. Clients repeat it for larger topics.
const MAX_MESSAGES: usize = 10_000;

/// Parameters of `POST /streams/{stream_id}/delete_topic`.
#[derive(Deserialize)]
pub struct DeleteTopicParams {
    /// The id of the channel, which must not be archived.
    stream_id: StreamId,
    /// The topic to delete, in any spelling.
    topic_name: String,
}

/// The reply to `POST /streams/{stream_id}/delete_topic`.
#[derive(Serialize)]
pub struct DeletedTopic {
    /// True if all messages were deleted. If false, the client repeats the request.
    pub complete: bool,
}

/// `POST /streams/{stream_id}/delete_topic`: deletes the messages of a topic that the caller may read, the newest
/// first, at most 10,000 in a request. Users who see no message of the topic any more lose their policy for it.
pub async fn delete_topic(
    call: Call<Administrator>,
    params: DeleteTopicParams,
) -> ApiResult<Reply<DeletedTopic>> {
    let topic = read_topic(&params.topic_name)?;
    let (app, caller) = (Arc::clone(&call.app), call.caller.clone());
    let origin = Origin::request(Some(caller.user_id), call.info.peer);
    let is_complete = Arc::new(AtomicBool::new(false));
    let (complete, mut room) = (Arc::clone(&is_complete), MAX_MESSAGES);
    let delete = move |tx: &mut Tx<'_>, budget: &mut Budget| -> ApiResult<bool> {
        tx.set_origin(origin);
        let is_all = delete_some(tx, budget, caller.clone(), (params.stream_id, &topic), &mut room)?;
        if is_all {
            let policies = user_topics::of_topic(tx, params.stream_id, &topic.key())?;
            let topic = topic.as_str().to_owned();
            PoliciesOfDeletedTopic { stream_id: params.stream_id, topic, policies: policies.into() }
                .run(tx)?;
        }
        complete.store(is_all, Ordering::Relaxed);
        Ok(is_all || room == 0)
    };
    app.writer.run_in_parts("delete_topic", delete).await?;
    Reply::data(&DeletedTopic { complete: is_complete.load(Ordering::Relaxed) })
}

/// Deletes the newest messages of a topic, as many as there is time and room for. Returns whether those were all.
fn delete_some(
    tx: &mut Tx<'_>,
    budget: &mut Budget,
    mut caller: Caller,
    (stream_id, topic): (StreamId, &Topic),
    room: &mut usize,
) -> ApiResult<bool> {
    caller.reload(tx)?;
    caller.check_is_administrator()?;
    let stream = access::channels::find_for_content(tx.ctx(&caller), stream_id)?;
    if stream.is_archived {
        return Err(access::channels::no_such_channel());
    }
    let Some(topic_id) = access::messages::topic(tx, stream_id, &topic.key())? else { return Ok(true) };
    let visible = MessageViewer::new(tx.ctx(&caller)).channel(&stream)?.visible.clone();
    let (mut deleted, mut newest, mut is_all) = (0, None, false);
    while !is_all && *room > 0 && budget.next_step() {
        let limit = STEP.min(*room);
        // Find one more than is deleted, to know whether there are more.
        let mut some = topic_sql::newest_ids(tx, topic_id, &visible, limit + 1)?;
        let count = messages::count_for_one_step(tx, some.iter().rev().take(limit).copied())?;
        is_all = some.len() <= count;
        some.drain(..some.len() - count.min(some.len()));
        let Some(last) = some.last().copied() else { break };
        newest.get_or_insert(last);
        deleted += some.len();
        *room -= some.len();
        let subject = messages::subject_of(tx, last)?;
        delete::from_channel(tx, &stream, &subject, &some, Some(caller.user_id))?;
    }
    if let Some(newest) = newest {
        let facts = json!({ "messages": deleted, "newest_id": newest });
        tx.audit(Entry::new(Action::TopicDeleted, stream_id).before(facts))?;
    }
    Ok(is_all)
}

/// Policies for a topic, to remove from users who see no message of it any more, as published. Looking whether a user sees one can take
/// long, so follow-up jobs do the rest; users who have set another policy by then keep it. Nothing changes for users who cannot read
/// the channel: an event would reveal what happens there.
#[derive(Serialize, Deserialize)]
pub struct PoliciesOfDeletedTopic {
    stream_id: StreamId,
    topic: String,
    policies: VecDeque<(UserId, VisibilityPolicy)>,
}

impl FollowUp for PoliciesOfDeletedTopic {
    const NAME: &'static str = "topic_policies";

    fn run(mut self, tx: &mut Tx<'_>) -> ApiResult<()> {
        let stream_id = self.stream_id;
        let Some(stream) = rows::channel::by_id(tx, stream_id)? else { return Ok(()) };
        let topic = Topic::stored(self.topic.clone());
        let key = topic.key();
        let topic_id = access::messages::topic(tx, stream_id, &key)?;
        let mut budget = tx.budget(Self::NAME);
        while let Some((user_id, policy)) = self.policies.front().copied()
            && budget.next_step()
        {
            self.policies.pop_front();
            if user_topics::policy(tx, user_id, stream_id, &key)? != policy {
                continue;
            }
            let is_seen = match topic_id {
                Some(topic_id) => can_read_any(tx, user_id, &stream, topic_id)?,
                None => false,
            };
            if !is_seen && may_read(tx, &stream, user_id)? {
                user_topics::rules::change(
                    tx,
                    user_id,
                    stream_id,
                    &topic,
                    policy,
                    VisibilityPolicy::Inherit,
                )?;
            }
        }
        if !self.policies.is_empty() {
            tx.then(self)?;
        }
        Ok(())
    }
}
