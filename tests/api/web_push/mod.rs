//! Push notifications: subscriptions of browsers, whom the server notifies, push services of every kind, and phones.

mod bouncer;
mod deciding;
mod devices;
mod phones;
mod sending;
mod service;
mod status;
mod subscribing;
