//! `GET /export/realm/consents`: whose private data may be exported (feature level 295).

use crate::domain::user_settings::sql;
use crate::http::params::NoParams;
use crate::http::{Administrator, ApiResult, Read, Reply};
use crate::types::UserId;
use serde::Serialize;

/// A user's word.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Consent {
    user_id: UserId,
    consented: bool,
}

/// `GET /export/realm/consents`: the word of every person whose account is in use; it is their setting
/// `allow_private_data_export`.
pub fn get_consents(read: &Read<'_, Administrator>, _params: NoParams) -> ApiResult<Reply> {
    let consents: Vec<Consent> = sql::of_all_people(read, "allow_private_data_export")?
        .into_iter()
        .map(|(user_id, value)| Consent { user_id, consented: value.as_deref() == Some("true") })
        .collect();
    Reply::field("export_consents", &consents)
}
