//! Scenarios over hand-written tables, independent of the derives.

use std::collections::BTreeMap;

use super::{DecodeError, Strictness, decode, decode_value, encode_item, parse_value, to_value, to_vec, type_meta};
use crate::byte_string::ByteString;
use crate::facts::{FieldFacts, Omit, StructFacts, TypeFacts, TypeMetaFacts};
use crate::value::{Shape, Slot, Struct, Value, View};

/// Implements what the derive would.
macro_rules! by_hand {
    ($type:ident, $facts:expr, $($index:literal => $field:ident),+) => {
        impl Shape for $type {
            const TYPE: TypeFacts = TypeFacts::Struct(|| &$facts);
        }

        impl Value for $type {
            fn view(&self) -> View<'_> {
                View::Struct(self)
            }

            fn slot(&mut self) -> Slot<'_> {
                Slot::Struct(self)
            }

            fn reset(&mut self) {
                *self = Self::default();
            }
        }

        impl Struct for $type {
            fn facts(&self) -> &'static StructFacts {
                &$facts
            }

            fn field(&self, index: usize) -> &dyn Value {
                match index {
                    $($index => &self.$field,)+
                    _ => panic!("no field {index}"),
                }
            }

            fn field_mut(&mut self, index: usize) -> &mut dyn Value {
                match index {
                    $($index => &mut self.$field,)+
                    _ => panic!("no field {index}"),
                }
            }
        }
    };
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Widget {
    name: String,
    spec: WidgetSpec,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct WidgetSpec {
    replicas: Option<i32>,
    size: i64,
    ratio: f64,
    paused: bool,
    labels: BTreeMap<String, String>,
    parts: Vec<Part>,
    secret: BTreeMap<String, ByteString>,
    place: Location,
    must: Vec<String>,
    next: Option<Box<WidgetSpec>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Part {
    title: String,
    count: i32,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Location {
    shelf: String,
}

static WIDGET: StructFacts = StructFacts {
    name: "Widget",
    type_meta: Some(TypeMetaFacts {
        api_version: "shop/v1",
        kind: "Widget",
    }),
    fields: &[
        FieldFacts {
            name: "name",
            ty: TypeFacts::String,
            ..FieldFacts::NONE
        },
        FieldFacts {
            name: "spec",
            ty: WidgetSpec::TYPE,
            ..FieldFacts::NONE
        },
    ],
    ..StructFacts::NONE
};

static WIDGET_SPEC: StructFacts = StructFacts {
    name: "WidgetSpec",
    fields: &[
        FieldFacts {
            name: "replicas",
            ty: Option::<i32>::TYPE,
            ..FieldFacts::NONE
        },
        FieldFacts {
            name: "size",
            ty: i64::TYPE,
            ..FieldFacts::NONE
        },
        FieldFacts {
            name: "ratio",
            ty: f64::TYPE,
            ..FieldFacts::NONE
        },
        FieldFacts {
            name: "paused",
            ty: bool::TYPE,
            ..FieldFacts::NONE
        },
        FieldFacts {
            name: "labels",
            ty: BTreeMap::<String, String>::TYPE,
            ..FieldFacts::NONE
        },
        FieldFacts {
            name: "parts",
            ty: Vec::<Part>::TYPE,
            ..FieldFacts::NONE
        },
        FieldFacts {
            name: "secret",
            ty: BTreeMap::<String, ByteString>::TYPE,
            ..FieldFacts::NONE
        },
        FieldFacts {
            name: "",
            ty: Location::TYPE,
            inline: true,
            ..FieldFacts::NONE
        },
        FieldFacts {
            name: "must",
            ty: Vec::<String>::TYPE,
            omit: Omit::Never,
            ..FieldFacts::NONE
        },
        FieldFacts {
            name: "next",
            ty: Option::<Box<WidgetSpec>>::TYPE,
            ..FieldFacts::NONE
        },
    ],
    ..StructFacts::NONE
};

static PART: StructFacts = StructFacts {
    name: "Part",
    fields: &[
        FieldFacts {
            name: "title",
            ty: TypeFacts::String,
            omit: Omit::Never,
            ..FieldFacts::NONE
        },
        FieldFacts {
            name: "count",
            ty: TypeFacts::Int32,
            ..FieldFacts::NONE
        },
    ],
    ..StructFacts::NONE
};

static PLACE: StructFacts = StructFacts {
    name: "Location",
    fields: &[FieldFacts {
        name: "shelf",
        ty: TypeFacts::String,
        ..FieldFacts::NONE
    }],
    ..StructFacts::NONE
};

by_hand!(Widget, WIDGET, 0 => name, 1 => spec);
by_hand!(WidgetSpec, WIDGET_SPEC, 0 => replicas, 1 => size, 2 => ratio, 3 => paused, 4 => labels, 5 => parts,
    6 => secret, 7 => place, 8 => must, 9 => next);
by_hand!(Part, PART, 0 => title, 1 => count);
by_hand!(Location, PLACE, 0 => shelf);

fn read(text: &str) -> Result<Widget, String> {
    let mut widget = Widget::default();
    decode(text.as_bytes(), &mut widget, Strictness::Lenient).map_err(|error| error.to_string())?;
    Ok(widget)
}

fn written(widget: &Widget) -> String {
    String::from_utf8(to_vec(widget)).expect("JSON is UTF-8")
}

fn refused(text: &str, message: &str) {
    assert_eq!(read(text).expect_err(text), message, "{text}");
}

#[test]
fn a_full_object_comes_back_as_it_was() {
    let text = concat!(
        r#"{"kind":"Widget","apiVersion":"shop/v1","name":"w","spec":{"replicas":0,"size":-7,"ratio":0.5,"paused":true,"#,
        r#""labels":{"a":"1","b":""},"parts":[{"title":"","count":3},{"title":"x"}],"secret":{"k":"AAEC/w=="},"#,
        r#""shelf":"top","must":["m"],"next":{"must":null}}}"#
    );
    assert_eq!(written(&read(text).expect("valid")), text);
}

#[test]
fn an_empty_object_shows_only_what_is_never_left_out() {
    assert_eq!(
        written(&Widget::default()),
        r#"{"kind":"Widget","apiVersion":"shop/v1","spec":{"must":null}}"#
    );
    let mut item = Vec::new();
    encode_item(&Widget::default(), &mut item);
    assert_eq!(item, br#"{"spec":{"must":null}}"#);
}

#[test]
fn null_empties_what_can_be_absent_and_leaves_the_rest() {
    let widget = read(
        r#"{"name":null,"spec":{"replicas":null,"labels":{"a":null},"parts":[null],"secret":null,"size":5,"size":null}}"#,
    );
    let spec = widget.expect("valid").spec;
    assert_eq!((spec.replicas, spec.size, spec.parts.len()), (None, 5, 1));
    assert_eq!(spec.labels["a"], "");
    assert!(read("null").is_ok());
}

#[test]
fn repeated_fields_merge_as_in_go() {
    let mut widget = Widget::default();
    let text = r#"{"spec":{"labels":{"a":"1","a":"2"},"labels":{"b":"3"},"parts":[{"title":"x","count":1},{}],
        "parts":[{"count":2}]},"spec":{"size":1},"Name":"n","spec":{"zz":1,"next":{"q":[{"deep":1}]},"parts":[{"r":0}]}}"#;
    let findings = decode(text.as_bytes(), &mut widget, Strictness::Strict).expect("valid");
    assert_eq!(
        widget.spec.labels,
        BTreeMap::from([("a".to_owned(), "2".to_owned()), ("b".to_owned(), "3".to_owned())])
    );
    assert_eq!(
        widget.spec.parts,
        [Part {
            title: "x".to_owned(),
            count: 2
        }]
    );
    assert_eq!(widget.spec.size, 1);
    assert_eq!(
        findings.to_string(),
        r#"duplicate field "spec.labels.a", duplicate field "spec.labels", duplicate field "spec.parts", duplicate field "spec", unknown field "Name", unknown field "spec.zz", unknown field "spec.next.q", unknown field "spec.parts[0].r""#
    );
}

#[test]
fn findings_are_limited_to_a_hundred() {
    let text = format!(
        "{{{}}}",
        (0..300).map(|i| format!("\"f{i}\":1")).collect::<Vec<_>>().join(",")
    );
    let findings = decode(text.as_bytes(), &mut Widget::default(), Strictness::Strict).expect("valid");
    assert_eq!(findings.messages().len(), 100);
    assert_eq!(findings.messages()[99], r#"unknown field "f99""#);
}

#[test]
fn values_of_a_wrong_kind_are_named_as_in_go() {
    let at = "json: cannot unmarshal";
    for (value, found) in [
        ("3.0", "number 3.0"),
        ("1e1", "number 1e1"),
        ("3000000000", "number 3000000000"),
        ("\"3\"", "string"),
        ("true", "bool"),
        ("[]", "array"),
        ("{}", "object"),
    ] {
        refused(
            &format!(r#"{{"spec":{{"replicas":{value}}}}}"#),
            &format!("{at} {found} into Go struct field WidgetSpec.spec.replicas of type int32"),
        );
    }
    refused(
        r#"{"spec":{"labels":[]}}"#,
        &format!("{at} array into Go struct field WidgetSpec.spec.labels of type map[string]string"),
    );
    refused(
        r#"{"spec":{"labels":{"a":1}}}"#,
        &format!("{at} number into Go struct field WidgetSpec.spec.labels of type string"),
    );
    refused(
        r#"{"spec":{"parts":{}}}"#,
        &format!("{at} object into Go struct field WidgetSpec.spec.parts of type []v1.Part"),
    );
    refused(
        r#"{"spec":{"parts":[5]}}"#,
        &format!("{at} number into Go struct field WidgetSpec.spec.parts of type v1.Part"),
    );
    refused(
        r#"{"spec":{"parts":[{"title":5}]}}"#,
        &format!("{at} number into Go struct field Part.spec.parts.title of type string"),
    );
    refused(
        r#"{"spec":{"shelf":5}}"#,
        &format!("{at} number into Go struct field WidgetSpec.spec.Location.shelf of type string"),
    );
    refused(
        r#"{"spec":"x"}"#,
        &format!("{at} string into Go struct field Widget.spec of type v1.WidgetSpec"),
    );
    refused(
        r#"{"kind":5}"#,
        &format!("{at} number into Go struct field Widget.TypeMeta.kind of type string"),
    );
    refused("[]", &format!("{at} array into Go value of type v1.Widget"));
    refused(
        r#"{"spec":{"secret":{"a":"***"}}}"#,
        "illegal base64 data at input byte 0",
    );
    refused(
        r#"{"spec":{"secret":{"a":[1,256]}}}"#,
        &format!("{at} number 256 into Go struct field WidgetSpec.spec.secret of type uint8"),
    );
    refused(
        r#"{"spec":{"secret":{"a":["x"]}}}"#,
        &format!("{at} string into Go struct field WidgetSpec.spec.secret of type uint8"),
    );
    // The first of two mistakes is reported, but bad syntax comes before both.
    refused(
        r#"{"name":1,"spec":5}"#,
        &format!("{at} number into Go struct field Widget.name of type string"),
    );
    refused(r#"{"name":1,"spec":5"#, "unexpected end of JSON input");
}

#[test]
fn text_is_unescaped_and_repaired() {
    let name = |text: &[u8]| {
        let mut widget = Widget::default();
        let input = [br#"{"name":""#, text, br#""}"#].concat();
        decode(&input, &mut widget, Strictness::Lenient).map(|_| widget.name)
    };
    assert_eq!(
        name(br#"\u00e9\ud83d\ude00 \"\\\/\b\f\n\r\t"#).expect("valid"),
        "é😀 \"\\/\u{8}\u{c}\n\r\t"
    );
    assert_eq!(name(br"\ud83d").expect("valid"), "\u{FFFD}");
    assert_eq!(name(br"\ud83d\u0041").expect("valid"), "\u{FFFD}A");
    assert_eq!(name(b"a\xffb\xe2\x82c").expect("valid"), "a\u{FFFD}b\u{FFFD}\u{FFFD}c");
    assert_eq!(
        name(b"x\ny"),
        Err(DecodeError::Syntax(
            "invalid character '\\n' in string literal".to_owned()
        ))
    );
}

#[test]
fn hostile_depth_is_an_error() {
    let message = "exceeded max depth";
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{{\"zz\":{}1{}}}", open.repeat(100_000), close.repeat(100_000));
        assert!(read(&deep).expect_err("deep").ends_with(message));
        assert!(
            type_meta(deep.as_bytes())
                .expect_err("deep")
                .to_string()
                .ends_with(message)
        );
        assert!(
            parse_value(deep.as_bytes(), Strictness::Lenient)
                .expect_err("deep")
                .to_string()
                .ends_with(message)
        );
    }
    let typed = format!(
        "{{\"spec\":{}{}}}",
        "{\"next\":".repeat(5_000),
        "{}".to_owned() + &"}".repeat(5_000)
    );
    assert!(read(&typed).expect_err("deep").ends_with(message));
}

#[test]
fn trees_and_structs_turn_into_each_other() {
    let widget = read(r#"{"name":"w","spec":{"size":3,"ratio":2,"parts":[{"title":"<a>"}]}}"#).expect("valid");
    let tree = to_value(&widget);
    assert_eq!(tree["spec"]["parts"][0]["title"], "<a>");
    let mut back = Widget::default();
    super::from_value(&tree, &mut back, Strictness::Strict).expect("valid");
    assert_eq!(back, widget);
}

#[test]
fn lists_are_documents() {
    let sizes = |text: &str| {
        let list: Vec<WidgetSpec> = decode_value(text.as_bytes()).map_err(|error| error.to_string())?;
        Ok::<_, String>(list.into_iter().map(|spec| spec.size).collect::<Vec<_>>())
    };
    assert_eq!(sizes(r#"[{"size":3},{},null]"#), Ok(vec![3, 0, 0]));
    assert_eq!(sizes("null"), Ok(Vec::new()));
    let refused = [
        (
            "{}",
            "json: cannot unmarshal object into Go value of type []v1.WidgetSpec",
        ),
        (
            "[1]",
            "json: cannot unmarshal number into Go value of type v1.WidgetSpec",
        ),
        ("not", "invalid character 'o' in literal null (expecting 'u')"),
        ("[]]", "invalid character ']' after top-level value"),
    ];
    for (text, expected) in refused {
        assert_eq!(sizes(text), Err(expected.to_owned()), "{text}");
    }
}
