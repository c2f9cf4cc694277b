//! Sources of a new volume's initial content.

use planesmith_machinery::feature::Features;
use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::names;

use super::PersistentVolumeClaimSpec;
use crate::core::v1::{TypedLocalObjectReference, TypedObjectReference};
use crate::features::CROSS_NAMESPACE_VOLUME_DATA_SOURCE;

/// Kinds that `dataSource` supports, with their groups.
const OLD_SOURCES: [(&str, &str); 2] = [
    ("", "PersistentVolumeClaim"),
    ("snapshot.storage.k8s.io", "VolumeSnapshot"),
];

impl PersistentVolumeClaimSpec {
    /// Synchronizes `dataSource` and `dataSourceRef` as far as the former can express the latter.
    pub(super) fn prepare_data_source(&mut self, old: Option<&Self>, features: &Features) {
        let in_other_namespace =
            |source: &TypedObjectReference| source.namespace.as_deref().is_some_and(|ns| !ns.is_empty());
        // References into other namespaces belong to an alpha feature.
        if !features.has(&CROSS_NAMESPACE_VOLUME_DATA_SOURCE)
            && self.data_source_ref.as_ref().is_some_and(in_other_namespace)
            && old.is_none_or(|old| old.data_source_ref.is_none())
        {
            self.data_source_ref = None;
        }
        // A client that sends dataSourceRef knows the newer field, so its dataSource is validated, not dropped.
        if self.data_source_ref.is_none()
            && old.is_none_or(|old| old.data_source.is_none() && old.data_source_ref.is_none())
            && !self.data_source.as_ref().is_some_and(is_old_source)
        {
            self.data_source = None;
        }
        match (&self.data_source, &self.data_source_ref) {
            (Some(source), None) => {
                self.data_source_ref = Some(TypedObjectReference {
                    api_group: source.api_group.clone(),
                    kind: source.kind.clone(),
                    name: source.name.clone(),
                    namespace: None,
                });
            }
            (None, Some(source)) if !in_other_namespace(source) => {
                self.data_source = Some(TypedLocalObjectReference {
                    api_group: source.api_group.clone(),
                    kind: source.kind.clone(),
                    name: source.name.clone(),
                });
            }
            _ => {}
        }
    }

    /// Reports errors in both fields.
    pub(super) fn check_data_source(&self, errors: &mut FieldErrors) {
        let (old, new) = (&self.data_source, &self.data_source_ref);
        if let Some(source) = old {
            let errors = &mut *errors.at("dataSource");
            check(&source.name, &source.kind, source.api_group.as_deref(), errors);
        }
        if let Some(source) = new {
            let errors = &mut *errors.at("dataSourceRef");
            check(&source.name, &source.kind, source.api_group.as_deref(), errors);
            let namespace = source.namespace.as_deref().unwrap_or_default();
            if !namespace.is_empty() {
                for problem in names::dns_label(namespace) {
                    errors.invalid("namespace", namespace, problem);
                }
            }
        }
        let (Some(old), Some(new)) = (old, new) else { return };
        let same = old.api_group == new.api_group && old.kind == new.kind && old.name == new.name;
        if new.namespace.as_deref().is_some_and(|namespace| !namespace.is_empty()) {
            let detail = "may not be specified when dataSourceRef.namespace is specified";
            errors.invalid("", Json("{}"), detail);
        } else if !same {
            errors.invalid("", Json("{}"), "must match dataSourceRef");
        }
    }
}

fn is_old_source(source: &TypedLocalObjectReference) -> bool {
    let group = source.api_group.as_deref().unwrap_or_default();
    OLD_SOURCES.contains(&(group, source.kind.as_str()))
}

fn check(name: &str, kind: &str, group: Option<&str>, errors: &mut FieldErrors) {
    let group = group.unwrap_or_default();
    if name.is_empty() {
        errors.required("name", "");
    }
    if kind.is_empty() {
        errors.required("kind", "");
    }
    if group.is_empty() {
        if kind != "PersistentVolumeClaim" {
            let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
            errors.invalid("", kind, detail);
        }
        return;
    }
    for problem in names::dns_subdomain(group) {
        errors.invalid("apiGroup", group, problem);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns the kind of `dataSource` after preparation, and the errors.
    fn created(sources: Value) -> (Option<String>, Vec<String>) {
        let mut spec: PersistentVolumeClaimSpec = serde_json::from_value(sources).unwrap();
        spec.prepare_data_source(None, Features::defaults());
        let mut errors = FieldErrors::default();
        spec.check_data_source(&mut errors);
        let messages = errors.as_slice().iter().map(|error| error.message()).collect();
        (spec.data_source.map(|source| source.kind), messages)
    }

    #[test]
    fn foreign_sources_are_dropped_only_without_a_reference() {
        let foo = json!({"kind": "Foo", "apiGroup": "a.b", "name": "x"});
        let no_group = json!({"kind": "Foo", "name": "x"});
        let claim = json!({"kind": "PersistentVolumeClaim", "name": "x"});
        let differs = ": Invalid value: {}: must match dataSourceRef";
        let default_group =
            "dataSource: Invalid value: \"Foo\": must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        let cases = [
            (json!({"dataSource": foo}), None, vec![]),
            (json!({"dataSource": claim}), Some("PersistentVolumeClaim"), vec![]),
            (json!({"dataSourceRef": foo}), Some("Foo"), vec![]),
            (json!({"dataSource": foo, "dataSourceRef": foo}), Some("Foo"), vec![]),
            (
                json!({"dataSource": foo, "dataSourceRef": claim}),
                Some("Foo"),
                vec![differs],
            ),
            (
                json!({"dataSource": no_group, "dataSourceRef": claim}),
                Some("Foo"),
                vec![default_group, differs],
            ),
        ];
        for (sources, kind, errors) in cases {
            let (found, messages) = created(sources.clone());
            assert_eq!(
                (found.as_deref(), messages),
                (kind, errors.iter().map(|e| (*e).to_owned()).collect()),
                "{sources}"
            );
        }
    }
}
