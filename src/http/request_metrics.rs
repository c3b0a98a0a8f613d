//! Figures of requests, by route, and the trace of each request: its id, route, user and time, for the log.

use super::route::Route;
use super::router::Router;
use crate::metrics::{Count, Distribution, Histogram, TIMES};
use crate::types::UserId;
use hyper::Method;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The statuses of responses; others are counted together.
const STATUSES: [u16; 22] = [
    200, 201, 204, 206, 302, 303, 304, 400, 401, 403, 404, 405, 408, 409, 413, 416, 422, 429, 500, 503, 505,
    507,
];

/// The status under which others are counted.
const OTHER: &str = "other";

/// A handler that takes longer is reported in the log.
const SLOW: Duration = Duration::from_secs(1);

/// The longest request id that is accepted, in bytes.
const MAX_ID: usize = 64;

/// The header with the id of a request.
pub(super) const REQUEST_ID: &str = "x-request-id";

/// Figures of all requests: one for each route, and one for requests without a route.
pub struct RequestMetrics(Vec<RouteMetrics>);

struct RouteMetrics {
    /// One for each of [`STATUSES`], and one for the others.
    by_status: Vec<Count>,
    time: Histogram,
}

impl Default for RouteMetrics {
    fn default() -> Self {
        let by_status = (0..=STATUSES.len()).map(|_| Count::default()).collect();
        Self { by_status, time: Histogram::new(TIMES) }
    }
}

/// Figures of the requests of one route.
pub struct RouteFigures {
    /// The method; `None` for requests without a route.
    pub method: Option<Method>,
    /// The path of the route, with the names of its parameters.
    pub path: String,
    /// The number of responses by status.
    pub by_status: Vec<(String, u64)>,
    /// The times until the response began, in microseconds.
    pub time: Distribution,
}

impl RequestMetrics {
    pub(super) fn new(routes: usize) -> Self {
        Self((0..=routes).map(|_| RouteMetrics::default()).collect())
    }

    /// The figures of routes that had requests.
    pub fn routes(&self, router: &Router) -> Vec<RouteFigures> {
        let all = router.routes().iter().map(Some).chain([None]);
        let figures = all.zip(&self.0).filter_map(|(route, metrics)| {
            let time = metrics.time.distribution();
            if time.count() == 0 {
                return None;
            }
            let names = STATUSES.iter().map(u16::to_string).chain([OTHER.to_owned()]);
            let by_status = names.zip(metrics.by_status.iter().map(Count::get));
            Some(RouteFigures {
                method: route.map(|route| route.method.clone()),
                path: route.map_or_else(|| "none".to_owned(), Route::full_path),
                by_status: by_status.filter(|(_, count)| *count > 0).collect(),
                time,
            })
        });
        figures.collect()
    }
}

/// The facts about a request while it is handled.
pub(super) struct Trace {
    method: Method,
    /// The id that a trusted proxy gave, or a random one.
    given_id: Option<Box<str>>,
    random_id: u64,
    begun: Instant,
    /// The index of the route; `usize::MAX` before it is found.
    route: AtomicUsize,
    /// 0 for a client that is not logged in.
    user_id: AtomicI64,
    /// The time of the handler in microseconds.
    handled_in: AtomicU64,
}

impl Trace {
    /// The trace of a request that begins now. `id` is that of a trusted proxy.
    pub(super) fn begin(method: Method, id: Option<&str>) -> Self {
        let is_usable = |id: &&str| {
            (1..=MAX_ID).contains(&id.len())
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        };
        Self {
            method,
            given_id: id.filter(is_usable).map(Box::from),
            random_id: rand::random(),
            begun: Instant::now(),
            route: AtomicUsize::new(usize::MAX),
            user_id: AtomicI64::new(0),
            handled_in: AtomicU64::new(0),
        }
    }

    /// The id of the request in the log and in responses.
    pub(super) fn id(&self) -> String {
        self.given_id.as_deref().map_or_else(|| hexadecimal(self.random_id), str::to_owned)
    }

    pub(super) fn set_route(&self, route: &Route) {
        self.route.store(route.index, Ordering::Relaxed);
    }

    pub(super) fn set_user(&self, user_id: UserId) {
        self.user_id.store(user_id.0, Ordering::Relaxed);
    }

    pub(super) fn set_handled_in(&self, time: Duration) {
        self.handled_in.store(u64::try_from(time.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Counts the response, and writes the request to the log: at `debug`, at `warn` if its handler was slow, and at `error` if
    /// it failed, with the cause. The line has neither the query nor credentials.
    pub(super) fn end(
        &self,
        metrics: &RequestMetrics,
        router: &Router,
        status: u16,
        cause: Option<Box<str>>,
    ) {
        let elapsed = self.begun.elapsed();
        let index = self.route.load(Ordering::Relaxed);
        let route = router.routes().get(index);
        if let Some(metrics) = metrics.0.get(index.min(metrics.0.len().saturating_sub(1))) {
            let status = STATUSES.iter().position(|known| *known == status).unwrap_or(STATUSES.len());
            if let Some(count) = metrics.by_status.get(status) {
                count.increment();
            }
            metrics.time.observe_time(elapsed);
        }
        let handled_in = Duration::from_micros(self.handled_in.load(Ordering::Relaxed));
        let is_slow = handled_in >= SLOW && route.is_some_and(|route| !route.may_wait());
        if status != 500 && !is_slow && !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        let (method, id, ms) = (self.method.as_str(), self.id(), elapsed.as_secs_f64() * 1000.0);
        let route = route.map_or_else(|| "none".to_owned(), Route::full_path);
        let user_id = Some(self.user_id.load(Ordering::Relaxed)).filter(|user_id| *user_id != 0);
        if status == 500 {
            tracing::error!(method, route, status, ms, user_id, request_id = id, cause, "a request failed");
        } else if is_slow {
            tracing::warn!(method, route, status, ms, user_id, request_id = id, "a slow request");
        } else {
            tracing::debug!(method, route, status, ms, user_id, request_id = id, "a request");
        }
    }
}

fn hexadecimal(id: u64) -> String {
    format!("{id:016x}")
}

/// The id of a request that is refused before it is read, which is written to the log.
pub(super) fn refused_id(status: u16) -> String {
    let id = hexadecimal(rand::random());
    tracing::debug!(status, request_id = id, "a request was refused");
    id
}

#[cfg(test)]
mod tests {
    use super::super::params::NoParams;
    use super::super::reply::Reply;
    use super::super::route::Read;
    use super::*;
    use crate::auth::{ANYONE, Anyone};
    use crate::error::ApiResult;
    use crate::metrics::logged;
    use tracing::Level;

    fn handler(_read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
        Ok(Reply::ok())
    }

    fn router() -> Router {
        let route = |path| Route::read(Method::GET, path, ANYONE, handler);
        Router::new(vec![route("/quick"), route("/poll").unlimited()]).unwrap()
    }

    /// The log of a request whose handler took this many seconds.
    fn log_of(level: Level, route: usize, seconds: u64, status: u16) -> String {
        let router = router();
        let metrics = RequestMetrics::new(router.routes().len());
        let trace = Trace::begin(Method::GET, Some("id-1"));
        trace.set_route(&router.routes()[route]);
        trace.set_user(UserId(7));
        trace.set_handled_in(Duration::from_secs(seconds));
        let cause = (status == 500).then(|| Box::from("no such table"));
        let logged = logged(level, || trace.end(&metrics, &router, status, cause));
        let figures = metrics.routes(&router);
        let expected = (router.routes()[route].full_path(), vec![(status.to_string(), 1)], 1);
        assert_eq!(
            figures.iter().map(|one| (one.path.clone(), one.by_status.clone(), one.time.count())).next(),
            Some(expected)
        );
        logged
    }

    #[test]
    fn slow_and_failed_requests_are_logged() {
        let slow = log_of(Level::WARN, 0, 2, 200);
        assert!(
            slow.contains("WARN") && slow.contains("a slow request method=\"GET\" route=\"/api/v1/quick\"")
        );
        assert!(slow.contains("user_id=7 request_id=\"id-1\""), "{slow}");
        let failed = log_of(Level::WARN, 0, 0, 500);
        assert!(
            failed.contains("ERROR") && failed.contains("request_id=\"id-1\" cause=\"no such table\""),
            "{failed}"
        );
        // Polls wait, and refusals are no failures.
        for (route, seconds, status) in [(0, 0, 200), (1, 60, 200), (0, 0, 404), (0, 0, 503)] {
            assert_eq!(log_of(Level::WARN, route, seconds, status), "");
            assert!(log_of(Level::DEBUG, route, seconds, status).contains("DEBUG"));
        }
    }

    #[test]
    fn ids_of_proxies_are_plain() {
        for id in ["a", "0af7651916cd43dd8448eb211c80319c", "a_b.c-D"] {
            assert_eq!(Trace::begin(Method::GET, Some(id)).id(), id);
        }
        for id in ["", "a b", "a\"b", &"a".repeat(MAX_ID + 1)] {
            assert_eq!(Trace::begin(Method::GET, Some(id)).id().len(), 16);
        }
    }
}
