//! `presence` events. They are not logged: who does not listen asks once a minute anyway.

use crate::domain::access::{user_rows as users, users as access};
use crate::domain::presence::record::CLIENT;
use crate::domain::presence::sql;
use crate::domain::realm;
use crate::events::{Audience, Event, EventType, Receiver, Verdict};
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::UserId;
use roaring::RoaringBitmap;
use serde::Serialize;
use serde_json::{Value, json};

/// In larger organizations nobody is told at once: in the morning everybody comes, and all would have to be told of
/// each. Clients hear of it when they next ask.
const MAX_AUDIENCE: u64 = 1000;

/// `presence`: somebody is back, or wants to be seen, or not any more.
#[derive(Serialize)]
struct PresenceChanged {
    r#type: &'static str,
    user_id: UserId,
    email: String,
    /// UNIX seconds, with a fraction.
    server_timestamp: f64,
    /// The older form, by client.
    presence: Value,
    /// The modern form, by user. For clients with `simplified_presence_events`, who get only this.
    presences: Value,
}

impl Event for PresenceChanged {
    const TYPE: &'static str = "presence";
}

/// Tells those who can access a person how their presence is now, unless the organization does not show any.
pub fn tell(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<()> {
    let user = users::by_id(tx, user_id)?
        .ok_or_else(|| ApiError::internal("the user who was just active has no row"))?;
    let audience = access::who_can_access(tx, &user)?;
    if audience.len() > MAX_AUDIENCE {
        return Ok(());
    }
    tell_these(tx, user_id, audience)
}

/// Tells some users how a person's presence is now, unless the organization does not show any.
pub fn tell_these(tx: &mut Tx<'_>, user_id: UserId, audience: RoaringBitmap) -> ApiResult<()> {
    let Some(presence) = sql::of(tx, user_id)? else { return Ok(()) };
    if realm::settings::get(tx, "presence_disabled")? {
        return Ok(());
    }
    let event = PresenceChanged {
        r#type: PresenceChanged::TYPE,
        user_id,
        server_timestamp: seconds(tx.now() * 1000),
        presence: json!({CLIENT: presence.legacy_website()}),
        presences: json!({user_id.to_string(): presence.modern()}),
        email: presence.email,
    };
    tx.emit_unlogged(&event, Audience::set(audience));
    Ok(())
}

/// Milliseconds as the fraction that the interface wants.
#[expect(clippy::cast_precision_loss, reason = "a time in milliseconds fits in the 53 bits")]
pub fn seconds(milliseconds: i64) -> f64 {
    milliseconds as f64 / 1000.0
}

const LEGACY: u8 = 0;

const SIMPLIFIED: u8 = 1;

/// Clients that know it get the modern form.
pub fn event_types() -> Vec<EventType> {
    vec![EventType {
        name: PresenceChanged::TYPE,
        verdict: |_event, receiver: &Receiver<'_>| {
            let is_modern = receiver.registration.client_capabilities.simplified_presence_events;
            Verdict::Form(if is_modern { SIMPLIFIED } else { LEGACY })
        },
        form: |event, form| {
            if form == SIMPLIFIED {
                return json!({"type": event["type"], "presences": event["presences"]}).to_string();
            }
            let mut event = event.clone();
            if let Some(members) = event.as_object_mut() {
                members.remove("presences");
            }
            event.to_string()
        },
        personal: EventType::nothing_personal,
    }]
}
