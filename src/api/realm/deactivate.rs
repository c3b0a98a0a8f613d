//! `POST /realm/deactivate`: closing the organization.

use super::{deactivated, events};
use crate::http::{ApiResult, Owner, Reply};
use crate::store::Tx;
use serde::Deserialize;

/// `POST /realm/deactivate` has no parameters here: the published `deletion_delay_days` would delete the organization's
/// data some days later, which is for whoever has the file.
#[derive(Deserialize)]
pub struct NoParams {}

/// `POST /realm/deactivate`: from now on nobody can log in. Nothing is deleted; the command line brings it back.
pub fn deactivate(tx: &mut Tx<'_>, _caller: &Owner, _params: NoParams) -> ApiResult<Reply> {
    deactivated::set(tx, true)?;
    events::tell_deactivated(tx)?;
    Ok(Reply::ok())
}
