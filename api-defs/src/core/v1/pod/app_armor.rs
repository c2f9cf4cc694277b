//! AppArmor profiles in fields and in the annotations that preceded them.

use std::collections::BTreeMap;

use planesmith_machinery::field_error::FieldErrors;

use super::PodSpec;
use super::annotations::{APP_ARMOR, ProfileField};
use crate::core::v1::{AppArmorProfile, Container};

/// Annotations by key.
type Annotations = BTreeMap<String, String>;

/// Warning about AppArmor annotations.
pub(super) const DEPRECATED: &str = "deprecated since v1.30; use the \"appArmorProfile\" field instead";

/// Reports AppArmor profiles that differ between an annotation and the field that replaced it. `errors` is at the spec.
pub(crate) fn check_app_armor_fields(annotations: &Annotations, spec: &PodSpec, errors: &mut FieldErrors) {
    if spec.is_of("windows") || !is_named(annotations) {
        return;
    }
    let of_pod = of_pod(spec);
    spec.visit_containers(errors, &mut |container, errors| {
        let context = container.security_context.as_ref();
        let own = context.and_then(|context| context.app_armor_profile.as_ref());
        let annotation = annotations.get(&format!("{APP_ARMOR}{}", container.name));
        if let (Some(profile), Some(annotation)) = (own.or(of_pod), annotation) {
            let field = ProfileField {
                of: "apparmor",
                default_annotations: &["runtime/default"],
                type_: &profile.type_,
                path: profile.localhost_profile.as_deref(),
            };
            field.check_annotation(annotation, &mut errors.at("securityContext.appArmorProfile"));
        }
    });
}

/// Copies profiles from annotations to the fields that replaced them.
pub(super) fn adopt(annotations: &Annotations, spec: &mut PodSpec) {
    if spec.is_of("windows") || !is_named(annotations) {
        return;
    }
    let of_pod = of_pod(spec).cloned();
    for container in spec.init_containers.iter_mut().chain(&mut spec.containers) {
        if let Some(Adoption::Profile(profile)) = adoption(annotations, container, of_pod.as_ref()) {
            container.security_context.get_or_insert_default().app_armor_profile = Some(profile);
        }
    }
}

/// Returns warnings about annotations that [`adopt`] converts or cannot parse.
pub(super) fn warnings(annotations: &Annotations, spec: &PodSpec) -> Vec<String> {
    if spec.is_of("windows") || !is_named(annotations) {
        return Vec::new();
    }
    let of_pod = of_pod(spec);
    spec.placed_containers()
        .filter(|place| adoption(annotations, &place.container, of_pod).is_some())
        .map(|place| {
            format!(
                "metadata.annotations[{APP_ARMOR}{}]: {DEPRECATED}",
                place.container.name
            )
        })
        .collect()
}

/// True if an annotation names a profile.
fn is_named(annotations: &Annotations) -> bool {
    annotations.keys().any(|key| key.starts_with(APP_ARMOR))
}

/// Returns the profile of containers without their own.
pub(super) fn of_pod(spec: &PodSpec) -> Option<&AppArmorProfile> {
    spec.security_context.as_ref()?.app_armor_profile.as_ref()
}

/// Result of converting an annotation without a corresponding field.
pub(super) enum Adoption {
    /// The profile for the field.
    Profile(AppArmorProfile),
    /// The annotation names no profile.
    Senseless,
}

/// Returns the result of the conversion; `None` when the annotation is missing or fields are already set.
pub(super) fn adoption(
    annotations: &Annotations,
    container: &Container,
    of_pod: Option<&AppArmorProfile>,
) -> Option<Adoption> {
    let context = container.security_context.as_ref();
    if context.is_some_and(|context| context.app_armor_profile.is_some()) {
        return None;
    }
    match profile(annotations.get(&format!("{APP_ARMOR}{}", container.name))?) {
        Some(profile) if Some(&profile) == of_pod => None,
        Some(profile) if is_valid(&profile) => Some(Adoption::Profile(profile)),
        _ => Some(Adoption::Senseless),
    }
}

fn is_valid(profile: &AppArmorProfile) -> bool {
    let mut errors = FieldErrors::default();
    profile.check(&mut errors);
    errors.is_empty()
}

/// Parses the profile in an annotation.
fn profile(annotation: &str) -> Option<AppArmorProfile> {
    let (type_, path) = match annotation {
        "unconfined" => ("Unconfined", None),
        "runtime/default" => ("RuntimeDefault", None),
        other => (
            "Localhost",
            Some(other.strip_prefix("localhost/").filter(|path| !path.is_empty())?),
        ),
    };
    Some(AppArmorProfile {
        type_: type_.to_owned(),
        localhost_profile: path.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::strategy::{Context, Strategy as _, StrategyExtensions as _};
    use serde_json::{Value, json};

    use super::*;
    use crate::core::v1::{Pod, PodTemplateSpec};

    /// Returns the warnings of a pod's creation and the resulting profile of its container.
    fn defaulted(annotation: &str, of_pod: &Value, own: &Value) -> (Vec<String>, Option<String>) {
        let mut pod: Pod = serde_json::from_value(json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "annotations": {format!("{APP_ARMOR}c"): annotation}},
            "spec": {
                "securityContext": {"appArmorProfile": of_pod},
                "containers": [{"name": "c", "securityContext": {"appArmorProfile": own}}],
            },
        }))
        .unwrap();
        let warnings = pod.preparation_warnings();
        pod.prepare_for_create(&Context::default());
        let context = pod.spec.containers[0].security_context.take();
        let profile = context.and_then(|context| context.app_armor_profile);
        (warnings, profile.map(|profile| profile.type_))
    }

    #[test]
    fn annotations_become_fields_and_are_warned_of_unless_a_field_says_the_same() {
        let warning = || vec![format!("metadata.annotations[{APP_ARMOR}c]: {DEPRECATED}")];
        let (none, unconfined) = (Value::Null, json!({"type": "Unconfined"}));
        assert_eq!(
            defaulted("unconfined", &none, &none),
            (warning(), Some("Unconfined".to_owned()))
        );
        assert_eq!(defaulted("unconfined", &unconfined, &none), (vec![], None));
        assert_eq!(
            defaulted("runtime/default", &unconfined, &none),
            (warning(), Some("RuntimeDefault".to_owned()))
        );
        assert_eq!(
            defaulted("unconfined", &none, &unconfined),
            (vec![], Some("Unconfined".to_owned()))
        );
        assert_eq!(defaulted("localhost/ padded", &none, &none), (warning(), None));
        assert_eq!(defaulted("nonsense", &none, &none), (warning(), None));
    }

    #[test]
    fn annotations_of_templates_are_warned_of_unless_a_field_says_the_same() {
        let warnings = |annotation: &str, of_pod: &Value, own: &Value| {
            let template: PodTemplateSpec = serde_json::from_value(json!({
                "metadata": {"annotations": {format!("{APP_ARMOR}c"): annotation}},
                "spec": {
                    "securityContext": {"appArmorProfile": of_pod},
                    "containers": [{"name": "c", "securityContext": {"appArmorProfile": own}}],
                },
            }))
            .unwrap();
            template.warnings("template")
        };
        let (none, unconfined) = (Value::Null, json!({"type": "Unconfined"}));
        let warning = [format!("template.metadata.annotations[{APP_ARMOR}c]: {DEPRECATED}")];
        assert_eq!(warnings("unconfined", &none, &none), warning);
        assert_eq!(warnings("runtime/default", &unconfined, &none), warning);
        assert_eq!(warnings("nonsense", &none, &none), warning);
        assert_eq!(warnings("unconfined", &unconfined, &none), <[String; 0]>::default());
        assert_eq!(warnings("nonsense", &none, &unconfined), <[String; 0]>::default());
    }
}
