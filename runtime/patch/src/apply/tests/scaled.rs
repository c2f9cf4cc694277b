use planesmith_machinery::scale::v1::{Scale, ScaleSpec};

use super::*;
use crate::managers::ScaleManagers;

fn scaled(live: &Thing, manager: &str, replicas: Option<i32>, force: bool) -> Result<Thing, ApplyError> {
    let spec = replicas.map(|replicas| json!({"replicas": replicas}));
    scaled_by(live, manager, spec, force)
}

/// `live` after `manager` has applied a Scale with `spec`.
fn scaled_by(live: &Thing, manager: &str, spec: Option<Value>, force: bool) -> Result<Thing, ApplyError> {
    let shown = Scale {
        metadata: live.metadata.clone(),
        spec: ScaleSpec {
            replicas: live.spec.replicas.unwrap_or_default(),
        },
        ..Scale::default()
    };
    let mut document = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "x"}});
    if let Some(spec) = spec {
        document["spec"] = spec;
    }
    let write = Tracking {
        subresource: "scale",
        ..by(manager)
    };
    let managers = ScaleManagers::read(&live.metadata.managed_fields, live.resource(), "spec.replicas");
    let outcome = apply_scale(&shown, managers.expect("entries"), &document, &write, force)?;
    let mut new = live.clone();
    new.spec.replicas = outcome.document["spec"]["replicas"]
        .as_i64()
        .map(|number| i32::try_from(number).unwrap_or(0));
    new.metadata.managed_fields = outcome.managed_fields;
    Ok(new)
}

#[test]
fn replicas_are_shared_with_those_who_manage_the_object() {
    let live = applied(&Thing::default(), "a", &json!({"replicas": 1, "paused": true}));
    let error = scaled(&live, "hpa", Some(4), false).expect_err("a conflict");
    assert_eq!(
        error.to_api_error("x").message(),
        "Apply failed with 1 conflict: conflict with \"a\": .spec.replicas"
    );
    let live = scaled(&live, "hpa", Some(4), true).expect("a force");
    assert_eq!(
        managers(&live),
        [
            r#"hpa Apply {"f:spec":{"f:replicas":{}}}"#,
            r#"a Apply {"f:spec":{"f:paused":{}}}"#,
        ]
    );
    assert_eq!(live.metadata.managed_fields[0].time, None);
    assert_eq!(
        refused(&live, "a", &json!({"replicas": 2})),
        "Apply failed with 1 conflict: conflict with \"hpa\" with subresource \"scale\": .spec.replicas"
    );
}

#[test]
fn a_scaler_that_says_nothing_lets_go() {
    let live = applied(&Thing::default(), "a", &json!({"replicas": 1}));
    let live = scaled(&live, "hpa", Some(1), false).expect("no conflict");
    assert_eq!(live.metadata.managed_fields.len(), 2);
    let live = scaled(&live, "hpa", None, false).expect("no conflict");
    assert_eq!(managers(&live), [r#"a Apply {"f:spec":{"f:replicas":{}}}"#]);
}

#[test]
fn a_scaler_with_an_empty_spec_keeps_what_it_had() {
    let live = applied(&Thing::default(), "a", &json!({"replicas": 1}));
    let live = scaled(&live, "hpa", Some(1), false).expect("no conflict");
    let before = managers(&live);
    let live = scaled_by(&live, "hpa", Some(json!({})), false).expect("no conflict");
    assert_eq!(managers(&live), before);
}

#[test]
fn unmanaged_fields_belong_to_before_first_apply() {
    let mut live = applied(&Thing::default(), "a", &json!({"replicas": 1}));
    live.metadata.managed_fields.clear();
    let error = scaled(&live, "hpa", Some(4), false).expect_err("a conflict");
    assert_eq!(
        error.to_api_error("x").message(),
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" with subresource \"scale\" using autoscaling/v1: \
         .spec.replicas"
    );
    let live = scaled(&live, "hpa", Some(1), false).expect("no conflict");
    assert_eq!(
        managers(&live),
        [
            r#"hpa Apply {"f:spec":{"f:replicas":{}}}"#,
            r#"before-first-apply Update {"f:spec":{"f:replicas":{}}}"#,
        ]
    );
}
