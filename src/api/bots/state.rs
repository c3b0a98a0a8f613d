//! Bots in the reply of `POST /register`.

use crate::api::resource::{State, StateRequest};
use crate::auth::Ctx;
use crate::domain::access::channels::Viewer;
use crate::domain::bots::record::BotRecord;
use crate::domain::bots::rules::Administration;
use crate::domain::{bots, rows};
use crate::error::ApiResult;

/// State part `realm_bot`: the bots that the caller can administer, including deactivated ones.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let caller = request.caller;
    let owner = (!caller.role.is_administrator()).then_some(caller.user_id);
    let viewer = Viewer::new(Ctx::new(request.connection, caller, request.now));
    let mut records = Vec::new();
    for (user, mut bot) in bots::list(request.connection, owner)? {
        let is_owner = user.bot_owner_id == Some(caller.user_id);
        let owner = rows::user::owner(request.connection, user.bot_owner_id)?;
        match Administration::of(caller.role, is_owner, owner.map(|owner| owner.role)) {
            Administration::None => continue,
            Administration::WithoutKey => bot.hide_secrets(),
            Administration::Full => {}
        }
        bots::default_channels::hide_inaccessible(&viewer, &mut bot)?;
        records.push(BotRecord::new(&user, &bot));
    }
    state.set::<Vec<BotRecord>>("realm_bots", &records)
}

/// State part `realm_embedded_bots`: bots that run inside the server. Always empty.
pub fn embedded_bots(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.set::<[(); 0]>("realm_embedded_bots", &[])
}
