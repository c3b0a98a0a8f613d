//! Web Push: subscriptions, whom the server notifies, and push services of every kind.

mod deciding;
mod sending;
mod service;
mod subscribing;
