//! Public pages, and the text for search engines.

use super::Place;
use crate::harness::{Answer, Client, TestServer};
use reqwest::Method;
use serde_json::json;
use teamchat::app::Options;

async fn get(client: &Client, path: &str) -> Answer {
    client.request_outside(Method::GET, path).header("Accept", "text/html").send().await
}

/// The text of a page.
fn text(answer: &Answer) -> String {
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/html; charset=utf-8"));
    String::from_utf8(answer.bytes.clone()).unwrap()
}

// conformance: visit-18
#[tokio::test]
async fn topics_are_plain_pages_with_links_that_stay() {
    let place = Place::new().await;
    let Place { ada, web, secret, .. } = &place;
    ada.patch("/settings", json!({"full_name": "Ada & Co"})).await.ok();
    let first = ada.send(*web, "plans & <more>", "one **bold** <script>alert(1)</script>").await;
    ada.send(*secret, "plans", "hidden words").await;
    let visitor = place.server.anonymous();
    let index = text(&get(&visitor, "/public").await);
    assert!(index.contains(&format!("href=\"/public/{web}-web\"")) && !index.contains("secret"), "{index}");
    assert!(!index.contains("/public/open") && !index.contains(">open<"), "{index}");
    let topics = text(&get(&visitor, &format!("/public/{web}-web")).await);
    let path = format!("/public/{web}-web/{first}-plans-more");
    assert!(
        topics.contains(&format!("href=\"{path}\"")) && topics.contains("plans &amp; &lt;more&gt;"),
        "{topics}"
    );

    let answer = get(&visitor, &path).await;
    let page = text(&answer);
    assert!(page.contains("<strong>bold</strong>") && page.contains("&lt;script&gt;"), "{page}");
    assert!(page.contains("Ada &amp; Co") && !page.contains("<script"), "{page}");
    let origin = format!("http://{}", place.server.address());
    assert!(page.contains(&format!("<link rel=\"canonical\" href=\"{origin}{path}\">")), "{page}");
    assert!(page.contains("<title>plans &amp; &lt;more&gt; · Team chat</title>"), "{page}");
    assert!(!page.contains("example.com") && !page.contains("hidden words"), "{page}");
    assert!(answer.header("content-security-policy").starts_with("default-src 'none'; style-src 'sha256-"));
    // A formula that draws outside of its place does not cover other messages.
    assert!(page.contains(".content { overflow: clip;"), "{page}");

    // Older links lead to where the topic is now.
    let change = json!({"topic": "✔ plans", "propagate_mode": "change_all"});
    place.owner.patch(&format!("/messages/{first}"), change).await.ok();
    let renamed = format!("/public/{web}-web/{first}-plans");
    for old in [path, format!("/public/{web}-web/{first}"), format!("/public/{secret}-secret/{first}-x")] {
        let answer = get(&visitor, &old).await;
        assert_eq!((answer.status, answer.header("location")), (301, renamed.as_str()), "{old}");
        let answer = get(&visitor, &format!("{old}?from={first}")).await;
        assert_eq!(answer.header("location"), format!("{renamed}?from={first}"), "{old}");
    }
    let channel = get(&visitor, &format!("/public/{web}")).await;
    assert_eq!((channel.status, channel.header("location")), (301, format!("/public/{web}-web").as_str()));

    // What is hidden is not there.
    let hidden = ada.send(*secret, "plans", "x").await;
    let page = |answer: Answer| (answer.status, answer.bytes);
    let missing = page(get(&visitor, "/public/999-x/999-x").await);
    assert_eq!(missing.0, 404);
    for path in [
        format!("/public/{secret}-secret"),
        format!("/public/{}-open", place.open),
        format!("/public/{secret}-secret/{hidden}-plans"),
        format!("/public/{web}-web/{hidden}-plans"),
        "/public/x/y".to_owned(),
        format!("{renamed}?from=2000000000"),
    ] {
        assert_eq!(page(get(&visitor, &path).await), missing, "{path}");
        // A page shows the same to all, so that it can be shared.
        assert_eq!(page(get(&place.owner, &path).await), missing, "{path} to the owner");
    }
    place.set_access(false).await;
    for path in ["/public".to_owned(), format!("/public/{web}-web"), renamed] {
        assert_eq!(page(get(&visitor, &path).await), missing, "{path} while it is off");
    }
}

// conformance: visit-19
#[tokio::test]
async fn long_topics_have_several_pages() {
    let place = Place::new().await;
    let mut ids = Vec::new();
    for number in 0..120 {
        ids.push(place.ada.send(place.web, "long", &format!("number {number}.")).await);
    }
    let visitor = place.server.anonymous();
    let path = format!("/public/{}-web/{}-long", place.web, ids[0]);
    let shown = |page: &str| {
        (0..120).filter(|number| page.contains(&format!("number {number}."))).collect::<Vec<_>>()
    };
    let link = |page: &str, rel: &str| {
        let start = format!("<link rel=\"{rel}\" href=\"");
        page.split_once(&start).map(|(_, rest)| rest.split('"').next().unwrap().to_owned())
    };
    let first = text(&get(&visitor, &path).await);
    assert_eq!((shown(&first), link(&first, "prev")), ((0..50).collect(), None));
    let second = text(&get(&visitor, &link(&first, "next").unwrap()).await);
    assert_eq!(shown(&second), (50..100).collect::<Vec<_>>());
    let third = text(&get(&visitor, &link(&second, "next").unwrap()).await);
    assert_eq!((shown(&third), link(&third, "next")), ((100..120).collect(), None));
    let back = text(&get(&visitor, &link(&third, "prev").unwrap()).await);
    assert_eq!(shown(&back), (50..100).collect::<Vec<_>>());
    assert!(link(&back, "canonical").unwrap().ends_with(&format!("{path}?from={}", ids[50])));
}

// conformance: visit-20
#[tokio::test]
async fn search_engines_stay_away_unless_the_operator_wants_them() {
    for search_engines in [false, true] {
        let options = Options { search_engines, ..Options::default() };
        let place = Place::on(TestServer::start_with(options).await).await;
        let id = place.ada.send(place.web, "t", "x").await;
        let visitor = place.server.anonymous();
        let answer = get(&visitor, &format!("/public/{}-web/{id}-t", place.web)).await;
        let is_refused = answer.header("x-robots-tag") == "noindex, nofollow";
        assert_eq!(
            (is_refused, text(&answer).contains("name=\"robots\"")),
            (!search_engines, !search_engines)
        );
        let robots = async || {
            let answer = visitor.request_outside(Method::GET, "/robots.txt").send().await;
            String::from_utf8(answer.bytes).unwrap()
        };
        let closed = "User-agent: *\nDisallow: /\n";
        let open =
            "User-agent: *\nAllow: /public$\nAllow: /public/\nAllow: /user_uploads/thumbnail/\nDisallow: /\n";
        assert_eq!(robots().await, if search_engines { open } else { closed });
        place.set_access(false).await;
        assert_eq!(robots().await, closed);
    }
}

// conformance: visit-21
#[tokio::test]
async fn pictures_of_other_sites_are_links() {
    let place = Place::new().await;
    let lines =
        ["https://a.example/1.png", "[two](https://a.example/2.png)", "![three](https://a.example/3.mp3)"];
    let id = place.ada.send(place.web, "sites", &lines.join("\n\n")).await;
    let path = format!("/public/{}-web/{id}-sites", place.web);
    let page = text(&get(&place.server.anonymous(), &path).await);
    for link in [
        r#"<a href="https://a.example/1.png">https://a.example/1.png</a>"#,
        r#"<a href="https://a.example/2.png">two</a>"#,
        r#"<a href="https://a.example/3.mp3">three</a>"#,
    ] {
        assert_eq!(page.matches(link).count(), 1, "{link}: {page}");
    }
    assert!(!page.contains("src=\"https://"), "{page}");
}

#[tokio::test]
async fn pages_have_the_language_of_the_organization() {
    let place = Place::new().await;
    let Place { server, owner, ada, web, .. } = &place;
    let visitor = server.anonymous();
    owner.patch("/realm", json!({"default_language": "de"})).await.ok();
    // A page is the same to all.
    let get = async |path: &str| {
        let request = visitor.request_outside(Method::GET, path).header("Accept", "text/html");
        let answer = request.header("Accept-Language", "fr").send().await;
        (answer.status, String::from_utf8(answer.bytes).unwrap())
    };
    let (status, topics) = get(&format!("/public/{web}-web")).await;
    assert_eq!(status, 200, "{topics}");
    for part in ["<html lang=\"de\">", "Übergeordnete Seiten", "Im Chat öffnen"] {
        assert!(topics.contains(part), "{part}: {topics}");
    }
    let first = ada.send(*web, "plans", "x").await;
    let mut last = first;
    for _ in 0..50 {
        last = ada.send(*web, "plans", "x").await;
    }
    let path = format!("/public/{web}-web/{first}-plans");
    assert!(get(&path).await.1.contains(">Neuere Nachrichten<"));
    assert!(get(&format!("{path}?from={last}")).await.1.contains(">Ältere Nachrichten<"));
    let unnamed = ada.send(*web, "", "x").await;
    let path = format!("/public/{web}-web/{unnamed}-Allgemeines");
    let (_, topics) = get(&format!("/public/{web}-web")).await;
    assert!(topics.contains(&format!("href=\"{path}\"")), "{topics}");
    let (status, page) = get(&path).await;
    assert!(status == 200 && page.contains("<h1 dir=\"auto\">Allgemeines</h1>"), "{page}");
    let (status, missing) = get("/public/999-x").await;
    assert!(status == 404 && missing.contains("<html lang=\"de\">"), "{missing}");
}
