use planesmith_machinery::quantity::Quantity;

use super::*;

fn list(amounts: &[(&str, &str)]) -> ResourceList {
    let amount = |text: &str| text.parse::<Quantity>().expect("a quantity");
    amounts
        .iter()
        .map(|(name, text)| ((*name).to_owned(), amount(text)))
        .collect()
}

fn messages(item: LimitRangeItem) -> Vec<String> {
    let range = LimitRange {
        spec: LimitRangeSpec { limits: vec![item] },
        ..LimitRange::default()
    };
    let mut errors = FieldErrors::default();
    range.validate(&mut errors);
    errors.as_slice().iter().map(|error| error.message()).collect()
}

fn container() -> LimitRangeItem {
    LimitRangeItem {
        type_: CONTAINER.to_owned(),
        ..LimitRangeItem::default()
    }
}

#[test]
fn defaults_of_containers_come_from_their_bounds() {
    let mut item = LimitRangeItem {
        max: list(&[("cpu", "2"), ("memory", "1Gi")]),
        min: list(&[("cpu", "100m"), ("ephemeral-storage", "1n")]),
        default: list(&[("cpu", "1")]),
        ..container()
    };
    item.set_defaults();
    assert_eq!(item.default, list(&[("cpu", "1"), ("memory", "1Gi")]));
    let requests = list(&[("cpu", "1"), ("memory", "1Gi"), ("ephemeral-storage", "1m")]);
    assert_eq!(item.default_request, requests);
}

#[test]
fn pods_get_no_defaults() {
    let mut item = LimitRangeItem {
        type_: "Pod".to_owned(),
        max: list(&[("cpu", "2")]),
        ..LimitRangeItem::default()
    };
    item.set_defaults();
    assert!(item.default.is_empty());
}

#[test]
fn ratio_cannot_exceed_that_of_the_bounds() {
    let item = LimitRangeItem {
        max: list(&[("cpu", "1")]),
        min: list(&[("cpu", "300m")]),
        max_limit_request_ratio: list(&[("cpu", "4")]),
        ..container()
    };
    assert_eq!(
        messages(item),
        ["spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"4\": ratio 4 is greater than max/min = 3.333333"]
    );
}

#[test]
fn devices_are_requested_as_they_are_limited() {
    let item = LimitRangeItem {
        default: list(&[("example.com/gpu", "2")]),
        default_request: list(&[("example.com/gpu", "1")]),
        ..container()
    };
    assert_eq!(
        messages(item),
        [
            "spec.limits[0].defaultRequest[example.com/gpu]: Invalid value: \"1\": default value 2 must equal to \
             defaultRequest value 1 in example.com/gpu"
        ]
    );
}

#[test]
fn types_are_known_or_have_a_domain() {
    let of_type = |type_: &str| LimitRangeItem {
        type_: type_.to_owned(),
        ..LimitRangeItem::default()
    };
    assert_eq!(
        messages(of_type("Job")),
        ["spec.limits[0].type: Invalid value: \"Job\": must be a standard limit type or fully qualified"]
    );
    assert!(messages(of_type("example.com/job")).is_empty());
}

#[test]
fn a_range_without_a_name_is_named_after_its_identity() {
    let mut range = LimitRange::default();
    range.metadata.uid = "u".to_owned();
    range.prepare_for_create(&Context::default());
    assert_eq!(range.metadata.name, "u");
}
