//! The organization: its settings, whether it is deactivated, the ids of its users, and `realm` events.

pub mod deactivated;
pub mod events;
pub mod settings;
pub mod user_ids;

/// The domain of stand-ins for hidden emails, where the server's own host cannot be the domain of an address.
pub const DUMMY_DOMAIN: &str = "bots.invalid";

/// The domain of the addresses that new bots get: the server's host, if that can be the domain of an address.
pub fn bot_domain(origin: &str) -> String {
    let url = url::Url::parse(origin).ok();
    let domain = url.as_ref().and_then(url::Url::domain).filter(|domain| domain.contains('.'));
    domain.unwrap_or(DUMMY_DOMAIN).to_owned()
}
