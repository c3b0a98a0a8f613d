//! The organization: its row, and its settings.

pub mod settings;

use super::Slice;
use crate::http::ApiResult;
use crate::store::Tx;
use rand::RngExt;

/// The organization.
pub const SLICE: Slice = Slice { name: "realm", set_up, ..Slice::EMPTY };

/// Makes the organization's row in a new file.
fn set_up(tx: &mut Tx<'_>) -> ApiResult<()> {
    let bits: u128 = rand::rng().random();
    let now = tx.now();
    tx.execute(
        "INSERT OR IGNORE INTO realm (id, uuid, date_created) VALUES (1, ?1, ?2)",
        (format!("{bits:032x}"), now),
    )?;
    Ok(())
}
