//! Routes, state, follow-up jobs and tasks of a resource.

mod state;

pub use self::state::{State, StatePart, StateRequest};
use crate::app::App;
use crate::error::ApiResult;
use crate::http::Route;
use crate::store::{FollowUpKind, Tx};
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::watch;

/// A resource: its routes, its parts of the registration state, and its work outside requests.
pub struct Resource {
    /// The name of its file or folder.
    pub name: &'static str,
    /// Returns its routes.
    pub routes: fn() -> Vec<Route>,
    /// Its parts of the reply to `POST /register`.
    pub state: &'static [StatePart],
    /// Inserts the rows and fills the caches that must exist before the first request. Runs at each start.
    pub set_up: fn(&mut Tx<'_>) -> ApiResult<()>,
    /// Its follow-up jobs, which a start continues after a crash.
    pub follow_ups: &'static [FollowUpKind],
    /// A task that runs beside the requests.
    pub background: Option<Background>,
}

/// A task that runs until the server stops.
pub type Background = fn(Arc<App>, watch::Receiver<bool>) -> Pin<Box<dyn Future<Output = ()> + Send>>;

impl Resource {
    /// A resource without anything, to set fields on.
    pub const EMPTY: Self = Self {
        name: "",
        routes: Vec::new,
        state: &[],
        set_up: |_| Ok(()),
        follow_ups: &[],
        background: None,
    };
}
