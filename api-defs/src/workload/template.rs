//! Templates of pods that must run until they are removed.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;

use crate::core::v1::{PodOptions, PodTemplateSpec};

/// Reports a template that is wrong by itself, or whose pods would not always be restarted; `kind` is the word for what
/// makes the pods, and `old` what the template replaces.
pub(crate) fn check_always_running(
    template: &PodTemplateSpec,
    old: Option<&PodTemplateSpec>,
    kind: &str,
    errors: &mut FieldErrors,
) {
    template.check(PodOptions::of_template(old), errors);
    check_restarts(template, kind, errors);
}

/// Reports pods that end by themselves.
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

/// Warnings about a controller with a template under `spec`, and about the name of a new one; `old` is its generation
/// before an update.
pub(crate) fn template_warnings(meta: &ObjectMeta, template: &PodTemplateSpec, old: Option<i64>) -> Vec<String> {
    let mut warnings = Vec::new();
    if old.is_none() {
        warnings.extend(name_warning(&meta.name));
    }
    warnings.extend(unnamed_template_warnings(meta, template, old));
    warnings
}

/// As [`template_warnings`], where the name says nothing about those of the pods.
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

/// Warns of the name of a new controller that makes bad names of hosts.
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
