//! The operations of the interface, one file or folder for each resource.
//!
//! The operations of a resource are its handlers, each with its parameters and reply; a large one has its own file,
//! named as the interface documents it. No resource imports another; shared code is in [`crate::domain`]. A new
//! resource is declared here and added to [`RESOURCES`].

pub mod accounts;
pub mod alert_words;
mod audit_log;
pub mod bot_storage;
pub mod bots;
pub mod channel_folders;
mod channel_params;
pub mod channels;
mod code_playgrounds;
mod default_stream_groups;
mod dev;
mod digest;
mod domains;
pub mod drafts;
pub mod emoji;
pub mod events;
mod exports;
pub mod groups;
mod health;
mod help;
mod images;
pub mod incoming_webhooks;
mod invites;
pub mod join;
pub mod keys;
mod linkifiers;
pub mod mail;
mod maintenance;
pub mod messages;
mod missed_messages;
pub mod muted_users;
pub mod navigation_views;
mod not_configured;
mod onboarding_steps;
pub mod outgoing_webhooks;
mod presence;
mod profile_fields;
mod public_pages;
pub mod queues;
pub mod reactions;
pub mod realm;
mod realm_images;
pub mod reminders;
pub mod reports;
pub mod resource;
pub mod saved_snippets;
pub mod scheduled_messages;
pub mod server_settings;
mod server_state;
pub mod setting_params;
mod sign_on;
mod submessages;
pub mod subscriptions;
pub mod topics;
mod typing;
pub mod uploads;
pub mod user_settings;
pub mod user_status;
pub mod user_topics;
pub mod users;
mod web;
mod web_push;

use crate::api::resource::{Background, Resource, StatePart};
use crate::domain;
use crate::domain::notices;
use crate::http::{ApiResult, Route};
use crate::store::Tx;

/// All resources, in the order in which they are set up: a resource that needs rows of another comes after it.
pub static RESOURCES: &[Resource] = &[
    groups::RESOURCE,
    realm::RESOURCE,
    users::RESOURCE,
    invites::RESOURCE,
    Resource { name: "notices", set_up: notices::set_up, ..Resource::EMPTY },
    user_settings::RESOURCE,
    profile_fields::RESOURCE,
    presence::RESOURCE,
    user_status::RESOURCE,
    muted_users::RESOURCE,
    keys::RESOURCE,
    not_configured::RESOURCE,
    dev::RESOURCE,
    channel_folders::RESOURCE,
    bots::RESOURCE,
    bot_storage::RESOURCE,
    linkifiers::RESOURCE,
    code_playgrounds::RESOURCE,
    domains::RESOURCE,
    onboarding_steps::RESOURCE,
    channels::RESOURCE,
    default_stream_groups::RESOURCE,
    subscriptions::RESOURCE,
    messages::RESOURCE,
    outgoing_webhooks::RESOURCE,
    incoming_webhooks::RESOURCE,
    alert_words::RESOURCE,
    submessages::RESOURCE,
    reactions::RESOURCE,
    topics::RESOURCE,
    user_topics::RESOURCE,
    drafts::RESOURCE,
    scheduled_messages::RESOURCE,
    reminders::RESOURCE,
    reports::RESOURCE,
    typing::RESOURCE,
    uploads::RESOURCE,
    saved_snippets::RESOURCE,
    navigation_views::RESOURCE,
    join::RESOURCE,
    sign_on::RESOURCE,
    server_settings::RESOURCE,
    server_state::RESOURCE,
    emoji::RESOURCE,
    exports::RESOURCE,
    images::RESOURCE,
    realm_images::RESOURCE,
    web::RESOURCE,
    public_pages::RESOURCE,
    web_push::RESOURCE,
    missed_messages::RESOURCE,
    digest::RESOURCE,
    mail::RESOURCE,
    accounts::RESOURCE,
    help::RESOURCE,
    health::RESOURCE,
    audit_log::RESOURCE,
    maintenance::RESOURCE,
    Resource { name: "register", routes: || queues::register::routes(state_parts), ..Resource::EMPTY },
    queues::RESOURCE,
];

/// Lists the parts of the registration state of all resources.
fn state_parts() -> Vec<&'static StatePart> {
    RESOURCES.iter().flat_map(|resource| resource.state).collect()
}

/// Lists the routes of all resources.
pub fn routes() -> Vec<Route> {
    RESOURCES.iter().flat_map(|resource| (resource.routes)()).collect()
}

/// The resources' background tasks.
pub fn background_tasks() -> impl Iterator<Item = Background> {
    RESOURCES.iter().filter_map(|resource| resource.background)
}

/// Inserts the rows that every database needs: the organization, the system groups, the system bots and others. The
/// domain of `public_url` is used for placeholder emails. Continues the follow-up jobs that a crash interrupted.
pub fn set_up(tx: &mut Tx<'_>, public_url: Option<&str>) -> ApiResult<()> {
    let follow_ups: Vec<_> = RESOURCES.iter().flat_map(|resource| resource.follow_ups).collect();
    tx.resume(&follow_ups)?;
    RESOURCES.iter().try_for_each(|resource| (resource.set_up)(tx))?;
    if let Some(url) = public_url {
        domain::users::reserve_dummy_domain(tx, &domain::realm::bot_domain(Some(url)))?;
    }
    Ok(())
}
