//! `POST /realm/deactivate`: closing the organization.

use crate::domain::realm::{deactivated, events};
use crate::http::params::NoParams;
use crate::http::{ApiResult, Owner, Reply};
use crate::store::Tx;

/// `POST /realm/deactivate`: from now on nobody can log in. Nothing is deleted; the command line brings it back.
pub fn deactivate(tx: &mut Tx<'_>, _caller: &Owner, _params: NoParams) -> ApiResult<Reply> {
    deactivated::set(tx, true)?;
    events::tell_deactivated(tx)?;
    Ok(Reply::ok())
}
