//! One user's messages: access, read state, and muting.

use crate::auth::Ctx;
use crate::domain::access::messages::MessageAccess;
use crate::domain::messages::read_state::read_set::ReadSet;
use crate::domain::messages::record::MessageRow;
use crate::domain::messages::{read_state, sql};
use crate::domain::rows::channel::StreamRow;
use crate::domain::user_topics::muting::Muting;
use crate::error::{ApiError, ApiResult};
use crate::types::{MessageId, RecipientId};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

/// One user's access to messages, with their read state and muting. Each is loaded when it is first asked for.
pub struct MessageViewer<'a> {
    access: MessageAccess<'a>,
    read_sets: RefCell<HashMap<RecipientId, Rc<ReadSet>>>,
    muting: OnceCell<Muting>,
}

impl<'a> Deref for MessageViewer<'a> {
    type Target = MessageAccess<'a>;

    fn deref(&self) -> &Self::Target {
        &self.access
    }
}

impl<'a> MessageViewer<'a> {
    /// A user's messages at a time.
    pub fn new(ctx: Ctx<'a>) -> Self {
        let access = MessageAccess::new(ctx);
        Self { access, read_sets: RefCell::default(), muting: OnceCell::new() }
    }

    /// Topic policies and muted channels of the viewer.
    pub fn muting(&self) -> ApiResult<&Muting> {
        if let Some(muting) = self.muting.get() {
            return Ok(muting);
        }
        let loaded = Muting::of(self.connection, self.caller.user_id)?;
        Ok(self.muting.get_or_init(|| loaded))
    }

    /// Read messages of the viewer in a conversation.
    pub fn read_set(&self, recipient_id: RecipientId) -> ApiResult<Rc<ReadSet>> {
        if let Some(set) = self.read_sets.borrow().get(&recipient_id) {
            return Ok(Rc::clone(set));
        }
        let set = Rc::new(read_state::load(self.connection, self.caller.user_id, recipient_id)?);
        self.read_sets.borrow_mut().insert(recipient_id, Rc::clone(&set));
        Ok(set)
    }

    /// Loads a message that the viewer may read. Any other is refused as if it did not exist.
    pub fn find(&self, id: MessageId) -> ApiResult<MessageRow> {
        let message = sql::by_id(self.connection, id)?.ok_or_else(invalid_message)?;
        if self.can_read(message.recipient_id, id)? { Ok(message) } else { Err(invalid_message()) }
    }

    /// Loads a message that the viewer may read, with its channel, to change it or react to it. Messages of an archived
    /// channel cannot be changed, and are refused as if they did not exist.
    pub fn find_to_change(&self, id: MessageId) -> ApiResult<(MessageRow, Option<StreamRow>)> {
        let message = self.find(id)?;
        let stream = self.conversation(message.recipient_id)?.stream.clone();
        if stream.as_ref().is_some_and(|stream| stream.is_archived) {
            return Err(invalid_message());
        }
        Ok((message, stream))
    }
}

/// The refusal of a message that does not exist, or that the caller may not read.
pub fn invalid_message() -> ApiError {
    ApiError::bad_request("Invalid message(s)")
}
