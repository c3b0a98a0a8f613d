//! The way from a method and a path to its route.

use super::route::Route;
use hyper::Method;
use percent_encoding::percent_decode_str;
use std::collections::HashMap;

/// Finds the route of a path.
pub struct Router {
    routes: Vec<Route>,
    root: Node,
}

#[derive(Default)]
struct Node {
    literals: HashMap<&'static str, Node>,
    parameter: Option<Box<Node>>,
    /// Indexes of routes that end here.
    ends: Vec<usize>,
    /// Indexes of routes whose last parameter takes the rest of the path.
    rests: Vec<usize>,
}

/// Two routes that would answer the same request.
#[derive(Debug, thiserror::Error)]
#[error("{method} {first} and {second} are the same route")]
pub struct Clash {
    method: Method,
    first: &'static str,
    second: &'static str,
}

/// What a path leads to.
pub enum Found<'r> {
    /// A route, and the values of its path parameters.
    Route(&'r Route, Vec<(&'static str, String)>),
    /// A path that other methods have.
    OtherMethods(Vec<&'r Method>),
    /// Nothing.
    Nothing,
}

impl Router {
    /// Builds the table; two routes for one request are refused.
    pub fn new(routes: Vec<Route>) -> Result<Self, Clash> {
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
                return Err(Clash { method: route.method.clone(), first: other.path, second: route.path });
            }
            ends.push(index);
        }
        Ok(Self { routes, root })
    }

    /// The routes, in the order of the slices.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// Finds the route of a request. Literal segments win over parameters, parameters over the rest of a path.
    pub fn find(&self, method: &Method, path: &str) -> Found<'_> {
        let parts: Vec<&str> = segments(path).collect();
        let mut candidates = Vec::new();
        self.root.collect(&parts, &mut candidates);
        let matching =
            candidates.iter().map(|index| &self.routes[*index]).find(|route| route.method == method);
        if let Some(route) = matching {
            return match path_parameters(route, &parts) {
                Some(parameters) => Found::Route(route, parameters),
                None => Found::Nothing,
            };
        }
        if candidates.is_empty() {
            return Found::Nothing;
        }
        let mut methods: Vec<_> = candidates.iter().map(|index| &self.routes[*index].method).collect();
        methods.sort_by_key(|method| method.as_str());
        methods.dedup();
        Found::OtherMethods(methods)
    }
}

impl Node {
    /// Collects the routes that a path leads to, the closest match first.
    fn collect(&self, parts: &[&str], found: &mut Vec<usize>) {
        match parts.split_first() {
            None => found.extend(&self.ends),
            Some((part, rest)) => {
                if let Some(node) = self.literals.get(part) {
                    node.collect(rest, found);
                }
                // A parameter has a value: `/users/` is not a user.
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

/// The name of a `{name}` or `{name...}` segment, and whether it takes the rest.
fn parameter_name(segment: &'static str) -> Option<(&'static str, bool)> {
    let name = segment.strip_prefix('{')?.strip_suffix('}')?;
    Some(name.strip_suffix("...").map_or((name, false), |name| (name, true)))
}

/// The decoded values of a route's parameters; `None` when one is not UTF-8.
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
    fn other_methods_and_other_paths_are_told_apart() {
        let router = router();
        let Found::OtherMethods(methods) = router.find(&Method::DELETE, "/api/v1/users/7") else {
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
            assert!(matches!(router.find(&Method::GET, path), Found::Nothing), "{path}");
        }
        assert!(matches!(router.find(&Method::GET, "/api/v1/users/%ff"), Found::Nothing));
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
