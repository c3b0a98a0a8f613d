//! The operator as the author of changes.

use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::Origin;

/// Runs a job of a command: the operator is the author of its changes.
pub(super) fn as_operator<T>(tx: &mut Tx<'_>, job: impl FnOnce(&mut Tx<'_>) -> ApiResult<T>) -> ApiResult<T> {
    tx.set_origin(Origin::OPERATOR);
    tracing::info_span!("by_operator").in_scope(|| job(tx))
}
