//! Forms and multipart bodies: parsing returns the encoded values, and every route survives parameters of all kinds.

use super::{Source, fuzz, runtime};
use crate::harness::TestServer;
use reqwest::Method;
use std::collections::BTreeMap;
use teamchat::http::form::{Form, MAX_PARAMETERS};

const CONTENT_TYPES: &[&str] = &[
    "application/x-www-form-urlencoded",
    "application/x-www-form-urlencoded; charset=utf-8",
    "application/x-www-form-urlencoded; charset=utf-16",
    "application/x-www-form-urlencoded; charset=shift_jis",
    "application/x-www-form-urlencoded; charset=windows-1251",
    "multipart/form-data; boundary=x",
    "multipart/form-data; boundary=\"x\"",
    "multipart/form-data",
    "multipart/form-data; boundary=",
    "application/json",
    "",
];

const BODY_PIECES: &[&str] = &[
    "a",
    "b",
    "=",
    "&",
    ";",
    "+",
    "%",
    "%2",
    "%20",
    "%00",
    "%ff",
    "%c3%a9",
    "--x",
    "--x--",
    "\r\n",
    "\n",
    "\r\n\r\n",
    "Content-Disposition: form-data; name=\"a\"",
    "Content-Disposition: form-data; name=\"f\"; filename=\"f.png\"",
    "Content-Disposition: form-data",
    "Content-Disposition: attachment; filename=\"../x\"",
    "; name=\"\"",
    "; filename*=utf-8''%e2%82%ac",
    "Content-Type: image/png",
    "Content-Type: text/plain; charset=utf-16",
    "Content-Length: 99999999999",
    "Content-Transfer-Encoding: base64",
    "x",
    "0",
    "[1,2]",
    "{\"a\":1}",
    "é",
    "\u{0}",
];

/// Bodies of all kinds are read or refused.
#[test]
fn bodies() {
    fuzz!(|mut source: Source<'_>| {
        let content_type = source.pick(CONTENT_TYPES);
        let query = source.text(BODY_PIECES, 16);
        let body = match source.below(3) {
            0 => source.rest().to_vec(),
            _ => source.text(BODY_PIECES, 128).into_bytes(),
        };
        let length = body.len() + query.len();
        let Ok(form) = Form::new(Some(&query), Some(content_type), body.into(), Vec::new()) else { return };
        let pairs: Vec<_> = form.pairs().collect();
        assert!(pairs.len() + form.files().len() <= MAX_PARAMETERS);
        let taken: usize = pairs.iter().map(|(name, value)| name.len() + value.len()).sum();
        // An invalid byte of a name becomes three; nothing else grows.
        assert!(taken <= 3 * length, "{taken} bytes out of {length}");
        for (name, _) in &pairs {
            assert!(form.get(name).is_some());
        }
        assert_eq!(form.ignored(), Vec::<&str>::new());
    });
}

/// Names and values come back as they were encoded, the last of each name.
#[test]
fn round_trips() {
    fuzz!(|mut source: Source<'_>| {
        let mut pairs = Vec::new();
        while !source.is_empty() && pairs.len() < 32 {
            pairs.push((source.text(BODY_PIECES, 4), source.text(BODY_PIECES, 16)));
        }
        let last: BTreeMap<&str, &str> =
            pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let encoded = form_urlencoded_of(&pairs);
        let form = Form::new(None, Some(CONTENT_TYPES[0]), encoded.into(), Vec::new()).unwrap();
        for (name, value) in last {
            assert_eq!(form.get(name), Some(value), "{name:?}");
        }
    });
}

fn form_urlencoded_of(pairs: &[(String, String)]) -> String {
    let mut encoded = url::form_urlencoded::Serializer::new(String::new());
    encoded.extend_pairs(pairs);
    encoded.finish()
}

const VALUES: &[&str] = &[
    "",
    "1",
    "0",
    "-1",
    "7",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "1e9",
    "1.5",
    "true",
    "false",
    "null",
    "\"a\"",
    "a",
    "[]",
    "[1]",
    "[1,1]",
    "[[]]",
    "[[[[]]]]",
    "[null]",
    "[\"a\"]",
    "[true]",
    "{}",
    "{\"a\":1}",
    "{\"new\":1}",
    "{\"new\":{\"direct_members\":[7],\"direct_subgroups\":[5]}}",
    "{\"new\":[],\"old\":[]}",
    "[{\"name\":\"a\"}]",
    "[[\"channel\",\"general\"]]",
    "[{\"operator\":\"is\",\"operand\":\"dm\"}]",
    "channel",
    "direct",
    "general",
    "add",
    "remove",
    "start",
    "unlimited",
    "newest",
    "change_all",
    "tada",
    "ada@example.com",
    "\u{0}",
    "\u{202e}x",
    "é",
    "👍",
    "%00",
    "a\nb",
    "*",
    "@**all**",
    "$$x$$",
    "/user_uploads/1/a",
    "https://e.example/",
    "2026-01-01",
    "1790000000",
];

/// Names of parameters: the fields of parameter structs in the source.
fn names() -> Vec<String> {
    fn collect(folder: &std::path::Path, names: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, names);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let source = std::fs::read_to_string(&path).unwrap();
                let fields = source.lines().filter_map(|line| line.strip_prefix("    ")?.split_once(": "));
                let is_name =
                    |name: &&str| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
                names.extend(fields.map(|(name, _)| name).filter(is_name).map(str::to_owned));
            }
        }
    }
    let mut names = Vec::new();
    collect(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/api"), &mut names);
    collect(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/domain"), &mut names);
    names.sort();
    names.dedup();
    names
}

/// No route fails with an internal error, for any parameters.
#[test]
fn routes() {
    let (runtime, names) = (runtime(), names());
    let routes: Vec<(Method, String)> = teamchat::api::routes()
        .into_iter()
        .map(|route| (route.method.clone(), route.full_path()))
        // The long poll would wait.
        .filter(|(_, path)| path != "/api/v1/events")
        .collect();
    let start = || {
        runtime.block_on(async {
            let server = TestServer::start().await;
            let owner = server.owner().await;
            server.member("ada").await;
            let general = server.channel("general", &[&owner]).await;
            owner.send(general, "greetings", "hello").await;
            (server, owner)
        })
    };
    let mut place = start();
    fuzz!(|mut source: Source<'_>| {
        let (method, path) = routes[source.below(routes.len())].clone();
        let mut filled = path.clone();
        while let Some((before, rest)) = filled.clone().split_once('{') {
            let (_, after) = rest.split_once('}').unwrap();
            let value =
                source.pick(&["1", "4", "5", "7", "0", "-1", "x", "99999999999999999999", "%00", "a%2Fb"]);
            filled = format!("{before}{value}{after}");
        }
        let mut parameters = Vec::new();
        while !source.is_empty() && parameters.len() < 12 {
            let name = names[source.below(names.len())].clone();
            let value =
                if source.below(8) == 0 { source.text(VALUES, 6) } else { source.pick(VALUES).to_owned() };
            parameters.push((name, value));
        }
        let request = place.1.request_outside(method.clone(), &filled).random();
        let request = if method == Method::GET || method == Method::HEAD {
            request.query(parameters.as_slice())
        } else {
            request.form(parameters.as_slice())
        };
        let answer = runtime.block_on(request.send());
        let is_reported = matches!(answer.status, 501 | 503) && answer["result"] == "error";
        assert!(answer.status < 500 || is_reported, "{answer}");
        // The owner's key was revoked or the organization deactivated: start a new server.
        if answer.status == 401 || matches!(path.as_str(), "/api/v1/realm/deactivate" | "/api/v1/users/me") {
            place = start();
        }
    });
}
