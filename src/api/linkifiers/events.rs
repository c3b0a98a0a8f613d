//! The event about linkifiers, and the linkifiers in the answer of `POST /register`. Both are for clients that know URL
//! templates (feature level 176).

use crate::domain::linkifiers::{LinkifierRecord, sql};
use crate::domain::realm::user_ids as users;
use crate::events::{Audience, Event, EventType, Receiver, Verdict};
use crate::http::{ApiResult, State, StateRequest};
use crate::store::Tx;
use serde::Serialize;
use serde_json::json;

/// `realm_linkifiers`: all of them, whatever has changed.
#[derive(Serialize)]
struct LinkifiersChanged {
    r#type: &'static str,
    realm_linkifiers: Vec<LinkifierRecord>,
}

impl Event for LinkifiersChanged {
    const TYPE: &'static str = "realm_linkifiers";
}

/// Tells everybody.
pub fn tell_changed(tx: &mut Tx<'_>) -> ApiResult<()> {
    let event = LinkifiersChanged { r#type: LinkifiersChanged::TYPE, realm_linkifiers: sql::all(tx)? };
    let everybody = Audience::set(users::active_ids(tx)?);
    tx.emit(&event, everybody);
    Ok(())
}

/// Clients that do not know URL templates hear nothing.
pub fn event_types() -> Vec<EventType> {
    vec![EventType {
        name: LinkifiersChanged::TYPE,
        verdict: |_event, receiver: &Receiver<'_>| {
            let knows = receiver.registration.client_capabilities.linkifier_url_template;
            if knows { Verdict::Form(0) } else { Verdict::Skip }
        },
        form: |event, _form| event.to_string(),
        personal: EventType::nothing_personal,
    }]
}

/// Word `realm_linkifiers`: empty for clients that do not know URL templates.
pub fn linkifiers(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let knows = request.registration.client_capabilities.linkifier_url_template;
    let all = if knows { sql::all(request.connection)? } else { Vec::new() };
    state.insert("realm_linkifiers".into(), json!(all));
    Ok(())
}

/// Word `realm_filters`: what the linkifiers were before templates; always empty since.
pub fn filters(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.insert("realm_filters".into(), json!([]));
    Ok(())
}
