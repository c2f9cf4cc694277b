use std::collections::BTreeMap;

use proptest::prelude::{Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};

use super::*;

fn matches(query: &str, labels: &[(&str, &str)]) -> bool {
    let labels: BTreeMap<&str, &str> = labels.iter().copied().collect();
    LabelQuery::parse(query)
        .expect("a legal selector")
        .matches(|key| labels.get(key).copied())
}

#[test]
fn requirements_match_as_documented() {
    let prod = [("env", "prod"), ("num", "5")];
    for query in [
        "",
        "env",
        "env=prod",
        "env==prod",
        "env in (prod,dev)",
        "env notin (dev)",
        "env!=dev",
        "!none",
        "none!=x",
        "num>4",
        "num<6",
        "env = prod , num",
        "none notin (a)",
        "env in (prod,),num",
    ] {
        assert!(matches(query, &prod), "{query}");
    }
    for query in [
        "env=dev",
        "!env",
        "none",
        "none=x",
        "env in ()",
        "num>5",
        "num<5",
        "env>1",
        "none<3",
        "env=prod,none",
    ] {
        assert!(!matches(query, &prod), "{query}");
    }
}

#[test]
fn empty_parentheses_stand_for_the_empty_value() {
    assert!(matches("env in ()", &[("env", "")]));
    assert!(matches("env in (,)", &[("env", "")]));
    assert!(matches("env in (a,,b)", &[("env", "")]));
    assert!(matches("env=", &[("env", "")]));
    assert!(!matches("env notin ()", &[("env", "")]));
}

#[test]
fn keywords_are_values_outside_of_the_operator() {
    assert!(matches("in=notin", &[("in", "notin")]));
    assert!(matches("in in (in,notin)", &[("in", "in")]));
    assert!(LabelQuery::parse("env IN (a)").is_err());
}

#[test]
fn complaints_are_those_of_the_reference() {
    let key = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
               alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
               '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let cases = [
        ("=prod", "found '=', expected: !, identifier, or 'end of string'".to_owned()),
        ("env in", "unable to parse requirement: found '' expected: '('".to_owned()),
        ("env in (a", "unable to parse requirement: found '', expected: ',' or ')'".to_owned()),
        ("env in (a,", "unable to parse requirement: found '', expected: ',', or identifier".to_owned()),
        ("env in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier".to_owned()),
        ("-x=1", format!("unable to parse requirement: <nil>: Invalid value: \"-x\": {key}")),
        ("env=a b", "found 'b', expected: ',' or 'end of string'".to_owned()),
        ("num>abc", "unable to parse requirement: values[0]: Invalid value: \"abc\": for 'Gt', 'Lt' operators, the value must be an integer".to_owned()),
        ("env=prod,", "found '', expected: identifier after ','".to_owned()),
        ("!!env", "unable to parse requirement: found '!', expected: identifier".to_owned()),
        ("!env in (a)", "found 'in', expected: ',' or 'end of string'".to_owned()),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt".to_owned()),
        ("a==(", "unable to parse requirement: found '(', expected: identifier".to_owned()),
    ];
    for (text, message) in cases {
        assert_eq!(LabelQuery::parse(text).expect_err(text).0, message);
    }
    let long = format!("env={}", "v".repeat(64));
    let message = format!(
        "unable to parse requirement: values[0][env]: Invalid value: \"{}\": must be no more than 63 bytes",
        "v".repeat(64)
    );
    assert_eq!(LabelQuery::parse(&long).expect_err("too long").0, message);
}

#[test]
fn text_form_is_sorted_by_key_and_value() {
    let query = LabelQuery::parse("k notin (z,y), a = 1,!n, b==2,e").expect("legal");
    assert_eq!(query.to_string(), "a=1,b==2,e,k notin (y,z),!n");
}

#[test]
fn selector_of_an_object_becomes_a_query() {
    let expression = |key: &str, operator: &str, values: &[&str]| meta::LabelSelectorRequirement {
        key: key.to_owned(),
        operator: operator.to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    let mut selector = meta::LabelSelector::default();
    assert!(LabelQuery::of_selector(&selector).expect("legal").is_empty());
    selector.match_labels.insert("a".to_owned(), "1".to_owned());
    selector.match_expressions = vec![
        expression("k", "NotIn", &["z", "y"]),
        expression("e", "Exists", &[]),
        expression("b", "In", &["2"]),
    ];
    let query = LabelQuery::of_selector(&selector).expect("legal");
    assert_eq!(query.to_string(), "a=1,b in (2),e,k notin (y,z)");
    selector.match_expressions = vec![expression("k", "Near", &[])];
    let error = LabelQuery::of_selector(&selector).expect_err("unknown");
    assert_eq!(error.0, "\"Near\" is not a valid label selector operator");
}

fn requirement() -> impl Strategy<Value = Requirement> {
    let key = "[a-z]{1,4}(\\.[a-z]{1,2})?(/[a-z]{1,3})?";
    let word = "([A-Za-z0-9]([A-Za-z0-9_.-]{0,3}[a-z0-9])?)?";
    let set = prop_oneof![
        prop::strategy::Just(Operator::In),
        prop::strategy::Just(Operator::NotIn)
    ];
    let exact = prop_oneof![
        prop::strategy::Just(Operator::Equals),
        prop::strategy::Just(Operator::DoubleEquals),
        prop::strategy::Just(Operator::NotEquals),
    ];
    let unary = prop_oneof![
        prop::strategy::Just(Operator::Exists),
        prop::strategy::Just(Operator::DoesNotExist)
    ];
    prop_oneof![
        (key, set, prop::collection::vec(word, 1..4)),
        (key, exact, prop::collection::vec(word, 1)),
        (key, unary, prop::collection::vec(word, 0)),
    ]
    .prop_map(|(key, operator, values)| Requirement::new(key, operator, values).expect("built from legal parts"))
}

proptest! {
    #[test]
    fn text_form_parses_to_the_same_query(requirements in prop::collection::vec(requirement(), 0..4)) {
        let query = LabelQuery::new(requirements);
        prop_assert_eq!(LabelQuery::parse(&query.to_string()), Ok(query));
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in any::<String>()) {
        let _ = LabelQuery::parse(&text);
    }

    #[test]
    fn any_text_of_symbols_is_parsed_or_refused(text in "[a(),!=<> in]{0,12}") {
        let _ = LabelQuery::parse(&text);
    }
}
