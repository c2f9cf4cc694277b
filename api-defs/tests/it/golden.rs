//! Comparison with recorded creations: requests that kube-apiserver refused are refused for the same reasons, and the
//! others pass.

use std::fs;
use std::path::Path;

use planesmith_api_defs::batch::v1::Job;
use planesmith_api_defs::core::v1::{Pod, Service};
use planesmith_machinery::conversion::convert;
use planesmith_machinery::defaulting::set_defaults;
use planesmith_machinery::environment::Environment;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::strategy::Context;
use planesmith_machinery::validation::check_create_as_sent;
use serde_json::Value;

/// Namespace of namespaced objects.
const NAMESPACE: &str = "golden";

/// UID of objects that need one for validation.
const UID: &str = "0d0c0b0a-0000-4000-8000-000000000000";

/// Steps about the request instead of the object. Tests with a server cover them.
const NOT_OF_THE_OBJECT: &[&str] = &["generate-name-bad", "resource-version-set", "no-name"];

#[test]
fn creations_are_refused_for_the_reasons_of_kube_apiserver() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/golden/public");
    if !folder.is_dir() {
        println!("skipped: there are no recorded answers at ../shared/golden");
        return;
    }
    let mut scheme = Scheme::new();
    planesmith::register(&mut scheme);
    let mut count = 0;
    let mut failures = Vec::new();
    for part in ["validation", "resources"] {
        let mut files: Vec<_> = fs::read_dir(folder.join(part))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        files.sort();
        for file in files {
            let scenario: Value = serde_json::from_slice(&fs::read(&file).expect("a file")).expect("JSON");
            for step in scenario["steps"].as_array().into_iter().flatten() {
                if let Some(problem) = check(&scheme, step, &mut count) {
                    let name = file.file_stem().unwrap_or_default().to_string_lossy();
                    failures.push(format!("{name} {}: {problem}", step["id"]));
                }
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {count}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    println!("{count} creations judged alike");
}

/// Returns the difference between the expected and the actual answer to a step; `None` if they agree or if the kind is
/// unknown here.
fn check(scheme: &Scheme, step: &Value, count: &mut u32) -> Option<String> {
    let facts = kind_of(scheme, step["do"].as_str()?)?;
    let id = step["id"].as_str().unwrap_or_default();
    let body = step.get("body").filter(|body| body["kind"] == *facts.kind)?;
    let status = step["expect"]["status"].as_u64()?;
    if !matches!(status, 201 | 422) || NOT_OF_THE_OBJECT.contains(&id) {
        return None;
    }
    *count += 1;
    let mut object = facts.zero();
    if let Err(error) = json::from_value(&filled_in(body), &mut *object, Strictness::Lenient) {
        return Some(error.to_string());
    }
    if facts.scope == planesmith_machinery::resource::Scope::Namespaced {
        NAMESPACE.clone_into(&mut object.meta_mut().namespace);
    }
    set_defaults(&mut *object, Environment::defaults());
    let mut hub = convert(&*object, &facts.hub());
    // The labels of jobs' pods contain it.
    if hub.downcast_ref::<Job>().is_some() {
        UID.clone_into(&mut hub.meta_mut().uid);
    }
    // Admission sets the service account of each pod before the validation.
    if let Some(pod) = hub.downcast_mut::<Pod>()
        && pod.spec.service_account_name.is_empty()
    {
        "default".clone_into(&mut pod.spec.service_account_name);
    }
    // The allocation of addresses derives their list before the validation.
    if let Some(service) = hub.downcast_mut::<Service>() {
        service.unite_new_addresses();
    }
    hub.resource()
        .strategy
        .prepare_for_create(&mut *hub, &Context::default());
    let mut ours: Vec<String> = check_create_as_sent(&*hub, facts, &Context::default())
        .causes()
        .iter()
        .map(|cause| format!("{} {}: {}", cause.reason, cause.field, cause.message))
        .collect();
    let text = |cause: &Value, key: &str| {
        cause[key]
            .as_str()
            .unwrap_or_default()
            .replace("<ns>", NAMESPACE)
            .replace("<uuid>", UID)
    };
    let causes = step["expect"]["body"]["details"]["causes"].as_array();
    let mut theirs: Vec<String> = causes
        .into_iter()
        .flatten()
        .map(|cause| {
            format!(
                "{} {}: {}",
                text(cause, "reason"),
                text(cause, "field"),
                text(cause, "message")
            )
        })
        .collect();
    // kube-apiserver reports causes from maps in random order.
    ours.sort();
    theirs.sort();
    (ours != theirs).then(|| format!("\n  ours   {ours:?}\n  theirs {theirs:?}"))
}

/// Returns the kind that a request creates.
fn kind_of<'s>(scheme: &'s Scheme, request: &str) -> Option<&'s ResourceFacts> {
    let path = request.strip_prefix("POST /")?.split('?').next()?;
    let parts: Vec<&str> = path.split('/').collect();
    let (group, version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] => ("", *version, rest),
        ["apis", group, version, rest @ ..] => (*group, *version, rest),
        _ => return None,
    };
    match rest {
        [plural] | ["namespaces", _, plural] => scheme.resource(group, version, plural),
        _ => None,
    }
}

/// Returns the value with the placeholders of the scenarios replaced.
fn filled_in(value: &Value) -> Value {
    match value {
        Value::String(text) => padded(&text.replace("${ns}", NAMESPACE)).into(),
        Value::Array(items) => items.iter().map(filled_in).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), filled_in(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

/// Replaces `${pad:N}` by N letters.
fn padded(text: &str) -> String {
    let Some((before, rest)) = text.split_once("${pad:") else {
        return text.to_owned();
    };
    let (count, after) = rest.split_once('}').expect("a closed placeholder");
    format!("{before}{}{after}", "x".repeat(count.parse().expect("a number")))
}
