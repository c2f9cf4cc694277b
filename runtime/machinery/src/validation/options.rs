//! Rules for write options, which clients send as query parameters or as a body.

use super::object_meta::check_manager;
use crate::field_error::FieldErrors;
use crate::group_version::GroupKind;
use crate::meta::DeleteOptions;
use crate::status::ApiError;

/// Checks the options of a create, update or patch. `kind` is `CreateOptions`, `UpdateOptions` or `PatchOptions`;
/// `errors` contains the errors found so far.
///
/// # Errors
///
/// 422 with one cause per problem.
pub fn check_write_options(
    kind: &'static str,
    field_manager: &str,
    dry_run: &[String],
    field_validation: &str,
    mut errors: FieldErrors,
) -> Result<(), ApiError> {
    check_manager(field_manager, "fieldManager", &mut errors);
    check_dry_run(dry_run, &mut errors);
    if !matches!(field_validation, "" | "Ignore" | "Warn" | "Strict") {
        errors.not_supported("fieldValidation", field_validation, &["", "Ignore", "Warn", "Strict"]);
    }
    refuse(kind, &errors)
}

/// Checks the options of a delete.
///
/// # Errors
///
/// 422 with one cause per problem.
pub fn check_delete_options(options: &DeleteOptions) -> Result<(), ApiError> {
    let mut errors = FieldErrors::default();
    if options.orphan_dependents.is_some() && options.propagation_policy.is_some() {
        let policy = options.propagation_policy.as_deref().unwrap_or("");
        errors.invalid(
            "propagationPolicy",
            policy,
            "orphanDependents and deletionPropagation cannot be both set",
        );
    }
    if let Some(policy) = options.propagation_policy.as_deref()
        && !matches!(policy, "Foreground" | "Background" | "Orphan")
    {
        let supported = ["Foreground", "Background", "Orphan", "nil"];
        errors.not_supported_in_order("propagationPolicy", policy, &supported);
    }
    check_dry_run(&options.dry_run, &mut errors);
    if options.ignore_store_read_error_with_cluster_breaking_potential == Some(true) {
        for (name, is_set) in [
            ("propagationPolicy", options.propagation_policy.is_some()),
            ("orphanDependents", options.orphan_dependents.is_some()),
            ("gracePeriodSeconds", options.grace_period_seconds.is_some()),
            ("preconditions", options.preconditions.is_some()),
        ] {
            if is_set {
                errors.invalid(IGNORE_READ_ERROR, true, format!("cannot be set together with .{name}"));
            }
        }
    }
    refuse("DeleteOptions", &errors)
}

/// Checks the options of a collection delete, in addition to [`check_delete_options`].
///
/// # Errors
///
/// 422 with one cause per problem.
pub fn check_delete_collection_options(options: &DeleteOptions) -> Result<(), ApiError> {
    let mut errors = FieldErrors::default();
    if options.ignore_store_read_error_with_cluster_breaking_potential == Some(true) {
        let why = "is not allowed with DELETECOLLECTION, try again after removing the option";
        errors.invalid(IGNORE_READ_ERROR, true, why);
    }
    refuse("DeleteOptions", &errors)
}

const IGNORE_READ_ERROR: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

fn check_dry_run(dry_run: &[String], errors: &mut FieldErrors) {
    if dry_run.iter().any(|value| value != "All") {
        errors.not_supported("dryRun", dry_run, &["All"]);
    }
}

fn refuse(kind: &'static str, errors: &FieldErrors) -> Result<(), ApiError> {
    match errors.is_empty() {
        true => Ok(()),
        false => Err(ApiError::invalid(&GroupKind::new("meta.k8s.io", kind), "", errors)),
    }
}
