//! `/users/me/alert_words`: words whose appearance in a message alerts the user.

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::domain::limits::{Accounts, MAX_ALERT_WORDS, organization};
use crate::domain::{alert_words, limits};
use crate::events::{Audience, uniform_event};
use crate::http::params::{BoundedText, NoParams};
use crate::http::{ApiResult, Read, Reply, Route, USER, User};
use crate::store::Tx;
use crate::types::UserId;
use hyper::Method;
use serde::{Deserialize, Serialize};

pub const RESOURCE: Resource = Resource { name: "alert_words", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[StatePart { name: "alert_words", fetch: state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/users/me/alert_words", USER, get_alert_words),
        Route::write(Method::POST, "/users/me/alert_words", USER, add_alert_words),
        Route::write(Method::DELETE, "/users/me/alert_words", USER, remove_alert_words),
    ]
}

/// State part `alert_words`: the caller's alert words, in the order in which they were added.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let words = alert_words::list(request.connection, request.caller.user_id)?;
    state.set::<Vec<String>>("alert_words", &words)
}

/// The maximum length of a word or phrase, in characters.
const MAX_WORD_LENGTH: usize = 100;

/// `alert_words`: the user's alert words changed. The event has all of them.
#[derive(Serialize, Deserialize)]
pub struct AlertWordsChanged {
    /// All words of the user, as they were written.
    alert_words: Vec<String>,
}

uniform_event!(AlertWordsChanged: "alert_words", version 1);

/// All alert words of the caller, after the request.
#[derive(Serialize)]
struct AlertWords {
    /// All of the caller's words, in the order in which they were added.
    alert_words: Vec<String>,
}

/// `GET /users/me/alert_words`: lists the caller's alert words.
fn get_alert_words(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<AlertWords>> {
    Reply::data(&AlertWords { alert_words: alert_words::list(read, read.caller.user_id)? })
}

/// Parameters of `POST` and `DELETE /users/me/alert_words`.
#[derive(Deserialize)]
pub struct WordsParams {
    /// Words or phrases of at most 100 characters; surrounding white space and empty words are ignored. A person can
    /// have at most 300, with those of their bots.
    alert_words: Vec<BoundedText<MAX_WORD_LENGTH>>,
}

impl WordsParams {
    fn words(&self) -> impl Iterator<Item = &str> {
        self.alert_words.iter().map(|word| word.trim()).filter(|word| !word.is_empty())
    }
}

/// `POST /users/me/alert_words`: adds words. Those the user already has, ignoring case, are skipped.
fn add_alert_words(tx: &mut Tx<'_>, caller: &User, params: WordsParams) -> ApiResult<Reply<AlertWords>> {
    limits::check("alert words", params.alert_words.len(), MAX_ALERT_WORDS)?;
    let mut added = Vec::new();
    for word in params.words() {
        if alert_words::insert(tx, caller.user_id, word)? {
            added.push(word);
        }
    }
    if !added.is_empty() {
        let statement = "SELECT count(*) FROM alert_word WHERE user_id IN (SELECT value FROM json_each(?1))";
        let accounts = Accounts::of(tx, caller.user_id, tx.now())?;
        accounts.check("alert words", statement, 0, MAX_ALERT_WORDS)?;
        organization::check_alert_words(tx)?;
    }
    emit_and_reply(tx, caller.user_id, &added, &[])
}

/// `DELETE /users/me/alert_words`: removes words. Those the user does not have are skipped.
fn remove_alert_words(tx: &mut Tx<'_>, caller: &User, params: WordsParams) -> ApiResult<Reply<AlertWords>> {
    limits::check("alert words", params.alert_words.len(), MAX_ALERT_WORDS)?;
    let mut removed = Vec::new();
    for word in params.words() {
        if alert_words::delete(tx, caller.user_id, word)? {
            removed.push(word);
        }
    }
    emit_and_reply(tx, caller.user_id, &[], &removed)
}

/// Deletes the words of a user, with the event, and returns their number.
pub fn purge(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<usize> {
    let words = alert_words::list(tx, user_id)?;
    for word in &words {
        alert_words::delete(tx, user_id, word)?;
    }
    let removed: Vec<&str> = words.iter().map(String::as_str).collect();
    emit_and_reply(tx, user_id, &[], &removed)?;
    Ok(words.len())
}

/// Emits the user's words if they changed, and returns them.
fn emit_and_reply(
    tx: &mut Tx<'_>,
    user_id: UserId,
    added: &[&str],
    removed: &[&str],
) -> ApiResult<Reply<AlertWords>> {
    let words = alert_words::list(tx, user_id)?;
    if !added.is_empty() || !removed.is_empty() {
        alert_words::update_cache(tx, user_id, added, removed);
        tx.emit(AlertWordsChanged { alert_words: words.clone() }, Audience::user(user_id));
    }
    Reply::data(&AlertWords { alert_words: words })
}
