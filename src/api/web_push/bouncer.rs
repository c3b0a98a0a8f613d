//! The protocol of the push bouncer: requests with the id and the key of this server, and their answers.
//!
//! The bouncer keeps the tokens of phones by user. It gets nothing but tokens and notifications: no figures about the
//! organization.

use crate::api::web_push::retries::{TIMEOUT, retry_after};
use crate::app::{App, PushBouncer};
use crate::domain::realm;
use crate::error::ApiResult;
use crate::http_client;
use crate::http_client::{Outgoing, Permission};
use crate::types::UserId;
use crate::types::version::VERSION;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use form_urlencoded::Serializer;
use hyper::Method;
use rusqlite::Connection;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::Url;

/// The most bytes of an answer that are read.
const ANSWER_LIMIT: usize = 256 << 10;

/// The most characters of a refusal that are shown.
const MAX_REASON: usize = 300;

/// A user, as the bouncer knows them: by id, and by an id that no other server uses.
#[derive(Clone, Debug)]
pub struct Identity {
    user_id: UserId,
    uuid: String,
}

impl Identity {
    /// The identity of a user. It follows from the organization's, so that it is the same after a restored backup.
    pub fn of(connection: &Connection, user_id: UserId) -> ApiResult<Self> {
        let digest = Sha256::digest(format!("push bouncer/{}/{user_id}", realm::uuid(connection)?));
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(digest.iter()).for_each(|(to, from)| *to = *from);
        // The bits of version 4.
        bytes[6] = (bytes[6] & 0x0f) | 0x40;
        bytes[8] = (bytes[8] & 0x3f) | 0x80;
        let hex = format!("{:032x}", u128::from_be_bytes(bytes));
        let uuid = format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
        Ok(Self { user_id, uuid })
    }
}

/// The kind of a phone, by the service that reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// Apple's.
    Apns = 1,
    /// Google's.
    Fcm = 2,
}

/// A request to the push bouncer, in the name of one user.
pub enum Request<'r> {
    /// Keeps a token.
    Register(DeviceKind, &'r str, Option<&'r str>),
    /// Forgets a token.
    Unregister(DeviceKind, &'r str),
    /// Forgets all tokens of the user.
    UnregisterAll,
    /// Passes a notification on to all phones of the user. Members of the request.
    Notify(Value),
    /// Passes a test notification on, with what all notifications say.
    Test(DeviceKind, &'r str, &'r Value),
}

impl Request<'_> {
    /// The last parts of the path, the content type and the body.
    fn write(self, bouncer: &PushBouncer, identity: &Identity) -> (&'static str, &'static str, String) {
        const FORM: &str = "application/x-www-form-urlencoded";
        let Identity { user_id, uuid } = identity;
        let form = |kind: Option<DeviceKind>, token: Option<&str>, app_id: Option<&str>| {
            let mut form = Serializer::new(String::new());
            form.append_pair("server_uuid", &bouncer.org_id).append_pair("user_uuid", uuid);
            form.append_pair("user_id", &user_id.to_string());
            if let (Some(kind), Some(token)) = (kind, token) {
                form.append_pair("token", token).append_pair("token_kind", &(kind as i64).to_string());
            }
            if let Some(app_id) = app_id {
                form.append_pair("ios_app_id", app_id);
            }
            form.finish()
        };
        let json = |mut value: Value| {
            value["user_id"] = json!(user_id);
            value["user_uuid"] = json!(uuid);
            value.to_string()
        };
        match self {
            Self::Register(kind, token, app_id) => ("register", FORM, form(Some(kind), Some(token), app_id)),
            Self::Unregister(kind, token) => ("unregister", FORM, form(Some(kind), Some(token), None)),
            Self::UnregisterAll => ("unregister/all", FORM, form(None, None, None)),
            Self::Notify(value) => ("notify", "application/json", json(value)),
            Self::Test(kind, token, base) => {
                let value = json!({"token": token, "token_kind": kind as i64, "base_payload": base});
                ("test_notification", "application/json", json(value))
            }
        }
    }
}

/// The reason why the bouncer did not do what it was asked to do, with a text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It was not reached, or failed. It is to be asked again, at the earliest after some seconds.
    Unavailable(i64, String),
    /// It does not accept the id and the key of this server.
    Unauthorized(String),
    /// It does not have the token that a test notification is for.
    UnknownDevice(String),
    /// It refused for another reason.
    Refused(String),
}

/// Sends a request for a user, and returns the answer.
pub async fn ask(
    app: &App,
    bouncer: &PushBouncer,
    identity: &Identity,
    request: Request<'_>,
) -> Result<Value, Failure> {
    let (endpoint, content_type, body) = request.write(bouncer, identity);
    let unavailable = |msg: &str| Failure::Unavailable(0, msg.to_owned());
    let url = Url::parse(&format!("{}/api/v1/remotes/push/{endpoint}", bouncer.url))
        .map_err(|_| unavailable("ConnectionError while trying to connect to push notification bouncer"))?;
    let credentials = STANDARD.encode(format!("{}:{}", bouncer.org_id, bouncer.org_key));
    let request = Outgoing {
        method: Method::POST,
        url: &url,
        permission: Permission::Any,
        headers: vec![
            ("Authorization", format!("Basic {credentials}")),
            ("Content-Type", content_type.to_owned()),
            ("User-Agent", format!("ZulipServer/{VERSION}")),
        ],
        body: Bytes::from(body),
        timeout: app.options.overrides.outgoing_timeout.unwrap_or(TIMEOUT),
        answer_limit: Some(ANSWER_LIMIT),
        file: None,
        tls: Some(&app.tls_client),
    };
    let answer = http_client::send(request).await.map_err(|failure| {
        let what = match failure {
            http_client::Failure::TimedOut => "Timeout",
            http_client::Failure::NotConnected(_) | http_client::Failure::NotAllowed => "ConnectionError",
        };
        unavailable(&format!("{what} while trying to connect to push notification bouncer"))
    })?;
    let value: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let text = |name: &str| {
        let text = value[name].as_str().unwrap_or_default();
        text.chars().take(MAX_REASON).collect::<String>()
    };
    match answer.status {
        200 => Ok(value),
        429 | 500..=599 => {
            let pause = retry_after(&answer.headers, app.clock.seconds());
            Err(Failure::Unavailable(pause, "Received 500 from push notification bouncer".to_owned()))
        }
        400..=499 if !text("msg").is_empty() => Err(match text("code").as_str() {
            "INVALID_ZULIP_SERVER" => Failure::Unauthorized(text("msg")),
            "INVALID_REMOTE_PUSH_DEVICE_TOKEN" => Failure::UnknownDevice(text("msg")),
            _ => Failure::Refused(text("msg")),
        }),
        status => Err(Failure::Refused(format!(
            "Push notification bouncer returned unexpected status code {status}"
        ))),
    }
}
