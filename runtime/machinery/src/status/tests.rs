use super::*;
use crate::group_version::{GroupKind, GroupResource};

fn configmaps() -> GroupResource {
    GroupResource::new("", "configmaps")
}

fn check(error: &ApiError, code: u16, reason: &str, message: &str) {
    assert_eq!(error.code(), code);
    assert_eq!(error.reason().map_or("", Reason::as_str), reason);
    assert_eq!(error.message(), message);
}

#[test]
fn missing_and_existing_objects_name_resource_and_group() {
    let leases = GroupResource::new("coordination.k8s.io", "leases");
    let error = ApiError::not_found(&leases, "x");
    check(&error, 404, "NotFound", "leases.coordination.k8s.io \"x\" not found");
    let details = error.status().details.clone().expect("an object has details");
    assert_eq!(
        (details.name.as_str(), details.group.as_str(), details.kind.as_str()),
        ("x", "coordination.k8s.io", "leases")
    );
    check(
        &ApiError::already_exists(&configmaps(), "a"),
        409,
        "AlreadyExists",
        "configmaps \"a\" already exists",
    );
    let error = ApiError::generated_name_taken(&configmaps(), "fixed");
    let message =
        "configmaps \"fixed\" already exists, the server was not able to generate a unique name for the object";
    check(&error, 409, "AlreadyExists", message);
    assert_eq!(error.retry_after_seconds(), Some(1));
    let error = ApiError::already_exists(&configmaps(), "fj").being_deleted();
    check(
        &error,
        409,
        "AlreadyExists",
        "object is being deleted: configmaps \"fj\" already exists",
    );
}

#[test]
fn stale_write_asks_to_apply_changes_to_the_latest_version() {
    let message = "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; \
                   please apply your changes to the latest version and try again";
    check(&ApiError::modified(&configmaps(), "a"), 409, "Conflict", message);
}

#[test]
fn delete_preconditions_name_the_kind() {
    let kind = GroupKind::new("", "ConfigMap");
    let error = ApiError::version_precondition(&kind, "d2", "1", "480");
    let message = "Operation cannot be fulfilled on ConfigMap \"d2\": the ResourceVersion in the precondition (1) does not \
                   match the ResourceVersion in record (480). The object might have been modified";
    check(&error, 409, "Conflict", message);
    assert_eq!(
        error.status().details.as_ref().map(|details| details.kind.as_str()),
        Some("ConfigMap")
    );
}

#[test]
fn forbidden_message_depends_on_what_is_known() {
    let cases = [
        (GroupResource::default(), "", "forbidden: no"),
        (configmaps(), "", "configmaps is forbidden: no"),
        (
            GroupResource::new("apps", "deployments"),
            "d",
            "deployments.apps \"d\" is forbidden: no",
        ),
    ];
    for (resource, name, message) in cases {
        check(&ApiError::forbidden(&resource, name, "no"), 403, "Forbidden", message);
    }
}

#[test]
fn revision_in_the_future_is_a_timeout_with_a_cause() {
    let error = ApiError::too_large_resource_version(1_000_000_000, 407);
    check(
        &error,
        504,
        "Timeout",
        "Timeout: Too large resource version: 1000000000, current: 407",
    );
    assert_eq!(error.retry_after_seconds(), Some(1));
    let causes = &error.status().details.as_ref().expect("a cause").causes;
    assert_eq!(
        (causes[0].reason.as_str(), causes[0].message.as_str()),
        ("ResourceVersionTooLarge", "Too large resource version")
    );
}

#[test]
fn expired_page_carries_a_token_to_go_on_with() {
    let error = ApiError::expired(Expired::Page { continue_token: "abc" });
    assert_eq!(error.code(), 410);
    assert_eq!(error.status().continue_token, "abc");
    check(
        &ApiError::expired(Expired::CachedWatch {
            requested: 5,
            oldest: 9,
        }),
        410,
        "Expired",
        "too old resource version: 5 (9)",
    );
}

#[test]
fn invalid_object_lists_each_cause_and_joins_the_message() {
    let mut errors = FieldErrors::default();
    let kind = GroupKind::new("apps", "Deployment");
    check(
        &ApiError::invalid(&kind, "d", &errors),
        422,
        "Invalid",
        "Deployment.apps \"d\" is invalid",
    );
    errors.required("spec.selector", "");
    errors.invalid("spec.replicas", -1, "must be greater than or equal to 0");
    errors.required("spec.selector", "");
    let error = ApiError::invalid(&kind, "d", &errors);
    let message = "Deployment.apps \"d\" is invalid: [spec.selector: Required value, \
                   spec.replicas: Invalid value: -1: must be greater than or equal to 0]";
    check(&error, 422, "Invalid", message);
    assert_eq!(
        error.status().details.as_ref().map(|details| details.causes.len()),
        Some(3)
    );
}

#[test]
fn every_reason_is_found_by_its_text() {
    for reason in Reason::ALL {
        assert_eq!(Reason::parse(reason.as_str()), Some(reason));
    }
}

#[test]
fn replacement_without_a_version_is_named_by_its_resource() {
    let leases = GroupResource::new("coordination.k8s.io", "leases");
    let message = "leases.coordination.k8s.io \"rich\" is invalid: metadata.resourceVersion: Invalid value: 0: \
                   must be specified for an update";
    check(&ApiError::version_missing(&leases, "rich"), 422, "Invalid", message);
}
