//! `GET /accounts/login/subdomain/{token}`: the desktop app begins its session with the token that the person's browser shows.

use crate::api::sign_on::begin::{language, not_found};
use crate::api::sign_on::view;
use crate::app::App;
use crate::auth::session;
use crate::domain::logins::known::LoginSource;
use crate::domain::{logins, realm, rows};
use crate::http::{Anyone, ApiError, ApiResult, Call, NotJson, Reply, page};
use crate::oidc::flows::{Handover, Pad};
use crate::store::Tx;
use crate::types::{UserId, hex};
use rand::RngExt;
use rand::distr::Alphanumeric;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::Deserialize;
use std::sync::Arc;

/// The length of a token in characters, as published.
const LENGTH: usize = 32;

/// Parameters of `GET /accounts/login/subdomain/{token}`.
#[derive(Deserialize)]
pub struct TokenParams {
    /// The token: 32 letters and digits.
    token: String,
}

/// Makes a token with which the desktop app logs in, and encrypts it with the key of the app.
pub fn hand_over(app: &App, key: &Pad, user_id: UserId, next: String) -> ApiResult<String> {
    let token: String = rand::rng().sample_iter(Alphanumeric).take(LENGTH).map(char::from).collect();
    let sealed = seal(key, &token)?;
    app.sign_on.flows.hand_over(token, Handover { user_id, next }, &app.clock);
    Ok(sealed)
}

/// Encrypts a text with AES-256-GCM: the nonce, the text and its tag, in hexadecimal.
fn seal(key: &Pad, text: &str) -> ApiResult<String> {
    let failed = |_| ApiError::internal("the token of a login could not be encrypted");
    let nonce: [u8; NONCE_LEN] = rand::rng().random();
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key.bytes()).map_err(failed)?);
    let mut sealed = text.as_bytes().to_vec();
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed)
        .map_err(failed)?;
    Ok(hex(&nonce) + &hex(&sealed))
}

/// `GET /accounts/login/subdomain/{token}`: begins the session of a token, once and for 15 seconds.
pub async fn log_in(call: Call<Anyone>, params: TokenParams) -> ApiResult<Reply<NotJson>> {
    let (app, info) = (Arc::clone(&call.app), call.info.clone());
    if app.options.oidc.is_empty() {
        return Err(not_found(&app, &info));
    }
    let language = language(&app, &info).await?;
    if let Err(error) = app.rate_limiter.count_sign_on(info.peer, &app.clock) {
        return Ok(page::too_many_attempts(language, &error));
    }
    // Pages of other sites can open this address in a browser, with a token of the attacker's account.
    let is_app = info.browser.as_deref().is_some_and(session::is_desktop_app);
    let taken = if is_app { app.sign_on.flows.take_over(&params.token, &app.clock) } else { None };
    let Some(Handover { user_id, next }) = taken else { return Ok(view::unknown_token(language)) };
    let source = LoginSource { client: info.browser.clone().unwrap_or_default(), address: info.peer };
    let job = move |tx: &mut Tx<'_>, _: &Anyone| {
        let user = rows::user::by_id(tx, user_id)?.filter(|user| user.is_active);
        if user.is_none() || realm::is_deactivated(tx)? {
            return Ok(None);
        }
        logins::begin_session(tx, user_id, &source).map(Some)
    };
    match call.write(job).await? {
        Some(secret) => Ok(view::redirect(next, session::begin(&secret, &info.origin))),
        None => Ok(view::to_login(None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_app_with_the_key_reads_the_token() {
        let key = Pad::parse(&"5a".repeat(32)).unwrap();
        let sealed = seal(&key, "a token").unwrap();
        assert_eq!(sealed.len(), 2 * (NONCE_LEN + "a token".len() + 16));
        let bytes: Vec<u8> = (0..sealed.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&sealed[at..at + 2], 16).unwrap())
            .collect();
        let (nonce, text) = bytes.split_at(NONCE_LEN);
        let open = |key: &Pad| {
            let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key.bytes()).unwrap());
            let nonce = Nonce::try_assume_unique_for_key(nonce).unwrap();
            key.open_in_place(nonce, Aad::empty(), &mut text.to_vec()).map(|text| text.to_vec()).ok()
        };
        assert_eq!(open(&key), Some(b"a token".to_vec()));
        assert_eq!(open(&Pad::parse(&"5b".repeat(32)).unwrap()), None);
        assert_ne!(seal(&key, "a token").unwrap(), sealed);
    }
}
