//! `/accounts/unsubscribe/{type}/{key}`: ends mail of a kind, without a login. The page has a button, since scanners of mail follow
//! links; mail programs post to it at once (RFC 8058).

use crate::api::accounts::pages::form;
use crate::domain::accounts::change::set_setting;
use crate::domain::mail::unsubscribe;
use crate::domain::{realm, rows, user_settings};
use crate::http::{Anyone, ApiResult, Call, Read, Reply, page};
use crate::store::Tx;
use crate::types::Language;
use rusqlite::Connection;
use serde::Deserialize;
use std::sync::Arc;

/// Parameters of both.
#[derive(Deserialize)]
pub struct UnsubscribeParams {
    /// `missed_messages`, `digest` or `login`.
    kind: String,
    /// The secret part of the link.
    key: String,
}

/// `GET /accounts/unsubscribe/{type}/{key}`: asks.
pub fn show(read: &Read<'_, Anyone>, params: UnsubscribeParams) -> ApiResult<Reply> {
    let language = realm::page_language(read, read.info.language)?;
    if !is_known(read, &params)? {
        read.app.rate_limiter.count_wrong_key(read.info.peer, &read.app.clock)?;
        return Ok(unknown(language));
    }
    Ok(form(&page::Form {
        language,
        title: language.t("Unsubscribe from these emails"),
        sentences: &[about(language, &params.kind)],
        button: language.t("Unsubscribe"),
        ..page::Form::default()
    }))
}

/// True if a link works.
fn is_known(connection: &Connection, params: &UnsubscribeParams) -> ApiResult<bool> {
    Ok(unsubscribe::setting(&params.kind).is_some() && unsubscribe::find(connection, &params.key)?.is_some())
}

/// The emails of a type.
fn about(language: Language, kind: &str) -> &'static str {
    match kind {
        "missed_messages" => language.t("Emails about messages that you have missed."),
        "digest" => language.t("Digests of what happened while you were away."),
        "login" => language.t("Emails about new logins to your account."),
        _ => language.t("Emails about new features."),
    }
}

/// `POST /accounts/unsubscribe/{type}/{key}`: turns the setting off.
pub async fn submit(call: Call<Anyone>, params: UnsubscribeParams) -> ApiResult<Reply> {
    let (app, info) = (Arc::clone(&call.app), call.info.clone());
    let read = app.readers.read(|snapshot| -> ApiResult<_> {
        Ok((realm::page_language(snapshot, info.language)?, is_known(snapshot, &params)?))
    });
    let (language, is_known) = read.await?;
    if !is_known {
        app.rate_limiter.count_wrong_key(info.peer, &app.clock)?;
        return Ok(unknown(language));
    }
    call.write(move |tx, _| turn_off(tx, &params)).await?;
    let sentence =
        language.t("You will not receive these emails any more. You can turn them on again in your notification settings.");
    Ok(page::reply(200, language, language.t("You are unsubscribed"), &[sentence]))
}

/// Turns the setting off.
fn turn_off(tx: &mut Tx<'_>, params: &UnsubscribeParams) -> ApiResult<()> {
    let (Some(user_id), Some(name)) =
        (unsubscribe::find(tx, &params.key)?, unsubscribe::setting(&params.kind))
    else {
        return Ok(());
    };
    let Some(user) = rows::user::by_id(tx, user_id)? else { return Ok(()) };
    let current = user_settings::all(tx, user_id)?;
    if *current.value(name) != false {
        set_setting(tx, &user, name, &false.into())?;
    }
    Ok(())
}

fn unknown(language: Language) -> Reply {
    let sentence = language
        .t("The link is not complete. You can also turn these emails off in your notification settings.");
    page::reply(200, language, language.t("This link does not work"), &[sentence])
}
