//! Annotations of pods with a meaning for the server.

use std::collections::BTreeMap;

use planesmith_machinery::field_error::FieldErrors;

use super::{PodOptions, PodSpec};
use crate::core::v1::annotation_list::internal_list;
use crate::core::v1::volume::check_descending;
use crate::core::v1::{SeccompProfile, Toleration};

/// Annotation that marks the mirror of a static pod.
pub(crate) const MIRROR: &str = "kubernetes.io/config.mirror";
const TOLERATIONS: &str = "scheduler.alpha.kubernetes.io/tolerations";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
pub(super) const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
pub(super) const SECCOMP_OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
pub(super) const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

/// Annotations by key.
type Annotations = BTreeMap<String, String>;

/// Reports errors in the annotations of a pod or template.
pub(crate) fn check(annotations: &Annotations, spec: &PodSpec, options: PodOptions, errors: &mut FieldErrors) {
    if let Some(value) = annotations.get(MIRROR)
        && spec.node_name.is_empty()
    {
        let problem = "must set spec.nodeName if mirror pod annotation is set";
        errors.at_key("", MIRROR).invalid("", value, problem);
    }
    if let Some(text) = annotations.get(TOLERATIONS).filter(|text| !text.is_empty()) {
        check_tolerations(text, options.may_compare_numbers(errors.features()), errors);
    }
    if let Some(cost) = annotations.get(DELETION_COST)
        && !options.any_deletion_cost
        && !is_cost(cost)
    {
        errors
            .at_key("", DELETION_COST)
            .invalid("", cost, "must be a 32bit integer");
    }
    check_seccomp(annotations, errors);
    for (key, value) in annotations {
        let Some(container) = key.strip_prefix(APP_ARMOR) else {
            continue;
        };
        let mut errors = errors.at_key("", key);
        if !spec.has_container(container) {
            errors.invalid("", container, "container not found");
        }
        let known = matches!(value.as_str(), "" | "runtime/default" | "unconfined") || value.starts_with("localhost/");
        if !known {
            let name = planesmith_machinery::go_format::quote(value);
            errors.invalid("", value, format!("invalid AppArmor profile name: {name}"));
        }
    }
}

/// Reports immutable annotations that were added, removed or changed.
pub(crate) fn check_update(new: &Annotations, old: &Annotations, errors: &mut FieldErrors) {
    let whose = |key: &str| match key {
        MIRROR => Some("mirror pod annotation"),
        key if key.starts_with(APP_ARMOR) => Some("AppArmor annotations"),
        _ => None,
    };
    for (key, _) in old.iter().filter(|(key, value)| new.get(*key) != Some(value)) {
        if let Some(whose) = whose(key) {
            errors
                .at_key("", key)
                .forbidden("", format!("may not remove or update {whose}"));
        }
    }
    for key in new.keys().filter(|key| !old.contains_key(*key)) {
        if let Some(whose) = whose(key) {
            errors.at_key("", key).forbidden("", format!("may not add {whose}"));
        }
    }
}

/// True if the deletion cost in the annotations is not a number.
pub(super) fn has_bad_deletion_cost(annotations: &Annotations) -> bool {
    annotations.get(DELETION_COST).is_some_and(|cost| !is_cost(cost))
}

/// True for a 32-bit integer without leading zeros or plus sign.
fn is_cost(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits == "0" || digits.bytes().next().is_some_and(|first| matches!(first, b'1'..=b'9'));
    plain && text != "-0" && text.parse::<i32>().is_ok()
}

fn check_tolerations(text: &str, may_compare: bool, errors: &mut FieldErrors) {
    match internal_list::<Toleration>(text) {
        Ok(tolerations) => {
            for (index, toleration) in tolerations.iter().enumerate() {
                toleration.check(may_compare, &mut errors.at_index(TOLERATIONS, index));
            }
        }
        Err(problem) => errors.invalid("", TOLERATIONS, problem),
    }
}

fn check_seccomp(annotations: &Annotations, errors: &mut FieldErrors) {
    let of_pod = annotations.get_key_value(SECCOMP_OF_POD);
    let of_containers = annotations
        .iter()
        .filter(|(key, _)| key.starts_with(SECCOMP_OF_CONTAINER));
    for (key, profile) in of_pod.into_iter().chain(of_containers) {
        match profile.as_str() {
            "runtime/default" | "docker/default" | "unconfined" => {}
            profile => match profile.strip_prefix("localhost/") {
                Some(path) => check_descending(key, path, errors),
                None => errors.invalid(key, profile, "must be a valid seccomp profile"),
            },
        }
    }
}

/// Reports seccomp profiles that differ between an annotation and the field that replaced it. `errors` is at the spec.
pub(crate) fn check_seccomp_fields(annotations: &Annotations, spec: &PodSpec, errors: &mut FieldErrors) {
    if annotations.is_empty() {
        return;
    }
    let of_pod = spec
        .security_context
        .as_ref()
        .and_then(|context| context.seccomp_profile.as_ref());
    if let (Some(profile), Some(annotation)) = (of_pod, annotations.get(SECCOMP_OF_POD)) {
        check_seccomp_match(annotation, profile, &mut errors.at("securityContext.seccompProfile"));
    }
    spec.visit_containers(errors, &mut |container, errors| {
        let context = container.security_context.as_ref();
        let profile = context.and_then(|context| context.seccomp_profile.as_ref());
        let annotation = annotations.get(&format!("{SECCOMP_OF_CONTAINER}{}", container.name));
        if let (Some(profile), Some(annotation)) = (profile, annotation) {
            check_seccomp_match(annotation, profile, &mut errors.at("securityContext.seccompProfile"));
        }
    });
}

fn check_seccomp_match(annotation: &str, profile: &SeccompProfile, errors: &mut FieldErrors) {
    let field = ProfileField {
        of: "seccomp",
        default_annotations: &["runtime/default", "docker/default"],
        type_: &profile.type_,
        path: profile.localhost_profile.as_deref(),
    };
    field.check_annotation(annotation, errors);
}

/// A profile in a field that replaced an annotation.
pub(super) struct ProfileField<'a> {
    /// Mechanism that enforces the profile, as messages name it.
    pub(super) of: &'static str,
    /// Annotation values that stand for the default of the runtime.
    pub(super) default_annotations: &'static [&'static str],
    pub(super) type_: &'a str,
    /// Path of a profile on the node.
    pub(super) path: Option<&'a str>,
}

impl ProfileField<'_> {
    /// Reports an annotation that differs from the field. `errors` is at the field.
    pub(super) fn check_annotation(&self, annotation: &str, errors: &mut FieldErrors) {
        let of = self.of;
        let path = annotation.strip_prefix("localhost/");
        let is_same_type = match self.type_ {
            "Unconfined" => annotation == "unconfined",
            "RuntimeDefault" => self.default_annotations.contains(&annotation),
            "Localhost" => path.is_some(),
            _ => true,
        };
        if !is_same_type {
            errors.forbidden("type", format!("{of} type in annotation and field must match"));
        } else if self.type_ == "Localhost" && self.path != path {
            let problem = format!("{of} profile in annotation and field must match");
            errors.forbidden("localhostProfile", problem);
        }
    }
}
