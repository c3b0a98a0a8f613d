//! Finds the route of a method and a path.

use super::route::Route;
use hyper::Method;
use percent_encoding::percent_decode_str;
use std::collections::HashMap;

/// The routes as a tree over the segments of their paths.
pub struct Router {
    routes: Vec<Route>,
    root: Node,
}

#[derive(Default)]
struct Node {
    literals: HashMap<&'static str, Node>,
    parameter: Option<Box<Node>>,
    /// Indexes of routes that end at this node.
    ends: Vec<usize>,
    /// Indexes of routes whose last parameter is the rest of the path.
    rests: Vec<usize>,
}

/// Two routes match the same requests.
#[derive(Debug, thiserror::Error)]
#[error("{method} {first} and {second} are the same route")]
pub struct RouteConflict {
    method: Method,
    first: &'static str,
    second: &'static str,
}

/// The result of [`Router::find`].
pub enum Found<'r> {
    /// A route, with names and values of its path parameters.
    Route(&'r Route, Vec<(&'static str, String)>),
    /// The path exists, but only with these methods.
    MethodNotAllowed(Vec<&'r Method>),
    /// The path does not exist.
    NotFound,
}

impl Router {
    /// Builds the tree. Fails if two routes match the same requests.
    pub fn new(mut routes: Vec<Route>) -> Result<Self, RouteConflict> {
        for (index, route) in routes.iter_mut().enumerate() {
            route.index = index;
        }
        let mut root = Node::default();
        for (index, route) in routes.iter().enumerate() {
            let prefix: &[&'static str] = if route.outside { &[] } else { &["api", "v1"] };
            let mut node = &mut root;
            let mut rest = false;
            for segment in prefix.iter().copied().chain(segments(route.path)) {
                match parameter_name(segment) {
                    Some((_, true)) => rest = true,
                    Some((_, false)) => node = node.parameter.get_or_insert_default(),
                    None => node = node.literals.entry(segment).or_default(),
                }
            }
            let ends = if rest { &mut node.rests } else { &mut node.ends };
            if let Some(other) =
                ends.iter().map(|other| &routes[*other]).find(|other| other.method == route.method)
            {
                return Err(RouteConflict {
                    method: route.method.clone(),
                    first: other.path,
                    second: route.path,
                });
            }
            ends.push(index);
        }
        Ok(Self { routes, root })
    }

    /// All routes, in the order in which they were given.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// Finds the route of a request. A literal segment takes precedence over a parameter, and a parameter over a rest.
    /// `HEAD` uses the route of `GET`; the response is written without its body.
    pub fn find(&self, method: &Method, path: &str) -> Found<'_> {
        let parts: Vec<&str> = segments(path).collect();
        let mut candidates = Vec::new();
        self.root.collect(&parts, &mut candidates);
        let matching =
            candidates.iter().map(|index| &self.routes[*index]).find(|route| route.answers(method));
        if let Some(route) = matching {
            return match path_parameters(route, &parts) {
                Some(parameters) => Found::Route(route, parameters),
                None => Found::NotFound,
            };
        }
        if candidates.is_empty() {
            return Found::NotFound;
        }
        let mut methods: Vec<_> = candidates.iter().map(|index| &self.routes[*index].method).collect();
        methods.sort_by_key(|method| method.as_str());
        methods.dedup();
        Found::MethodNotAllowed(methods)
    }
}

impl Node {
    /// Collects the routes that match a path, the closest match first.
    fn collect(&self, parts: &[&str], found: &mut Vec<usize>) {
        match parts.split_first() {
            None => found.extend(&self.ends),
            Some((part, rest)) => {
                if let Some(node) = self.literals.get(part) {
                    node.collect(rest, found);
                }
                // A parameter is never empty: `/users/` is not a user.
                if let Some(node) = &self.parameter
                    && !part.is_empty()
                {
                    node.collect(rest, found);
                }
                if parts != [""] {
                    found.extend(&self.rests);
                }
            }
        }
    }
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('/').unwrap_or(path).split('/')
}

/// The name of a `{name}` or `{name...}` segment, and whether it is the rest of the path.
fn parameter_name(segment: &'static str) -> Option<(&'static str, bool)> {
    let name = segment.strip_prefix('{')?.strip_suffix('}')?;
    Some(name.strip_suffix("...").map_or((name, false), |name| (name, true)))
}

/// The decoded parameters of a path; `None` if one is not UTF-8.
fn path_parameters(route: &Route, parts: &[&str]) -> Option<Vec<(&'static str, String)>> {
    let skipped = if route.outside { 0 } else { 2 };
    let mut parameters = Vec::new();
    for (index, segment) in segments(route.path).enumerate() {
        let Some((name, rest)) = parameter_name(segment) else { continue };
        let raw = if rest { parts[skipped + index..].join("/") } else { parts[skipped + index].to_owned() };
        parameters.push((name, percent_decode_str(&raw).decode_utf8().ok()?.into_owned()));
    }
    Some(parameters)
}

#[cfg(test)]
mod tests {
    use super::super::params::NoParams;
    use super::super::reply::Reply;
    use super::super::route::Read;
    use super::*;
    use crate::auth::{ANYONE, Anyone};
    use crate::error::ApiResult;

    fn route(method: Method, path: &'static str) -> Route {
        fn handler(_read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
            Ok(Reply::ok())
        }
        Route::read(method, path, ANYONE, handler)
    }

    fn router() -> Router {
        Router::new(vec![
            route(Method::GET, "/users/{user_id}"),
            route(Method::GET, "/users/me"),
            route(Method::PATCH, "/users/{user_id}"),
            route(Method::GET, "/users/me/{stream_id}/topics"),
            route(Method::GET, "/users/{user_id}/subscriptions/{stream_id}"),
            route(Method::POST, "/users/me/subscriptions"),
            route(Method::PATCH, "/navigation_views/{fragment...}"),
            route(Method::GET, "/avatar/{user_id}").outside(),
        ])
        .unwrap()
    }

    #[test]
    fn paths_lead_to_their_routes() {
        let cases = [
            ("GET", "/api/v1/users/me", "/users/me", ""),
            ("GET", "/api/v1/users/7", "/users/{user_id}", "user_id=7"),
            ("PATCH", "/api/v1/users/me", "/users/{user_id}", "user_id=me"),
            ("GET", "/api/v1/users/me/3/topics", "/users/me/{stream_id}/topics", "stream_id=3"),
            (
                "GET",
                "/api/v1/users/me/subscriptions/3",
                "/users/{user_id}/subscriptions/{stream_id}",
                "user_id=me stream_id=3",
            ),
            ("GET", "/api/v1/users/a%40b.example", "/users/{user_id}", "user_id=a@b.example"),
            (
                "PATCH",
                "/api/v1/navigation_views/narrow/is/starred",
                "/navigation_views/{fragment...}",
                "fragment=narrow/is/starred",
            ),
            (
                "PATCH",
                "/api/v1/navigation_views/narrow%2Fis%2Fstarred",
                "/navigation_views/{fragment...}",
                "fragment=narrow/is/starred",
            ),
            ("GET", "/avatar/9", "/avatar/{user_id}", "user_id=9"),
        ];
        let router = router();
        for (method, path, expected, parameters) in cases {
            let Found::Route(route, found) = router.find(&method.parse().unwrap(), path) else {
                panic!("{method} {path} leads nowhere");
            };
            let found: Vec<String> = found.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!((route.path, found.join(" ").as_str()), (expected, parameters), "{method} {path}");
        }
    }

    #[test]
    fn unknown_paths_and_methods_are_distinguished() {
        let router = router();
        let Found::MethodNotAllowed(methods) = router.find(&Method::DELETE, "/api/v1/users/7") else {
            panic!("a known path");
        };
        assert_eq!(methods, [&Method::GET, &Method::PATCH]);
        for path in [
            "/",
            "/api/v1",
            "/api/v1/users",
            "/api/v1/users/",
            "/api/v1/users/7/",
            "/api/v1/users//subscriptions/7",
            "/api/v1/navigation_views/",
            "/api/v1/nothing",
            "/users/7",
            "//",
        ] {
            assert!(matches!(router.find(&Method::GET, path), Found::NotFound), "{path}");
        }
        assert!(matches!(router.find(&Method::GET, "/api/v1/users/%ff"), Found::NotFound));
    }

    #[test]
    fn head_is_answered_wherever_get_is_unless_the_route_says_otherwise() {
        let router = Router::new(vec![
            route(Method::GET, "/users/{user_id}"),
            route(Method::PATCH, "/users/{user_id}"),
            route(Method::GET, "/events").without_head(),
        ]);
        let router = router.unwrap();
        let Found::Route(route, _) = router.find(&Method::HEAD, "/api/v1/users/7") else {
            panic!("HEAD is answered");
        };
        assert_eq!(route.method, Method::GET);
        let Found::MethodNotAllowed(methods) = router.find(&Method::HEAD, "/api/v1/events") else {
            panic!("not without its body");
        };
        assert_eq!(methods, [&Method::GET]);
        assert!(matches!(router.find(&Method::HEAD, "/api/v1/nothing"), Found::NotFound));
    }

    #[test]
    fn two_routes_for_one_request_are_refused() {
        let clash =
            Router::new(vec![route(Method::GET, "/users/{user_id}"), route(Method::GET, "/users/{email}")]);
        assert_eq!(
            clash.err().unwrap().to_string(),
            "GET /users/{user_id} and /users/{email} are the same route"
        );
    }
}
