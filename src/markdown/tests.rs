//! The cases of `cases.json`, and what must hold for every text.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Cases {
    rendered: Vec<RenderedCase>,
    addresses: Vec<AddressCase>,
}

#[derive(Deserialize)]
struct RenderedCase {
    name: String,
    markdown: String,
    html: String,
}

/// `%s` in `html` stands for the link to `address`.
#[derive(Deserialize)]
struct AddressCase {
    text: String,
    html: String,
    address: String,
}

fn cases() -> Cases {
    serde_json::from_str(include_str!("cases.json")).unwrap()
}

/// The organization that the cases are about.
#[derive(Default)]
struct TestDirectory {
    translates_emoticons: bool,
}

impl Directory for TestDirectory {
    fn user(&self, wanted: UserQuery<'_>) -> Option<MentionedUser> {
        let zoe = MentionedUser { user_id: 7, full_name: "Zoe".to_owned(), is_active: true };
        match wanted {
            UserQuery::Id(id) => id == 7,
            UserQuery::FullName(name) => name.eq_ignore_ascii_case("zoe"),
            UserQuery::FullNameAndId(name, id) => id == 7 && name.eq_ignore_ascii_case("zoe"),
        }
        .then_some(zoe)
    }

    fn realm_url(&self) -> &str {
        "http://zulip.testserver"
    }

    fn translates_emoticons(&self) -> bool {
        self.translates_emoticons
    }
}

#[test]
fn rendered_cases_match() {
    let mut failed = 0;
    for case in cases().rendered {
        let directory = TestDirectory { translates_emoticons: case.name.starts_with("translate_emoticons") && !case.name.ends_with("not_enabled") };
        let html = render(&case.markdown, &directory).html;
        if html != case.html {
            failed += 1;
            println!("== {}\n-- markdown\n{}\n-- expected\n{}\n-- rendered\n{html}", case.name, case.markdown, case.html);
        }
    }
    assert_eq!(failed, 0);
}

#[test]
fn addresses_become_links() {
    let mut failed = 0;
    for case in cases().addresses {
        let address = &case.address;
        let href = if address.starts_with("http") {
            address.clone()
        } else if address.contains('@') {
            format!("mailto:{address}")
        } else {
            format!("http://{address}")
        };
        let expected = case.html.replace("%s", &format!("<a href=\"{href}\">{address}</a>"));
        let html = render(&case.text, &NoDirectory).html;
        if html != expected {
            failed += 1;
            println!("== {}\n{expected}\n{html}", case.text);
        }
    }
    assert_eq!(failed, 0);
}
