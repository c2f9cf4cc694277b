//! Templates of pods that must run until they are deleted.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;

use crate::core::v1::{PodOptions, PodTemplateSpec};

/// Reports errors in a template, and a restart policy other than Always. `kind` is the name of the creator of the pods,
/// `old` the template that is replaced.
pub(crate) fn check_always_running(
    template: &PodTemplateSpec,
    old: Option<&PodTemplateSpec>,
    kind: &str,
    errors: &mut FieldErrors,
) {
    template.check(PodOptions::of_template(old), errors);
    check_restarts(template, kind, errors);
}

/// Reports a restart policy other than Always and an active deadline.
pub(crate) fn check_restarts(template: &PodTemplateSpec, kind: &str, errors: &mut FieldErrors) {
    let policy = template.spec.restart_policy.as_str();
    if policy != "Always" {
        errors.not_supported_in_order("spec.restartPolicy", policy, &["Always"]);
    }
    if template.spec.active_deadline_seconds.is_some() {
        errors.forbidden(
            "spec.activeDeadlineSeconds",
            format!("activeDeadlineSeconds in {kind} is not Supported"),
        );
    }
}

/// Returns the warnings about a controller with a template under `spec`, and about the name of a new one; `old` is its
/// generation before an update.
pub(crate) fn template_warnings(meta: &ObjectMeta, template: &PodTemplateSpec, old: Option<i64>) -> Vec<String> {
    let mut warnings = Vec::new();
    if old.is_none() {
        warnings.extend(name_warning(&meta.name));
    }
    warnings.extend(unnamed_template_warnings(meta, template, old));
    warnings
}

/// Returns the same warnings as [`template_warnings`] except those about the name, which does not affect the pods.
pub(crate) fn unnamed_template_warnings(
    meta: &ObjectMeta,
    template: &PodTemplateSpec,
    old: Option<i64>,
) -> Vec<String> {
    match old {
        Some(generation) if generation == meta.generation => Vec::new(),
        _ => template.warnings("spec.template"),
    }
}

/// Warns about the name of a new controller that is unsuitable as a host name.
pub(crate) fn name_warning(name: &str) -> Option<String> {
    let complaints = names::dns_label(name);
    (!complaints.is_empty()).then(|| {
        format!(
            "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS \
             label is recommended: [{}]",
            complaints.join(" ")
        )
    })
}
