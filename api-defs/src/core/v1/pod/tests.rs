//! Validation of pods: documents as input, error texts as output.

mod creation;
mod updates;

use planesmith_machinery::defaulting::set_defaults;
use planesmith_machinery::environment::Environment;
use planesmith_machinery::feature::Features;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::strategy::{Context, Strategy as _};
use serde_json::{Value, json};

use super::Pod;

/// Returns a defaulted pod with one container and the members of `spec` in its spec.
fn pod(spec: Value) -> Pod {
    let mut document = json!({
        "metadata": {"name": "p", "namespace": "n"},
        "spec": {"containers": [{"name": "c", "image": "i:1"}], "serviceAccountName": "default"},
    });
    merge(&mut document["spec"], spec);
    let mut pod: Pod = serde_json::from_value(document).unwrap();
    set_defaults(&mut pod, Environment::defaults());
    pod.prepare_for_create(&Context::default());
    pod
}

/// Returns `pod` with the members of `spec` in its spec.
fn changed(pod: &Pod, spec: Value) -> Pod {
    let mut document = serde_json::to_value(pod).unwrap();
    merge(&mut document["spec"], spec);
    let mut pod: Pod = serde_json::from_value(document).unwrap();
    set_defaults(&mut pod, Environment::defaults());
    pod
}

fn merge(into: &mut Value, members: Value) {
    let Value::Object(members) = members else { return };
    for (key, value) in members {
        into[key] = value;
    }
}

/// Returns the errors of a check, one line for each.
fn found(check: impl FnOnce(&mut FieldErrors)) -> String {
    found_with(Features::defaults(), check)
}

/// Returns the errors of a check by a server with `features`, one line for each.
fn found_with(features: &Features, check: impl FnOnce(&mut FieldErrors)) -> String {
    let mut errors = FieldErrors::new(features);
    check(&mut errors);
    let lines: Vec<String> = errors.as_slice().iter().map(|error| error.message()).collect();
    lines.join("\n")
}
