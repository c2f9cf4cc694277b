use super::*;

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// An object that kubectl applied before the server could, as a client without apply does.
fn applied_by_client(spec: &Value) -> Thing {
    let document = document(spec);
    let mut thing = Thing::default();
    planesmith_machinery::json::from_value(&document, &mut thing, Strictness::Lenient).expect("a document of the kind");
    thing
        .metadata
        .annotations
        .insert(ANNOTATION.to_owned(), document.to_string());
    thing.metadata.uid = "u".to_owned();
    let zero = Thing::default();
    track_write(Some(&zero), &mut thing, &by("kubectl-client-side-apply"), &OneVersion).expect("no conversion");
    thing
}

#[test]
fn kubectl_takes_over_what_it_applied_before() {
    let live = applied_by_client(&json!({"replicas": 1}));
    let live = applied(&live, "kubectl", &json!({"replicas": 2}));
    assert_eq!(live.spec.replicas, Some(2));
    let kept = &live.metadata.annotations[ANNOTATION];
    assert!(kept.contains(r#""replicas":2"#) && kept.ends_with('\n'), "{kept}");
}

#[test]
fn kubectl_does_not_take_what_others_changed_since() {
    let live = applied_by_client(&json!({"replicas": 1, "paused": true}));
    let live = updated(&live, "hand", |thing| thing.spec.replicas = Some(5));
    assert_eq!(
        refused(&live, "kubectl", &json!({"replicas": 2, "paused": false})),
        "Apply failed with 1 conflict: conflict with \"hand\" using test.example.com/v1: .spec.replicas"
    );
}

#[test]
fn other_managers_take_nothing_over() {
    let live = applied_by_client(&json!({"replicas": 1}));
    let message = refused(&live, "argo", &json!({"replicas": 2}));
    assert!(message.contains("kubectl-client-side-apply"), "{message}");
}
