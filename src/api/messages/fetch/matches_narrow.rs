//! `GET /messages/matches_narrow`: which of some messages match a narrow.

use super::{MAX_PAGE_BYTES, check_number};
use crate::domain::access::messages::ALL_IDS;
use crate::domain::messages::serialize::Matches;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::narrow::executor::Query;
use crate::domain::narrow::resolve::resolve;
use crate::domain::{messages, narrow};
use crate::http::{ApiError, ApiResult, Read, Reply, User};
use crate::types::{MessageId, distinct};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Parameters of `GET /messages/matches_narrow`.
#[derive(Deserialize)]
pub struct MatchesParams {
    /// The ids of the messages to check, at most 5000.
    msg_ids: Vec<MessageId>,
    /// The filter: a list of terms as in `GET /messages`.
    narrow: Value,
}

/// The reply to `GET /messages/matches_narrow`.
#[derive(Serialize)]
pub struct MatchingMessages {
    /// The messages that match, by their ids.
    pub messages: BTreeMap<MessageId, Matches>,
}

/// `GET /messages/matches_narrow`: returns the given messages that match a narrow, if the caller received them. If the
/// narrow is a search, the found words are highlighted. Clients use it for new messages while they show a search.
pub fn matches_narrow(read: &Read<'_, User>, params: MatchesParams) -> ApiResult<Reply<MatchingMessages>> {
    let viewer = MessageViewer::new(read.ctx());
    let narrow = resolve(&viewer, &narrow::parse(Some(&params.narrow))?)?;
    check_number(params.msg_ids.len())?;
    let ids = distinct(params.msg_ids);
    let found = Query::of_own(&viewer, &narrow, &ids)?.take(Some(*ALL_IDS.start()), ids.len())?;
    let mut messages = BTreeMap::new();
    let mut bytes = 0;
    for id in found {
        let Some(message) = messages::by_id(read, id)? else { continue };
        let matches = Matches::of(&message.rendered_content, &message.subject, narrow.search());
        bytes += message.rendered_content.len();
        if bytes > MAX_PAGE_BYTES {
            let msg = format!("The messages are too long together (limit: {MAX_PAGE_BYTES} bytes)");
            return Err(ApiError::bad_request(msg));
        }
        messages.insert(id, matches);
    }
    Reply::data(&MatchingMessages { messages })
}
