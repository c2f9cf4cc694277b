//! Scenarios over a struct whose message has its fields in another order than its JSON.

use planesmith_wire::int_or_string::IntOrString;

use super::*;
use crate::Struct;
use crate::json::{self, Strictness};
use crate::protobuf::encode;
use crate::value::Struct as _;

/// Plain fields, which are written in any case.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Numbers {
    /// One.
    #[field(proto = 1)]
    one: i32,
    /// Two.
    #[field(proto = 2)]
    two: i64,
    /// Three.
    #[field(proto = 300)]
    three: String,
    /// Four.
    #[field(proto = 4)]
    four: bool,
    /// Five.
    #[field(proto = 5)]
    five: IntOrString,
    /// Six.
    #[field(proto = 6)]
    six: f64,
}

/// Optional fields and lists, not in the order of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Outer {
    /// A field whose number is the largest.
    #[field(proto = 20)]
    last: Option<String>,
    /// Numbers.
    #[field(proto = 3)]
    many: Vec<Numbers>,
    /// A text whose name takes more than three words.
    #[field(proto = 2)]
    required_during_scheduling_ignored_during_execution: Option<String>,
    /// A text.
    #[field(proto = 1)]
    plain: String,
    /// A text that is null in the JSON if it is absent.
    #[field(keep, proto = 21)]
    null: Option<String>,
    /// More of its kind.
    #[field(proto = 7)]
    inner: Option<Box<Outer>>,
}

#[track_caller]
fn check(object: &Outer) {
    let stored = json::to_vec(object);
    let mut again = Outer::default();
    json::decode(&stored, &mut again, Strictness::Lenient).expect("what was written");
    let mut expected = b"before".to_vec();
    encode(&again, &mut expected);
    let mut message = b"before".to_vec();
    assert!(Transcoder::new(object.facts()).transcode(&stored, &mut message));
    assert_eq!(message, expected, "{}", String::from_utf8_lossy(&stored));
}

fn text(length: usize) -> String {
    "a \"text\" with escapes ".chars().cycle().take(length).collect()
}

#[test]
fn fields_are_written_in_the_order_of_their_numbers() {
    let full = Outer {
        last: Some("last".to_owned()),
        many: vec![Numbers::default(); 2],
        required_during_scheduling_ignored_during_execution: Some("long".to_owned()),
        plain: "plain".to_owned(),
        null: None,
        inner: None,
    };
    check(&full);
    let nested = Outer {
        inner: Some(Box::new(full.clone())),
        ..full.clone()
    };
    check(&nested);
    // Objects of other shapes alternate.
    for bits in (0..32).chain((0..32).rev()) {
        let has = |bit: u32| bits & (1 << bit) != 0;
        check(&Outer {
            last: has(0).then(|| text(3)),
            many: vec![Numbers::default(); usize::from(has(1))],
            required_during_scheduling_ignored_during_execution: has(2).then(|| text(60)),
            plain: if has(3) { text(40) } else { String::new() },
            null: has(0).then(|| text(5)),
            inner: has(4).then(|| Box::new(full.clone())),
        });
    }
}

#[test]
fn texts_and_messages_may_have_any_length() {
    for length in (0..70).chain([126, 127, 128, 129, 16_382, 16_383, 16_384, 3_000_000]) {
        check(&Outer {
            plain: text(length),
            inner: Some(Box::new(Outer {
                last: Some("x".repeat(length)),
                ..Outer::default()
            })),
            ..Outer::default()
        });
    }
}

#[test]
fn a_message_may_be_much_longer_than_its_json() {
    for count in [1, 20, 5_000] {
        let many = Outer {
            many: vec![Numbers::default(); count],
            ..Outer::default()
        };
        check(&many);
        let numbers = Numbers {
            one: -1,
            two: i64::MIN,
            three: text(33),
            four: true,
            five: IntOrString::from("25%"),
            six: -0.5,
        };
        check(&Outer {
            many: vec![numbers; count],
            ..Outer::default()
        });
    }
}

#[test]
fn structs_share_their_plan() {
    let facts = Outer::default().facts();
    let plans = [0, 1].map(|_| plan_of(facts).expect("it needs no decoded object"));
    assert!(std::ptr::eq(plans[0], plans[1]));
    let nested = Numbers::default().facts();
    assert!(plan_of(nested).is_some_and(|plan| !plan.is_sorted && !plan.empty.is_empty()));
}

#[test]
fn doubles_that_json_cannot_hold_are_refused() {
    for (value, expected) in [(f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf"), (f64::NAN, "NaN")] {
        let mut message = Vec::new();
        let numbers = Numbers {
            six: value,
            ..Numbers::default()
        };
        encode(&numbers, &mut message);
        let refused = crate::protobuf::decode(&message, &mut Numbers::default()).expect_err("refused");
        assert_eq!(
            refused.to_string(),
            format!("six is {expected}, which JSON cannot hold")
        );
    }
}
