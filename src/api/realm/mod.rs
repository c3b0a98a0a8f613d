//! The organization: its row, and its settings.
//!
//! - [`settings`]: the settings that are plain values;
//! - [`group_settings`]: who may do what;
//! - [`policies`]: the older numbers that stood for the same;
//! - [`state`]: all of it in the answer of `POST /register`.

pub mod group_settings;
pub mod images;
pub mod policies;
pub mod settings;
pub mod state;

use super::Slice;
use super::register::StatePart;
use crate::http::ApiResult;
use crate::store::Tx;
use rand::RngExt;

/// The organization.
pub const SLICE: Slice = Slice { name: "realm", state: STATE, set_up, ..Slice::EMPTY };

const STATE: &[StatePart] = &[
    StatePart { name: "realm", fetch: state::realm },
    StatePart { name: "realm_user", fetch: state::own_permissions },
];

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
