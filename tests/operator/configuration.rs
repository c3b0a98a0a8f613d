//! `--config`, `config check` and `config show`.

use crate::program::{Serving, command, create_owner, words};
use crate::tables;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// A folder with a configuration file.
struct Configured {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Configured {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("teamchat.toml");
        std::fs::write(&path, text).unwrap();
        Self { folder, path }
    }

    fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

/// The rows of `config show` by name: value, source and place.
fn shown(arguments: &[&str], variables: &[(&str, &str)]) -> impl Fn(&str) -> Value + use<> {
    let output =
        command(&["config", "show", "--json"]).args(arguments).envs(variables.iter().copied()).output();
    let (code, printed, said) = words(&output.unwrap());
    assert_eq!(code, 0, "{said}");
    let rows: Vec<Value> = serde_json::from_str(&printed).unwrap();
    move |name| {
        let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name}: {printed}"));
        json!([row["value"], row["source"], row["place"]])
    }
}

/// The keys of the page, in order, with their defaults.
#[test]
fn the_page_lists_all_settings_with_their_defaults() {
    let (_, printed, _) = words(&command(&["config", "show", "--json"]).output().unwrap());
    let rows: Vec<Value> = serde_json::from_str(&printed).unwrap();
    let settings = rows.iter().map(|row| {
        let default = match &row["value"] {
            // The command has this flag, too.
            _ if row["name"] == "json" => "false".to_owned(),
            Value::Null => String::new(),
            Value::Array(values) => {
                values.iter().map(|value| value.as_str().unwrap()).collect::<Vec<_>>().join(",")
            }
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        (row["name"].as_str().unwrap().to_owned(), default)
    });
    let page = include_str!("../../docs/configuration.md");
    let listed = tables::rows(page, "| Key | Default | Description |")
        .map(|cells| (cells[0].trim_matches('`').to_owned(), cells[1].trim_matches('`').to_owned()));
    assert_eq!(listed.collect::<Vec<_>>(), settings.collect::<Vec<_>>());
}

/// The example is for the unit of the packages, which cannot open ports below 1024.
#[test]
fn the_example_of_the_page_opens_no_privileged_port() {
    let page = include_str!("../../docs/configuration.md");
    let (_, example) = page.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let configured = Configured::new(example);
    let listen = shown(&["--config", configured.path()], &[])("listen");
    assert_eq!(listen[1], "file");
    for address in listen[0].as_array().unwrap() {
        if let Ok(address) = address.as_str().unwrap().parse::<SocketAddr>() {
            assert!(address.port() >= 1024, "{address}");
        }
    }
}

#[tokio::test]
async fn a_server_reads_its_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("named-in-the-file.sqlite");
    let path = folder.path().join("teamchat.toml");
    let text = format!(
        "# All settings of serve.\ndb = {db:?}\nlisten = [\"127.0.0.1:0\"]\n\
         public-url = \"https://chat.example.com\"\nmax-file-upload-size-mib = 7\nrate-limit = \"off\"\nno-web = true\n\
         trusted-proxy = [\"127.0.0.1\", \"10.0.0.0/8\"]\n"
    );
    std::fs::write(&path, text).unwrap();
    let serving = Serving::start_with(folder.path(), command(&["serve", "--config"]).arg(&path));
    assert!(serving.printed.contains("  public     https://chat.example.com\n"), "{}", serving.printed);
    assert!(serving.printed.contains(&format!("  settings   {}\n", path.display())), "{}", serving.printed);
    assert!(db.exists());
    let origin = serving.origin();
    let settings: Value =
        reqwest::get(format!("{origin}/api/v1/server_settings")).await.unwrap().json().await.unwrap();
    assert_eq!(settings["realm_url"], "https://chat.example.com");
    let page = reqwest::get(format!("{origin}/")).await.unwrap();
    assert_eq!(page.status(), 404, "no-web");
    serving.stop();
}

#[tokio::test]
async fn search_engines_are_let_in_by_a_flag() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("chat.sqlite");
    let ada = create_owner(folder.path());
    let access = ["organization", "set", "enable_spectator_access", "true"];
    let (code, _, error) = words(&command(&access).arg("--db").arg(&db).output().unwrap());
    assert_eq!(code, 0, "{error}");
    let serving = Serving::start(folder.path(), &["--listen", "127.0.0.1:0"]);
    let channel = [("subscriptions", r#"[{"name": "open"}]"#), ("is_web_public", "true")];
    let url = format!("{}/api/v1/users/me/subscriptions", serving.origin());
    let request = reqwest::Client::new().post(url).basic_auth("ada@example.com", ada["api_key"].as_str());
    assert_eq!(request.form(&channel).send().await.unwrap().status(), 200);
    serving.stop();
    for (flags, is_open) in [(&[] as &[&str], false), (&["--search-engines", "on"], true)] {
        let serving = Serving::start(folder.path(), &[&["--listen", "127.0.0.1:0"][..], flags].concat());
        let robots = reqwest::get(format!("{}/robots.txt", serving.origin())).await.unwrap();
        assert_eq!(robots.text().await.unwrap().contains("\nAllow: /public/\n"), is_open, "{flags:?}");
        serving.stop();
    }
}

#[test]
fn flags_precede_variables_and_variables_the_file() {
    let file = Configured::new(
        "public-url = \"https://file.example\"\nlog = \"warn\"\nlisten = [\"127.0.0.1:1\", \"127.0.0.1:2\"]\nno-web = true\n",
    );
    let place = |line: u32| json!(format!("{}:{line}", file.path()));
    let config = ["--config", file.path()];

    let row = shown(&config, &[]);
    assert_eq!(row("public-url"), json!(["https://file.example", "file", place(1)]));
    assert_eq!(row("log"), json!(["warn", "file", place(2)]));
    assert_eq!(row("no-web"), json!([true, "file", place(4)]));
    assert_eq!(row("db"), json!(["chat.sqlite", "default", null]));
    assert_eq!(row("web-dir"), json!([null, "default", null]));

    let variables = [
        ("TEAMCHAT_LOG", "error"),
        ("TEAMCHAT_NO_WEB", "false"),
        ("TEAMCHAT_PUBLIC_URL", "https://env.example"),
    ];
    let row = shown(&config, &variables);
    assert_eq!(row("log"), json!(["error", "environment", "TEAMCHAT_LOG"]));
    assert_eq!(row("no-web"), json!([false, "environment", "TEAMCHAT_NO_WEB"]));
    assert_eq!(row("public-url"), json!(["https://env.example", "environment", "TEAMCHAT_PUBLIC_URL"]));

    let row = shown(&[&config[..], &["--log", "off"]].concat(), &variables);
    assert_eq!(row("log"), json!(["off", "flag", "--log"]));

    // A flag also precedes what it excludes.
    let row = shown(&[&config[..], &["--web-dir", "web"]].concat(), &[]);
    assert_eq!(row("no-web"), json!([false, "default", null]));
    let row = shown(&["--ephemeral"], &[("TEAMCHAT_DB", "/data/chat.sqlite")]);
    assert_eq!(row("db"), json!(["chat.sqlite", "default", null]));
    assert_eq!(row("ephemeral"), json!([true, "flag", "--ephemeral"]));
    let certificate = [("TEAMCHAT_TLS_CERT", "cert.pem"), ("TEAMCHAT_TLS_KEY", "key.pem")];
    let row = shown(&["--acme", "chat.example.com"], &certificate);
    assert_eq!(row("tls-cert"), json!([null, "default", null]));
    let both = [("TEAMCHAT_DB", "chat.sqlite"), ("TEAMCHAT_EPHEMERAL", "true")];
    let (code, _, said) = words(&command(&["config", "show"]).envs(both).output().unwrap());
    assert!(code == 2 && said.contains("cannot be used with"), "{said}");

    // A variable that turns a flag off excludes nothing.
    let folder = Configured::new("web-dir = \"web\"");
    let row = shown(&["--config", folder.path()], &[("TEAMCHAT_NO_WEB", "false")]);
    assert_eq!(row("web-dir"), json!(["web", "file", format!("{}:1", folder.path())]));

    // The file itself may be named by a variable.
    assert_eq!(shown(&[], &[("TEAMCHAT_CONFIG", file.path())])("log"), json!(["warn", "file", place(2)]));

    let (_, printed, _) = words(&command(&["config", "show"]).args(config).output().unwrap());
    let line = printed.lines().find(|line| line.starts_with("public-url ")).unwrap();
    assert!(line.contains("  https://file.example ") && line.ends_with("teamchat.toml, line 1"), "{line}");
}

#[test]
fn mistakes_are_named_with_their_line() {
    let cases = [
        (
            "public_url = \"https://h\"",
            1,
            "there is no setting 'public_url'; the nearest name is 'public-url'",
        ),
        ("\n\nlistn = [\"127.0.0.1:0\"]", 3, "there is no setting 'listn'; the nearest name is 'listen'"),
        ("LISTEN = []", 1, "there is no setting 'LISTEN'; the nearest name is 'listen'"),
        ("zzz = 1", 1, "there is no setting 'zzz'; 'teamchat serve --help' lists all of them"),
        ("config = \"other.toml\"", 1, "a configuration file cannot name another one"),
        ("help = true", 1, "there is no setting 'help'"),
        ("[server]\nlog = \"info\"", 1, "there is no setting 'server'"),
        ("log = \"info\"\npublic-url = \"ftp://h\"", 2, "invalid value 'ftp://h' for '--public-url <URL>'"),
        ("rate-limit = \"maybe\"", 1, "[possible values: on, off]"),
        ("no-web = \"true\"", 1, "'no-web' must be true or false, without quotes"),
        ("public-url = [\"https://h\"]", 1, "'public-url' must be one value, not a list"),
        ("public-url = true", 1, "'public-url' must be a string or a whole number"),
        ("rate-limit = true", 1, "'rate-limit' must be \"on\" or \"off\""),
        ("web-dir = \"/no/such/folder\"", 1, "there is no such directory"),
        (
            "trusted-proxy = [1]",
            1,
            "'trusted-proxy' must be a list of strings, as in trusted-proxy = [\"...\"]",
        ),
        ("max-file-upload-size-mib = 0", 1, "0 is not in 1.."),
        ("audit-keep = 0", 1, "write a number of days, for example 400"),
        ("log = \"info\"\nlog = \"warn\"", 2, "duplicate key"),
        ("log = \"info\"\nlog", 2, "key with no value"),
    ];
    for (text, line, expected) in cases {
        let file = Configured::new(text);
        for arguments in [&["config", "check"][..], &["config", "show"], &["serve"]] {
            let db = file.folder.path().join("chat.sqlite");
            let output =
                command(arguments).args(["--config", file.path(), "--db"]).arg(&db).output().unwrap();
            let (code, _, said) = words(&output);
            assert_eq!(code, 2, "{text}: {said}");
            assert!(said.contains(&format!("error: {}, line {line}: ", file.path())), "{text}: {said}");
            assert!(said.contains(expected), "{text}: {said}");
            assert!(!db.exists(), "{text}");
        }
    }
    let several = Configured::new("zzz = 1\nlog = \"info\"\nlistn = \"unix:/a\"\nno-web = 1");
    let output = command(&["config", "check", "--config", several.path()]).output().unwrap();
    let (code, _, said) = words(&output);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!((code, lines.len()), (2, 3), "{said}");
    for (line, number) in lines.iter().zip([1, 3, 4]) {
        assert!(line.starts_with(&format!("error: {}, line {number}: ", several.path())), "{said}");
    }
    let half = Configured::new("tls-cert = \"cert.pem\"");
    let (code, _, said) = words(&command(&["config", "check", "--config", half.path()]).output().unwrap());
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains(&format!("error: {}: ", half.path())) && said.contains("--tls-key <FILE>"),
        "{said}"
    );
    let both = Configured::new("no-web = true\nweb-dir = \"web\"");
    let (code, _, said) = words(&command(&["config", "check", "--config", both.path()]).output().unwrap());
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("'--no-web' cannot be used with '--web-dir <FOLDER>'"), "{said}");
}

const PROVIDER: &str =
    "[[oidc]]\nid = \"home\"\nissuer = \"https://auth.example.com\"\nclient-id = \"chat\"\n";

#[test]
fn providers_are_shown_without_their_secrets() {
    let other = PROVIDER.replace("home", "other");
    let file = Configured::new(&format!(
        "log = \"warn\"\n{PROVIDER}name = \"Home\"\nclient-secret = \"xqsecret\"\nauto-create = true\n{other}client-secret-file = \"SECRET\"\n"
    ));
    let secret = file.folder.path().join("secret");
    std::fs::write(&secret, "xqsecret\nmore\n").unwrap();
    let text = std::fs::read_to_string(&file.path).unwrap().replace("SECRET", secret.to_str().unwrap());
    std::fs::write(&file.path, text).unwrap();
    let output = command(&["config", "show", "--json", "--config", file.path()]).output().unwrap();
    let (code, printed, said) = words(&output);
    assert_eq!(code, 0, "{said}");
    let rows: Vec<Value> = serde_json::from_str(&printed).unwrap();
    let rows: Vec<&Value> = rows.iter().filter(|row| row["name"] == "oidc").collect();
    let provider = |id: &str, name: &str, auto_create: bool| {
        json!({"id": id, "name": name, "issuer": "https://auth.example.com", "client-id": "chat",
            "client-secret": "(hidden)", "auto-create": auto_create})
    };
    assert_eq!((rows.len(), &rows[0]["source"]), (2, &json!("file")), "{printed}");
    assert_eq!(rows[0]["value"], provider("home", "Home", true));
    assert_eq!(rows[1]["value"], provider("other", "other", false));
    assert!(!printed.contains("xqsecret"), "{printed}");
    let (_, printed, _) = words(&command(&["config", "show", "--config", file.path()]).output().unwrap());
    assert!(!printed.contains("xqsecret") && printed.contains("(hidden)"), "{printed}");
    let (code, printed, _) = words(&command(&["config", "check", "--config", file.path()]).output().unwrap());
    assert_eq!((code, printed), (0, format!("{} is correct: 3 of its settings take effect.\n", file.path())));
}

#[test]
fn mistakes_of_providers_are_named_with_their_line() {
    let secret = format!("{PROVIDER}client-secret = \"xqsecret\"\n");
    let cases = [
        (
            format!("{PROVIDER}client_secret = \"xqsecret\""),
            5,
            "'oidc' has no key 'client_secret'; the nearest name is 'client-secret'",
        ),
        (
            format!("{secret}zzz = 1"),
            6,
            "'oidc' has no key 'zzz'; its keys are id, name, issuer, client-id, ",
        ),
        (PROVIDER.to_owned(), 1, "'oidc' needs 'client-secret' or 'client-secret-file'"),
        ("[[oidc]]\nid = \"home\"".to_owned(), 1, "'oidc' needs 'issuer'"),
        (format!("{secret}{secret}"), 6, "there are two providers with the id 'home'"),
        (secret.replace("https:", "http:"), 3, "'issuer' begins with https://"),
        (secret.replace("\"home\"", "\"Home 1\""), 2, "'id' has small letters, digits and hyphens"),
        (format!("{secret}auto-create = \"true\""), 6, "'auto-create' must be true or false, without quotes"),
        (format!("{secret}name = 7"), 6, "'name' must be a string"),
        (format!("{secret}client-secret-file = \"no-such-file\""), 6, "cannot read no-such-file"),
        ("oidc = true".to_owned(), 1, "'oidc' must be a list of tables: write [[oidc]] above each table"),
        (
            "[oidc]\nid = \"home\"".to_owned(),
            1,
            "'oidc' must be a list of tables: write [[oidc]] above each table",
        ),
    ];
    for (text, line, expected) in cases {
        let file = Configured::new(&text);
        for arguments in
            [&["config", "check"][..], &["config", "show"], &["serve", "--db", "/no/such/folder/chat"]]
        {
            let (code, _, said) =
                words(&command(arguments).args(["--config", file.path()]).output().unwrap());
            assert_eq!(code, 2, "{text}: {said}");
            assert!(said.contains(&format!("error: {}, line {line}: ", file.path())), "{text}: {said}");
            assert!(said.contains(expected) && !said.contains("xqsecret"), "{text}: {said}");
        }
    }
}

#[test]
fn the_flags_of_a_push_bouncer_belong_together() {
    let key = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(key.path(), "a secret\n").unwrap();
    let whole = Configured::new(&format!(
        "push-bouncer = \"https://push.example.com/\"\npush-org-id = \"an id\"\npush-org-key-file = {:?}\n",
        key.path()
    ));
    let check = |file: &Configured, variables: &[(&str, &str)]| {
        let mut check = command(&["config", "check", "--config", file.path()]);
        words(&check.envs(variables.iter().copied()).output().unwrap())
    };
    assert_eq!(check(&whole, &[]).0, 0);
    let config = ["--config", whole.path()];
    let row = shown(&config, &[]);
    assert_eq!(row("push-bouncer")[0], "https://push.example.com/");
    let (_, printed, _) = words(&command(&["config", "show"]).args(config).output().unwrap());
    assert!(printed.contains("(hidden)") && !printed.contains("a secret"), "{printed}");

    let half = Configured::new("push-bouncer = \"https://push.example.com\"\npush-org-id = \"an id\"\n");
    let error = "error: --push-bouncer, --push-org-id and --push-org-key belong together\n";
    let (code, _, said) = check(&half, &[]);
    assert_eq!((code, said.as_str()), (2, error));
    let serve = ["serve", "--listen", "127.0.0.1:0", "--config", half.path()];
    let (code, _, said) = words(&command(&serve).output().unwrap());
    assert_eq!((code, said.as_str()), (2, error));
    // The key may come from a file that the environment names.
    let path = key.path().to_str().unwrap();
    assert_eq!(check(&half, &[("TEAMCHAT_PUSH_ORG_KEY_FILE", path)]).0, 0);
    let plain = Configured::new("push-bouncer = \"http://push.example.com\"");
    let (code, _, said) = check(&plain, &[]);
    assert!(code == 2 && said.contains("it begins with https://, or with http:// on this machine"), "{said}");
}

#[test]
fn a_log_of_json_has_json_only() {
    let folder = tempfile::tempdir().unwrap();
    let serving = Serving::start(folder.path(), &["--listen", "127.0.0.1:0", "--log-format", "json"]);
    let log = serving.stop();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["message"] == "the server is stopping"), "{log}");
}

#[test]
fn unknown_flags_have_a_suggestion() {
    for (arguments, nearest) in [
        (&["serve", "--lissen", "127.0.0.1:0"][..], "--listen"),
        (&["serve", "--backup-too=/"], "--backup-to"),
        (&["user", "create", "--fullname", "A"], "--full-name"),
    ] {
        let (code, _, said) = words(&command(arguments).output().unwrap());
        assert!(code == 2 && said.contains(&format!("a similar argument exists: '{nearest}'")), "{said}");
    }
}

#[test]
fn a_correct_file_passes_the_check() {
    let file = Configured::new("log = \"info\"\ntrusted-proxy = \"127.0.0.1,::1\"\nno-web = false\n");
    let check = ["config", "check", "--config", file.path()];
    let (code, printed, _) = words(&command(&check).output().unwrap());
    assert_eq!((code, printed), (0, format!("{} is correct: 3 of its settings take effect.\n", file.path())));
    let (_, printed, _) = words(&command(&check).arg("--json").output().unwrap());
    assert_eq!(printed, "{\"settings\":3}\n");
    // A mistake shows also where the environment hides it.
    std::fs::write(&file.path, "log = \"loud\"").unwrap();
    let (code, _, said) = words(&command(&check).env("TEAMCHAT_LOG", "info").output().unwrap());
    assert_eq!(code, 2, "{said}");
    std::fs::write(&file.path, "backup-to = \"/no/such/folder\"").unwrap();
    let missing = "error: --backup-to /no/such/folder: there is no such directory; create it first\n";
    for words in [
        words(&command(&check).output().unwrap()),
        words(&command(&["serve", "--listen", "127.0.0.1:0", "--config", file.path()]).output().unwrap()),
    ] {
        assert_eq!((words.0, words.2.as_str()), (2, missing));
    }
    let wrong_fixtures = file.folder.path().join("fixtures.json");
    std::fs::write(&wrong_fixtures, r#"{"users": 1}"#).unwrap();
    let wrong_fixtures = wrong_fixtures.to_str().unwrap();
    for (text, expected) in [
        ("fixtures = \"missing.json\"".to_owned(), "cannot read missing.json: ".to_owned()),
        (format!("fixtures = {wrong_fixtures:?}"), format!("{wrong_fixtures}: ")),
        (
            "ephemeral = true\nmetrics = \"127.0.0.1:0\"".to_owned(),
            "a test server has no --metrics".to_owned(),
        ),
        ("ephemeral = true\nacme = [\"a.example\"]".to_owned(), "a test server has no TLS".to_owned()),
        ("dev = true\npublic-url = \"https://h\"".to_owned(), "--dev issues API keys".to_owned()),
        ("acme = [\"a.example\"]\nacme-ca = \"missing.pem\"".to_owned(), "missing.pem: ".to_owned()),
        ("web-push-ca = \"missing.pem\"".to_owned(), "missing.pem: ".to_owned()),
    ] {
        std::fs::write(&file.path, &text).unwrap();
        let (code, _, said) = words(&command(&check).output().unwrap());
        assert!(code == 2 && said.starts_with("error: ") && said.contains(&expected), "{text}: {said}");
    }
    let (code, _, said) = words(&command(&["config", "check"]).output().unwrap());
    assert_eq!((code, said.as_str()), (2, "error: name the file with --config\n"));
    let (code, _, said) = words(&command(&["serve", "--config", "no-such-file"]).output().unwrap());
    assert_eq!(code, 2);
    assert!(said.starts_with("error: cannot read the configuration no-such-file: "), "{said}");
    assert!(!Path::new("chat.sqlite").exists());
}
