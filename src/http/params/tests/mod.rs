//! Tests of parameters: every published error text, and every way in which a field reads its value.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;

use bytes::Bytes;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::*;
use crate::types::{JsonOrText, nullable};

mod random;

/// A request with the one parameter `v`.
fn form(text: &str) -> Form {
    let query: String = form_urlencoded::Serializer::new(String::new()).append_pair("v", text).finish();
    Form::new(Some(&query), None, Bytes::new(), vec![]).unwrap()
}

#[derive(Deserialize)]
struct One<T> {
    v: T,
}

/// Parses the parameter `v` as this type.
fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    form(text).parse::<One<T>>().map(|one| one.v).map_err(|error| {
        assert!(matches!(error, ParamError::Invalid { var_name: Some("v"), .. }), "{error:?}");
        assert_eq!(error.code(), "BAD_REQUEST");
        error.to_string()
    })
}

fn check<T: DeserializeOwned + PartialEq + Debug>(cases: &[(&str, Result<T, &str>)]) {
    for (text, expected) in cases {
        assert_eq!(
            parse::<T>(text).as_ref().map_err(String::as_str),
            expected.as_ref().map_err(|text| *text),
            "{text}"
        );
    }
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Operation {
    Add,
    RemoveAll,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Sort {
    First,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Term {
    operator: String,
    operand: Operand,
    #[serde(default)]
    negated: bool,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Operand {
    Id(u64),
    Text(String),
    Ids(Vec<u64>),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Tagged {
    Stream { stream_id: u64 },
    Private { to: Vec<u64> },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum External {
    Role(u8),
    Nobody,
}

// conformance: conv-5
#[test]
fn strings_stand_as_they_are() {
    check::<String>(&[
        ("", Ok(String::new())),
        (" a ", Ok(" a ".into())),
        ("null", Ok("null".into())),
        ("\"quoted\"", Ok("\"quoted\"".into())),
        ("12", Ok("12".into())),
    ]);
    let form = form("borrowed");
    let one: One<&str> = form.parse().unwrap();
    assert_eq!(one.v, "borrowed");
    check::<Cow<'static, str>>(&[("text", Ok("text".into()))]);
    check::<char>(&[("é", Ok('é')), ("ab", Err("v is not length 1")), ("", Err("v is not length 1"))]);
}

// conformance: conv-6
#[test]
fn booleans_are_json() {
    check::<bool>(&[
        ("true", Ok(true)),
        (" false\n", Ok(false)),
        ("True", Err("v is not valid JSON")),
        ("", Err("v is not valid JSON")),
        ("1", Err("v is not a boolean")),
        ("\"true\"", Err("v is not a boolean")),
        ("null", Err("v is not a boolean")),
    ]);
}

// conformance: conv-7
#[test]
fn integers_are_json_in_the_range_of_their_type() {
    check::<i64>(&[
        ("0", Ok(0)),
        ("-12", Ok(-12)),
        (" 7 ", Ok(7)),
        ("9223372036854775807", Ok(i64::MAX)),
        ("9223372036854775808", Err("v is too large")),
        ("-9223372036854775809", Err("v is too small")),
        ("9999999999999999999999999999999999999999999999", Err("v is too large")),
        ("-9999999999999999999999999999999999999999999999", Err("v is too small")),
        ("1.0", Err("v is not an integer")),
        ("1e3", Err("v is not an integer")),
        ("\"1\"", Err("v is not an integer")),
        ("[]", Err("v is not an integer")),
        ("null", Err("v is not an integer")),
        ("abc", Err("v is not valid JSON")),
        ("", Err("v is not valid JSON")),
        ("-", Err("v is not valid JSON")),
        ("+1", Err("v is not valid JSON")),
        ("007", Err("v is not valid JSON")),
        ("1 2", Err("v is not valid JSON")),
    ]);
    check::<u8>(&[("255", Ok(255)), ("256", Err("v is too large")), ("-1", Err("v is too small"))]);
    check::<i8>(&[("-128", Ok(-128)), ("128", Err("v is too large"))]);
    check::<u64>(&[("18446744073709551615", Ok(u64::MAX)), ("-0", Ok(0))]);
    check::<u16>(&[("65536", Err("v is too large"))]);
    check::<i16>(&[("32768", Err("v is too large"))]);
    check::<u32>(&[("4294967296", Err("v is too large"))]);
    check::<i32>(&[("-2147483649", Err("v is too small"))]);
}

#[test]
fn integers_inside_of_json_follow_the_same_words() {
    check::<Vec<i64>>(&[
        ("[1,-2]", Ok(vec![1, -2])),
        ("[1,\"2\"]", Err("v[1] is not an integer")),
        ("[1.5]", Err("v[0] is not an integer")),
        ("[true]", Err("v[0] is not an integer")),
        ("[9223372036854775808]", Err("v[0] is too large")),
        ("[99999999999999999999999]", Err("v[0] is too large")),
        ("[-99999999999999999999999]", Err("v[0] is too small")),
    ]);
    check::<Vec<u8>>(&[("[256]", Err("v[0] is too large")), ("[-1]", Err("v[0] is too small"))]);
}

// conformance: conv-8
#[test]
fn floats_are_json() {
    check::<f64>(&[
        ("1.5", Ok(1.5)),
        ("-2", Ok(-2.0)),
        ("true", Err("v is not a float")),
        ("NaN", Err("v is not valid JSON")),
    ]);
    check::<f32>(&[("0.5", Ok(0.5))]);
    check::<Vec<f64>>(&[("[1, 2.5]", Ok(vec![1.0, 2.5])), ("[\"1\"]", Err("v[0] is not a float"))]);
}

// conformance: conv-9
#[test]
fn null_is_none_unless_the_type_takes_text() {
    check::<Option<u64>>(&[
        ("5", Ok(Some(5))),
        ("null", Ok(None)),
        (" null ", Ok(None)),
        ("x", Err("v is not valid JSON")),
    ]);
    check::<Option<bool>>(&[("true", Ok(Some(true))), ("null", Ok(None))]);
    check::<Option<f64>>(&[("null", Ok(None))]);
    check::<Option<Vec<u64>>>(&[
        ("null", Ok(None)),
        ("[1]", Ok(Some(vec![1]))),
        ("1", Err("v is not a list")),
    ]);
    check::<Option<Tagged>>(&[("null", Ok(None))]);
    check::<Option<Operation>>(&[("null", Ok(None)), ("add", Ok(Some(Operation::Add)))]);
    check::<Option<Value>>(&[("null", Ok(None)), ("0", Ok(Some(json!(0))))]);
    check::<Option<String>>(&[("null", Ok(Some("null".into())))]);
    check::<Option<Trimmed>>(&[(" null ", Ok(Some(Trimmed("null".into()))))]);
    check::<Vec<Option<u64>>>(&[("[null,1]", Ok(vec![None, Some(1)]))]);
}

#[test]
fn several_nulls_in_one_request_are_each_none() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Params {
        a: Option<u64>,
        b: Option<String>,
        c: Option<Vec<u64>>,
        d: Option<bool>,
    }
    let form = Form::new(Some("a=null&b=null&c=null"), None, Bytes::new(), vec![]).unwrap();
    let params: Params = form.parse().unwrap();
    assert_eq!(params, Params { a: None, b: Some("null".into()), c: None, d: None });
}

#[test]
fn nullable_tells_absent_from_null() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Params {
        #[serde(default, deserialize_with = "nullable")]
        #[expect(clippy::option_option, reason = "absent, null and a value are three cases on the wire")]
        v: Option<Option<u64>>,
    }
    for (query, expected) in [("", None), ("v=null", Some(None)), ("v=3", Some(Some(3)))] {
        let form = Form::new(Some(query), None, Bytes::new(), vec![]).unwrap();
        assert_eq!(form.parse(), Ok(Params { v: expected }), "{query}");
    }
    check::<Vec<Params>>(&[(
        r#"[{},{"v":null},{"v":3}]"#,
        Ok(vec![Params { v: None }, Params { v: Some(None) }, Params { v: Some(Some(3)) }]),
    )]);
    assert_eq!(form("x").parse::<Params>().unwrap_err().to_string(), "v is not valid JSON");
}

// conformance: conv-5, conv-8
#[test]
fn lists_and_dicts_are_json() {
    check::<Vec<String>>(&[
        (r#"["a"]"#, Ok(vec!["a".into()])),
        ("a,b", Err("v is not valid JSON")),
        ("[1", Err("v is not valid JSON")),
        ("", Err("v is not valid JSON")),
        (r#""a""#, Err("v is not a list")),
        ("{}", Err("v is not a list")),
        ("null", Err("v is not a list")),
        (r#"["a", 1]"#, Err("v[1] is not a string")),
    ]);
    check::<BTreeMap<String, bool>>(&[
        (r#"{"a":true}"#, Ok([("a".into(), true)].into())),
        ("[]", Err("v is not a dict")),
        (r#"{"a b\"c":0}"#, Err(r#"v["a b\"c"] is not a boolean"#)),
    ]);
    check::<BTreeMap<Sort, u8>>(&[
        (r#"{"first":1}"#, Ok([(Sort::First, 1)].into())),
        (r#"{"third":1}"#, Err("Invalid v")),
    ]);
    check::<BTreeMap<u64, Vec<String>>>(&[
        (r#"{"7":["x"]}"#, Ok([(7, vec!["x".into()])].into())),
        (r#"{"x":[]}"#, Err(r#"v["x"] is not an integer"#)),
        (r#"{"7":[null]}"#, Err(r#"v["7"][0] is not a string"#)),
    ]);
    check::<(String, u64)>(&[
        (r#"["a",1]"#, Ok(("a".into(), 1))),
        (r#"["a"]"#, Err("v is not length 2")),
        (r#"["a",1,2]"#, Err("v is not length 2")),
        ("{}", Err("v is not a list")),
    ]);
    check::<Value>(&[(r#"{"a":[1]}"#, Ok(json!({"a": [1]}))), ("Denmark", Err("v is not valid JSON"))]);
    let deep = "[".repeat(100_000);
    check::<Value>(&[(&deep, Err("v is not valid JSON"))]);
    check::<bool>(&[(&deep, Err("v is not valid JSON"))]);
}

// conformance: conv-12
#[test]
fn errors_name_the_place_inside_of_json() {
    let term = |operand| Term { operator: "channel".into(), operand, negated: false };
    check::<Vec<Term>>(&[
        (r#"[{"operator":"channel","operand":"x"}]"#, Ok(vec![term(Operand::Text("x".into()))])),
        (r#"[{"operand":7,"operator":"channel"}]"#, Ok(vec![term(Operand::Id(7))])),
        (r#"[{"operator":"channel","operand":[7]}]"#, Ok(vec![term(Operand::Ids(vec![7]))])),
        (r#"[{"operator":1,"operand":"x"}]"#, Err(r#"v[0]["operator"] is not a string"#)),
        (r#"[{"operator":"a","operand":{}}]"#, Err(r#"Invalid v[0]["operand"]"#)),
        (r#"[{"operator":"a","operand":1,"negated":0}]"#, Err(r#"v[0]["negated"] is not a boolean"#)),
        (r#"[{"operand":"x"}]"#, Err(r#"v[0]["operator"] field is missing: Field required"#)),
        (r#"[{"operator":"a","operand":1},7]"#, Err("v[1] is not a dict")),
        (
            r#"[{"operator":"a","operand":1,"extra":0}]"#,
            Err(r#"Argument "extra" at v[0]["extra"] is unexpected"#),
        ),
    ]);
}

// conformance: conv-10
#[test]
fn enums_without_data_are_text_or_a_json_string() {
    check::<Operation>(&[
        ("add", Ok(Operation::Add)),
        ("remove_all", Ok(Operation::RemoveAll)),
        ("\"add\"", Ok(Operation::Add)),
        ("Add", Err("Invalid v")),
        ("", Err("Invalid v")),
        ("null", Err("Invalid v")),
        ("\"other\"", Err("Invalid v")),
        ("\"add", Err("v is not valid JSON")),
        ("{}", Err("Invalid v")),
    ]);
    check::<Vec<Operation>>(&[
        (r#"["add"]"#, Ok(vec![Operation::Add])),
        (r#"["add","x"]"#, Err("Invalid v[1]")),
        ("[1]", Err("Invalid v[0]")),
    ]);
    check::<BTreeMap<String, Operation>>(&[(r#"{"a":"x"}"#, Err(r#"Invalid v["a"]"#))]);
}

#[test]
fn enums_with_data_are_json() {
    check::<Tagged>(&[
        (r#"{"type":"stream","stream_id":3}"#, Ok(Tagged::Stream { stream_id: 3 })),
        (r#"{"to":[1],"type":"private"}"#, Ok(Tagged::Private { to: vec![1] })),
        (r#"{"type":"x"}"#, Err(r#"Invalid v["type"]"#)),
        (r#"{"stream_id":3}"#, Err(r#"v["type"] field is missing: Field required"#)),
        (r#"{"type":"stream"}"#, Err(r#"v["stream_id"] field is missing: Field required"#)),
        (r#"{"type":"stream","stream_id":"3"}"#, Err("v is not an integer")),
        (r#"["stream",3]"#, Ok(Tagged::Stream { stream_id: 3 })),
        ("7", Err("Invalid v")),
        ("x", Err("v is not valid JSON")),
    ]);
    check::<External>(&[
        (r#"{"role":3}"#, Ok(External::Role(3))),
        ("nobody", Ok(External::Nobody)),
        (r#"{"role":300}"#, Err(r#"v["role"] is too large"#)),
        ("role", Err("Invalid v")),
        (r#"{"role":1,"nobody":null}"#, Err("Invalid v")),
    ]);
    check::<Operand>(&[
        ("12", Ok(Operand::Id(12))),
        ("true", Err("Invalid v")),
        ("text", Err("v is not valid JSON")),
    ]);
}

#[test]
fn own_checks_name_the_place_with_braces() {
    fn even<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let number = u64::deserialize(deserializer)?;
        if number.is_multiple_of(2) { Ok(number) } else { Err(D::Error::custom("{} is odd, like {}")) }
    }
    #[derive(Debug, PartialEq, Deserialize)]
    struct Even(#[serde(deserialize_with = "even")] u64);

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(try_from = "String")]
    struct Color(String);
    impl TryFrom<String> for Color {
        type Error = &'static str;
        fn try_from(text: String) -> Result<Self, Self::Error> {
            if text.starts_with('#') { Ok(Self(text)) } else { Err("Color must start with #") }
        }
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(untagged, expecting = "{} is not a string or integer")]
    enum Either {
        Text(String),
        Number(u64),
    }

    check::<Even>(&[("2", Ok(Even(2))), ("3", Err("v is odd, like {}"))]);
    check::<Vec<Even>>(&[("[2,3]", Err("v[1] is odd, like {}"))]);
    check::<Color>(&[("#fff", Ok(Color("#fff".into()))), ("red", Err("Color must start with #"))]);
    check::<Either>(&[("3", Ok(Either::Number(3))), ("[]", Err("v is not a string or integer"))]);
}

#[test]
fn a_check_of_the_whole_struct_names_no_parameter() {
    #[derive(Debug, Deserialize)]
    #[serde(try_from = "One<u64>")]
    struct Checked;
    impl TryFrom<One<u64>> for Checked {
        type Error = &'static str;
        fn try_from(one: One<u64>) -> Result<Self, Self::Error> {
            if one.v == 0 { Err("Nothing to change") } else { Ok(Self) }
        }
    }
    assert!(form("1").parse::<Checked>().is_ok());
    let error = form("0").parse::<Checked>().unwrap_err();
    assert_eq!(error, ParamError::Invalid { message: "Nothing to change".into(), var_name: None });
}

#[derive(Debug, PartialEq, Deserialize)]
struct Named {
    #[serde(alias = "subject", alias = "about")]
    topic: String,
    #[serde(rename = "type", default)]
    kind: u8,
}

fn named(query: &str) -> Result<Named, ParamError> {
    Form::new(Some(query), None, Bytes::new(), vec![]).unwrap().parse()
}

// conformance: conv-13
#[test]
fn a_missing_parameter_is_named() {
    let error = named("type=1").unwrap_err();
    assert_eq!(error, ParamError::Missing { var_name: "topic" });
    assert_eq!(error.to_string(), "Missing 'topic' argument");
    assert_eq!(error.code(), "REQUEST_VARIABLE_MISSING");
}

#[test]
fn aliases_renames_and_defaults_work() {
    assert_eq!(named("topic=a&type=3"), Ok(Named { topic: "a".into(), kind: 3 }));
    assert_eq!(named("subject=b"), Ok(Named { topic: "b".into(), kind: 0 }));
    let error = named("about=b&type=x").unwrap_err();
    assert_eq!(error.to_string(), "type is not valid JSON");
}

#[test]
fn two_names_of_one_parameter_are_confusing() {
    for (query, other) in [
        ("topic=a&subject=b", "subject"),
        ("subject=b&topic=a", "subject"),
        ("type=1&about=a&topic=b", "about"),
    ] {
        let error = named(query).unwrap_err();
        assert_eq!(error, ParamError::Confusing { var_name1: "topic", var_name2: other }, "{query}");
        assert_eq!(error.code(), "REQUEST_CONFUSING_VAR");
    }
    let error = named("topic=a&subject=b").unwrap_err();
    assert_eq!(error.to_string(), "Can't decide between 'topic' and 'subject' arguments");
}

// conformance: conv-20
#[test]
fn the_known_names_are_those_of_all_structs_and_the_path() {
    let query = Some("topic=a&subject_not=1&v=1&client=c&message_id=9");
    let form = Form::new(query, None, Bytes::new(), vec![("message_id", "3".into())]).unwrap();
    assert_eq!(form.ignored(), ["subject_not", "topic", "v"]);
    form.parse::<One<u64>>().unwrap();
    assert_eq!(form.ignored(), ["subject_not", "topic"]);
    form.parse::<Named>().unwrap();
    assert_eq!(form.ignored(), ["subject_not"]);
}

#[test]
fn path_parameters_have_types_too() {
    let path = vec![("v", "3".to_owned())];
    let content_type = Some("application/x-www-form-urlencoded");
    let form = Form::new(None, content_type, Bytes::from_static(b"v=4"), path).unwrap();
    assert_eq!(form.parse::<One<u64>>().map(|one| one.v), Ok(3));
}

#[test]
fn unsupported_structs_are_refused() {
    #[derive(Debug, Deserialize)]
    struct Flattened {
        #[serde(flatten)]
        _rest: BTreeMap<String, String>,
    }
    let text = "Parameters can only be read into a struct without flattened fields";
    assert_eq!(form("1").parse::<Flattened>().unwrap_err().to_string(), text);
    assert_eq!(form("1").parse::<BTreeMap<String, String>>().unwrap_err().to_string(), text);
    assert_eq!(form("1").parse::<Vec<String>>().unwrap_err().to_string(), text);
}

#[test]
fn newtypes_parse_like_their_content() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct UserId(u64);
    #[derive(Deserialize)]
    struct Wrapper(One<UserId>);
    assert_eq!(form("3").parse::<Wrapper>().unwrap().0.v, UserId(3));
    check::<UserId>(&[("3", Ok(UserId(3))), ("x", Err("v is not valid JSON"))]);
    check::<Option<UserId>>(&[("null", Ok(None))]);
    check::<Vec<UserId>>(&[("[3]", Ok(vec![UserId(3)])), ("[\"3\"]", Err("v[0] is not an integer"))]);
}

// conformance: conv-11
#[test]
fn shared_text_types_check_and_trim() {
    let as_text = |result: Result<BoundedText<3>, String>| result.map(BoundedText::into_inner);
    assert_eq!(as_text(parse(" é ")).as_deref(), Ok(" é "));
    assert_eq!(as_text(parse("ééé")).as_deref(), Ok("ééé"));
    assert_eq!(as_text(parse("abcd")), Err("v is too long (limit: 3 characters)".into()));

    let as_text = |result: Result<RequiredText<3>, String>| result.map(RequiredText::into_inner);
    assert_eq!(as_text(parse("  abc\n")).as_deref(), Ok("abc"));
    assert_eq!(as_text(parse(" \t")), Err("v cannot be blank".into()));
    assert_eq!(as_text(parse("abcd ")), Err("v is too long (limit: 3 characters)".into()));
    assert_eq!(parse::<RequiredText>(&"x".repeat(10_000)).map(|text| text.len()), Ok(10_000));

    check::<Trimmed>(&[(" a b\n", Ok(Trimmed("a b".into()))), (" ", Ok(Trimmed::default()))]);
    assert_eq!(parse::<Trimmed>("\u{3000}x ").map(Trimmed::into_inner).as_deref(), Ok("x"));

    let nested = parse::<BTreeMap<String, BoundedText<2>>>(r#"{"name":"abc"}"#);
    assert_eq!(nested, Err(r#"v["name"] is too long (limit: 2 characters)"#.into()));
    assert_eq!(parse::<Vec<Trimmed>>("[1]"), Err("v[0] is not a string".into()));
}

#[test]
fn json_or_text_keeps_its_input() {
    check::<JsonOrText>(&[
        ("[9,10]", Ok(JsonOrText::Json(json!([9, 10])))),
        ("9", Ok(JsonOrText::Json(json!(9)))),
        ("\"Denmark\"", Ok(JsonOrText::Json(json!("Denmark")))),
        ("Denmark", Ok(JsonOrText::Text("Denmark".into()))),
        ("a@example.com,b@example.com", Ok(JsonOrText::Text("a@example.com,b@example.com".into()))),
        ("", Ok(JsonOrText::Text(String::new()))),
    ]);
}
