use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::byte_string::ByteString;
use planesmith_wire::int_or_string::IntOrString;
use planesmith_wire::time::Time;
use serde_json::{Value as Tree, json};

use super::*;

/// An inlined struct.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Inner {
    /// Text inside.
    inside: String,
}

/// One field of each form.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Thing {
    /// Text.
    text: String,
    /// A truth value.
    flag: bool,
    /// A number that may be absent.
    count: Option<i32>,
    /// A size.
    size: i64,
    /// A ratio.
    ratio: f64,
    /// Raw.
    raw: ByteString,
    /// Number or text.
    port: Option<IntOrString>,
    /// Time.
    at: Option<Time>,
    /// Texts.
    list: Vec<String>,
    /// More of them, by name.
    labels: BTreeMap<String, String>,
    /// More of the same.
    things: Vec<Thing>,
    /// Fields of another struct.
    #[field(inline)]
    inner: Inner,
}

fn read_as(document: &Tree, strictness: Strictness) -> Result<(Thing, Vec<String>), String> {
    let mut thing = Thing::default();
    let found = decode(document.to_string().as_bytes(), &mut thing, strictness)?;
    Ok((thing, found.messages().to_vec()))
}

#[test]
fn mismatches_are_reported_in_the_words_of_the_converter() {
    let time = "json: cannot unmarshal number into Go value of type string";
    let port = |found: &str| format!("json: cannot unmarshal {found} into Go value of type int32");
    let cases = [
        (json!("x"), "cannot restore struct from: string"),
        (json!({"things": ["x"]}), "cannot restore struct from: string"),
        (json!({"things": [[]]}), "cannot restore struct from: slice"),
        (json!({"labels": "x"}), "cannot restore map from string"),
        (json!({"labels": []}), "cannot restore map from slice"),
        (json!({"labels": {"a": 5}}), "cannot convert int64 to string"),
        (json!({"list": "x"}), "cannot restore slice from string"),
        (json!({"list": {}}), "cannot restore slice from map"),
        (json!({"list": 1.5}), "cannot restore slice from float64"),
        (json!({"list": [true]}), "unrecognized type: string"),
        (json!({"text": 5}), "cannot convert int64 to string"),
        (json!({"text": true}), "unrecognized type: string"),
        (json!({"text": 1.5}), "unrecognized type: string"),
        (json!({"inside": []}), "unrecognized type: string"),
        (json!({"count": "5"}), "unrecognized type: int32"),
        (json!({"count": false}), "unrecognized type: int32"),
        (json!({"count": 3.5}), "cannot convert float64 to int32"),
        (json!({"size": {}}), "unrecognized type: int64"),
        (json!({"ratio": "1"}), "unrecognized type: float64"),
        (json!({"flag": "true"}), "unrecognized type: bool"),
        (json!({"flag": 1}), "unrecognized type: bool"),
        (
            json!({"raw": "***"}),
            "error decoding from json: illegal base64 data at input byte 0",
        ),
        (json!({"raw": 5}), "cannot restore slice from int64"),
        (json!({"raw": ["x"]}), "unrecognized type: uint8"),
        (json!({"port": true}), &port("bool")),
        (json!({"port": 1.5}), &port("number 1.5")),
        (json!({"port": {}}), &port("object")),
        (json!({"at": 5}), time),
        // The first field of the type, not of the document.
        (json!({"at": 5, "text": 5}), "cannot convert int64 to string"),
    ];
    for (document, why) in cases {
        assert_eq!(
            read_as(&document, Strictness::Lenient),
            Err(why.to_owned()),
            "{document}"
        );
        let unread = read(&document, &mut Thing::default());
        assert_eq!(unread, Err(why.to_owned()), "{document}");
    }
}

#[test]
fn numbers_become_integers_of_their_size() {
    let count = |number: Tree| read_as(&json!({"count": number}), Strictness::Lenient).map(|(thing, _)| thing.count);
    assert_eq!(count(json!(4_294_967_299_i64)), Ok(Some(3)));
    assert_eq!(count(json!(-2_147_483_649_i64)), Ok(Some(i32::MAX)));
    assert_eq!(count(json!(3.0)), Ok(Some(3)));
    assert_eq!(count(json!(1e30)), Ok(Some(0)));
    assert_eq!(count(Tree::Null), Ok(None));
    let (thing, _) = read_as(
        &json!({"size": 18_446_744_073_709_551_615_u64, "raw": [257, null]}),
        Strictness::Lenient,
    )
    .expect("numbers");
    assert_eq!((thing.size, &*thing.raw.0), (i64::MIN, &[1, 0][..]));
}

#[test]
fn a_document_that_json_refuses_is_read_as_a_whole() {
    let document = json!({
        "text": "a", "flag": true, "count": 4_294_967_297_i64, "ratio": 2, "raw": "YQ==", "port": "http",
        "at": "2020-01-02T03:04:05Z", "list": ["b", null], "labels": {"c": "d", "e": null}, "inside": "f",
        "things": [{"text": "g", "odd": 1}], "size": null, "none": 1,
    });
    let (thing, found) = read_as(&document, Strictness::Strict).expect("it fits");
    assert_eq!(found, [r#"unknown field "none""#, r#"unknown field "things[0].odd""#]);
    let mut same = document;
    same["count"] = json!(1);
    assert_eq!(read_as(&same, Strictness::Lenient).expect("it fits").0, thing);
    assert_eq!(thing.inner.inside, "f");
}

#[test]
fn kind_and_version_are_passed_over_as_long_as_they_are_text() {
    use planesmith_machinery::scale::v1::Scale;

    let read = |document: Tree| read(&document, &mut Scale::default());
    assert_eq!(read(json!({"kind": "Secret", "apiVersion": "no/such/one"})), Ok(()));
    assert_eq!(
        read(json!({"kind": 5, "spec": "x"})),
        Err("cannot convert int64 to string".to_owned())
    );
}

#[test]
fn many_small_elements_of_a_client_are_refused() {
    let tree = json!({"count": 4_294_967_299_i64, "things": vec![json!({}); 100_000]});
    assert_eq!(
        read_as(&tree, Strictness::Lenient).map(drop),
        Err("its lists and maps have too many elements for its size".to_owned())
    );
}
