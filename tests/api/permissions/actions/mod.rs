//! Actions: the rows of the table with their rules.

mod channels;
mod organization;
mod personal;

use super::organization::{Case, Request};
use super::rules::Rule;
use reqwest::Method;
use serde_json::{Value, json};

/// Object of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The organization, its people, or the caller: one row.
    Organization,
    /// A channel or a message in it: a row for each kind of channel and each relation to it.
    Channel,
}

/// An operation with parameters, and who may do it.
pub struct Action {
    pub name: &'static str,
    pub scope: Scope,
    pub is_for_webhooks: bool,
    /// Below `/json`, those without a session are answered as visitors.
    pub is_for_visitors: bool,
    pub rule: Rule,
    pub request: fn(&Case<'_>) -> Request,
}

impl Action {
    const fn organization(name: &'static str, rule: Rule, request: fn(&Case<'_>) -> Request) -> Self {
        Self {
            name,
            scope: Scope::Organization,
            is_for_webhooks: false,
            is_for_visitors: false,
            rule,
            request,
        }
    }

    const fn channel(name: &'static str, rule: Rule, request: fn(&Case<'_>) -> Request) -> Self {
        Self { scope: Scope::Channel, ..Self::organization(name, rule, request) }
    }

    const fn for_visitors(self) -> Self {
        Self { is_for_visitors: true, ..self }
    }

    const fn for_webhooks(self) -> Self {
        Self { is_for_webhooks: true, ..self }
    }
}

/// All of them, in the order of the page.
pub fn all() -> impl Iterator<Item = &'static Action> {
    personal::ACTIONS.iter().chain(organization::ACTIONS).chain(channels::ACTIONS)
}

fn post(path: impl Into<String>, parameters: Value) -> Request {
    Request { method: Method::POST, path: path.into(), parameters, with_image: false }
}

fn patch(path: impl Into<String>, parameters: Value) -> Request {
    Request { method: Method::PATCH, path: path.into(), parameters, with_image: false }
}

fn delete(path: impl Into<String>, parameters: Value) -> Request {
    Request { method: Method::DELETE, path: path.into(), parameters, with_image: false }
}

fn put(path: impl Into<String>, parameters: Value) -> Request {
    Request { method: Method::PUT, ..post(path, parameters) }
}

/// Brings an image.
fn post_image(path: impl Into<String>, parameters: Value) -> Request {
    Request { with_image: true, ..post(path, parameters) }
}

/// `POST /messages` to the bystander.
fn write_to_bystander(case: &Case<'_>, content: &str) -> Request {
    post("/messages", json!({"type": "direct", "to": [case.bystander().user_id], "content": content}))
}

/// `PATCH /messages/{message_id}` with these parameters.
fn change_message(id: i64, parameters: Value) -> Request {
    patch(format!("/messages/{id}"), parameters)
}

/// A time that is far enough ahead.
const LATER: i64 = 1_900_000_000;
