//! The resources of the interface, one slice each, and the lists that join them.
//!
//! A slice has its operations (one file each, named as the interface names them), `rules`, `sql` and `events`. It may
//! use another slice's rules, statements and events, never its operations. Adding a slice means adding it to [`SLICES`].

pub mod alert_words;
pub mod bot_storage;
pub mod bots;
pub mod channel_folders;
pub mod channels;
pub mod code_playgrounds;
pub mod control;
pub mod default_stream_groups;
pub mod domains;
pub mod drafts;
pub mod emoji;
pub mod events;
pub mod groups;
pub mod images;
pub mod incoming_webhooks;
pub mod invites;
pub mod join;
pub mod keys;
pub mod linkifiers;
pub mod messages;
pub mod muted_users;
pub mod navigation_views;
pub mod onboarding_steps;
pub mod outgoing_webhooks;
pub mod presence;
pub mod profile_fields;
pub mod queues;
pub mod reactions;
pub mod realm;
pub mod realm_images;
pub mod reminders;
pub mod reports;
pub mod saved_snippets;
pub mod scheduled_messages;
pub mod server_settings;
pub mod server_state;
pub mod submessages;
pub mod subscriptions;
pub mod topics;
pub mod typing;
pub mod uploads;
pub mod user_settings;
pub mod user_status;
pub mod user_topics;
pub mod users;

use crate::app::App;
use crate::domain::notices;
use crate::http::{ApiResult, Route, StatePart};
use crate::store::Tx;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::watch;

/// What a slice gives to the whole.
pub struct Slice {
    /// The slice's name: its folder's.
    pub name: &'static str,
    /// Its routes.
    pub routes: fn() -> Vec<Route>,
    /// Its share of the answer of `POST /register`.
    pub state: &'static [StatePart],
    /// What has to be there before the first request; called at each start.
    pub set_up: fn(&mut Tx<'_>) -> ApiResult<()>,
    /// Work of its own that goes on beside the requests.
    pub background: Option<Background>,
}

/// A task that runs until the server stops.
pub type Background = fn(Arc<App>, watch::Receiver<bool>) -> Pin<Box<dyn Future<Output = ()> + Send>>;

impl Slice {
    /// A slice without anything; fields are set from here.
    pub const EMPTY: Self =
        Self { name: "", routes: Vec::new, state: &[], set_up: |_| Ok(()), background: None };
}

/// All slices. Set up in this order: who needs another's rows comes after it.
pub static SLICES: &[Slice] = &[
    groups::SLICE,
    realm::SLICE,
    users::SLICE,
    invites::SLICE,
    Slice { name: "notices", set_up: notices::set_up, ..Slice::EMPTY },
    user_settings::SLICE,
    profile_fields::SLICE,
    presence::SLICE,
    user_status::SLICE,
    muted_users::SLICE,
    keys::SLICE,
    channel_folders::SLICE,
    bots::SLICE,
    bot_storage::SLICE,
    linkifiers::SLICE,
    code_playgrounds::SLICE,
    domains::SLICE,
    onboarding_steps::SLICE,
    channels::SLICE,
    default_stream_groups::SLICE,
    subscriptions::SLICE,
    messages::SLICE,
    outgoing_webhooks::SLICE,
    incoming_webhooks::SLICE,
    alert_words::SLICE,
    submessages::SLICE,
    reactions::SLICE,
    topics::SLICE,
    user_topics::SLICE,
    drafts::SLICE,
    scheduled_messages::SLICE,
    reminders::SLICE,
    reports::SLICE,
    typing::SLICE,
    uploads::SLICE,
    saved_snippets::SLICE,
    navigation_views::SLICE,
    join::SLICE,
    server_settings::SLICE,
    server_state::SLICE,
    emoji::SLICE,
    images::SLICE,
    realm_images::SLICE,
    queues::register::SLICE,
    queues::SLICE,
    control::SLICE,
];

/// The whole table of routes.
pub fn routes() -> Vec<Route> {
    SLICES.iter().flat_map(|slice| (slice.routes)()).collect()
}

/// The slices' background tasks.
pub fn background_tasks() -> impl Iterator<Item = Background> {
    SLICES.iter().filter_map(|slice| slice.background)
}

/// Makes what every file needs: the organization, its system groups, its system bots.
pub fn set_up(tx: &mut Tx<'_>) -> ApiResult<()> {
    SLICES.iter().try_for_each(|slice| (slice.set_up)(tx))
}
