//! `GET`, `POST` and `DELETE /users/me/alert_words`.

use crate::domain::alert_words::{automaton, sql};
use crate::events::{Audience, Event};
use crate::http::params::{BoundedText, NoParams};
use crate::http::{ApiResult, Read, Reply, User};
use crate::store::Tx;
use crate::types::UserId;
use serde::{Deserialize, Serialize};

/// The longest word or phrase, in characters.
const MAX_WORD_LENGTH: usize = 100;

/// `alert_words`: all of the user's words.
#[derive(Serialize)]
struct AlertWordsChanged<'a> {
    r#type: &'static str,
    alert_words: &'a [String],
}

impl Event for AlertWordsChanged<'_> {
    const TYPE: &'static str = "alert_words";
}

/// `GET /users/me/alert_words`.
pub fn get_alert_words(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    Reply::field("alert_words", &sql::words_of(read, read.caller.user_id)?)
}

/// Parameters of `POST` and `DELETE /users/me/alert_words`.
#[derive(Deserialize)]
pub struct WordsParams {
    /// Words or phrases. Those that are empty without the white space around them are left out.
    alert_words: Vec<BoundedText<MAX_WORD_LENGTH>>,
}

impl WordsParams {
    fn words(&self) -> impl Iterator<Item = &str> {
        self.alert_words.iter().map(|word| word.trim()).filter(|word| !word.is_empty())
    }
}

/// `POST /users/me/alert_words`: words that the user has already, in upper or lower case, are passed over.
pub fn add_alert_words(tx: &mut Tx<'_>, caller: &User, params: WordsParams) -> ApiResult<Reply> {
    let mut changed = false;
    for word in params.words() {
        changed |= sql::insert(tx, caller.user_id, word)?;
    }
    answer(tx, caller.user_id, changed)
}

/// `DELETE /users/me/alert_words`: words that the user does not have are passed over.
pub fn remove_alert_words(tx: &mut Tx<'_>, caller: &User, params: WordsParams) -> ApiResult<Reply> {
    let mut changed = false;
    for word in params.words() {
        changed |= sql::delete(tx, caller.user_id, word)?;
    }
    answer(tx, caller.user_id, changed)
}

fn answer(tx: &mut Tx<'_>, user_id: UserId, changed: bool) -> ApiResult<Reply> {
    let words = sql::words_of(tx, user_id)?;
    if changed {
        automaton::forget(tx);
        let event = AlertWordsChanged { r#type: AlertWordsChanged::TYPE, alert_words: &words };
        tx.emit(&event, Audience::user(user_id));
    }
    Reply::field("alert_words", &words)
}
