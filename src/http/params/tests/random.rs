//! Random requests: they give parameters or an error, and values are read as they were written.

use proptest::prelude::*;

use super::*;

/// A struct with a field of every kind.
#[derive(Debug, Deserialize)]
#[expect(dead_code, reason = "only whether it can be read is looked at")]
struct Everything {
    #[serde(alias = "b")]
    a: Option<u32>,
    c: Option<Vec<Term>>,
    d: Option<Tagged>,
    e: Option<External>,
    f: Option<f64>,
    #[serde(default, deserialize_with = "nullable")]
    #[expect(clippy::option_option, reason = "absent, null and a value are three cases on the wire")]
    g: Option<Option<bool>>,
    h: Option<BoundedText<5>>,
    i: Option<JsonOrText>,
    j: Option<BTreeMap<i64, (Operation, char)>>,
    k: Option<Operand>,
    l: Option<Value>,
    m: Option<RequiredText>,
    n: Option<()>,
}

/// Texts that come close to being parameters, so that more than the first check is reached.
fn near_query() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        "[\\[\\]{}\",:0-9a-z.\\-]{0,12}",
        any::<String>(),
        any::<i128>().prop_map(|number| number.to_string()),
        Just(r#"[{"operator":"a","operand":1}]"#.to_owned()),
        Just(r#"{"type":"stream","stream_id":1}"#.to_owned()),
        Just(r#"{"1":["add","c"]}"#.to_owned()),
        Just("null".to_owned()),
        Just("true".to_owned()),
    ];
    proptest::collection::vec(("[a-n]", value), 0..6).prop_map(|pairs| {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(pairs).finish()
    })
}

fn near_body() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"--edge".to_vec()),
        Just(b"--".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"Content-Disposition: form-data; name=\"a\"".to_vec()),
        Just(b"; filename=\"f\"".to_vec()),
        Just(b"; filename*=utf-8''%ff".to_vec()),
        Just(b"a=%ff&".to_vec()),
        near_query().prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..20),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_request_gives_parameters_or_an_error(
        query in prop_oneof![any::<String>(), near_query()],
        body in near_body(),
        content_type in prop_oneof![
            Just("application/x-www-form-urlencoded".to_owned()),
            Just("multipart/form-data; boundary=edge".to_owned()),
            "multipart/form-data;.{0,20}",
            any::<String>(),
        ],
        path in any::<String>(),
    ) {
        let form = Form::new(Some(&query), Some(&content_type), body.into(), vec![("a", path)]);
        match form {
            Ok(form) => {
                if let Err(error) = form.parse::<Everything>() {
                    prop_assert!(!error.to_string().is_empty());
                }
                prop_assert!(form.ignored().iter().all(|name| *name != "a" && *name != "client"));
                prop_assert!(form.files().iter().all(|file| !file.file_name.is_empty()));
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn integers_read_back(number in any::<i64>()) {
        prop_assert_eq!(parse::<i64>(&number.to_string()), Ok(number));
        prop_assert_eq!(parse::<Vec<i64>>(&format!("[{number}]")), Ok(vec![number]));
    }

    #[test]
    fn texts_read_back(text in any::<String>()) {
        prop_assert_eq!(parse::<String>(&text), Ok(text));
    }
}
