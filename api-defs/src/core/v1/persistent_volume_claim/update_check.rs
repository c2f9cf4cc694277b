//! Validation of updates of claims.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::{GoValue, diff};
use planesmith_machinery::quantity::Quantity;

use super::PersistentVolumeClaim;
use crate::core::v1::storage_class_name::BETA_CLASS;

/// Key of the storage amount in resource lists.
const STORAGE: &str = "storage";

/// Reports illegal changes of `old`.
pub(super) fn check(new: &PersistentVolumeClaim, old: &PersistentVolumeClaim, errors: &mut FieldErrors) {
    let (mut wanted, mut before) = (new.spec.clone(), old.spec.clone());
    if before.volume_name.is_empty() {
        // The volume can be set once.
        before.volume_name.clone_from(&wanted.volume_name);
    }
    let annotation = |claim: &PersistentVolumeClaim| claim.metadata.annotations.get(BETA_CLASS).cloned();
    if moves_class_from_annotation(new, old) {
        wanted.storage_class_name = None;
    } else {
        let (new_class, old_class) = (annotation(new), annotation(old));
        if new_class.as_deref().unwrap_or_default() != old_class.as_deref().unwrap_or_default() {
            let value = new_class.unwrap_or_default();
            // As in kube-apiserver, the path has no brackets.
            errors
                .at("metadata.annotations")
                .invalid(BETA_CLASS, value, "field is immutable");
        }
        let named_late = old.spec.storage_class_name.is_none() && new.spec.storage_class_name.is_some();
        if named_late && (old_class.is_none() || old_class == new.spec.storage_class_name) {
            wanted.storage_class_name.clone_from(&before.storage_class_name);
        }
    }
    if new.status.phase == "Bound" {
        if !wanted.resources.requests.is_empty() {
            let size = before.resources.requests.get(STORAGE).cloned().unwrap_or_default();
            wanted.resources.requests.insert(STORAGE.to_owned(), size);
        }
        let class = &before.volume_attributes_class_name;
        wanted.volume_attributes_class_name.clone_from(class);
    }
    if wanted != before {
        let detail = format!(
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound \
             claims\n{}",
            diff(&before, &wanted)
        );
        errors.forbidden("spec", detail);
    }
    check_size(new, old, errors);
    if new.spec.volume_mode != old.spec.volume_mode {
        errors.invalid("volumeMode", GoValue(&new.spec.volume_mode), "field is immutable");
    }
    check_attributes_class(new, old, errors);
}

/// True if the update moves the storage class from the former annotation to the field.
fn moves_class_from_annotation(new: &PersistentVolumeClaim, old: &PersistentVolumeClaim) -> bool {
    let Some(class) = old.metadata.annotations.get(BETA_CLASS) else {
        return false;
    };
    old.spec.storage_class_name.is_none()
        && new.spec.storage_class_name.as_ref() == Some(class)
        && new
            .metadata
            .annotations
            .get(BETA_CLASS)
            .is_none_or(|kept| kept == class)
}

/// Reports a claim that shrinks to the capacity of its volume or below.
fn check_size(new: &PersistentVolumeClaim, old: &PersistentVolumeClaim, errors: &mut FieldErrors) {
    let amount = |list: &crate::core::v1::ResourceList| list.get(STORAGE).cloned().unwrap_or_else(Quantity::default);
    let new_size = amount(&new.spec.resources.requests);
    if new_size < amount(&old.spec.resources.requests) && new_size <= amount(&old.status.capacity) {
        let detail = "field can not be less than status.capacity";
        errors.forbidden("spec.resources.requests.storage", detail);
    }
}

/// Reports the removal of a class that the volume already uses.
fn check_attributes_class(new: &PersistentVolumeClaim, old: &PersistentVolumeClaim, errors: &mut FieldErrors) {
    let class = &new.spec.volume_attributes_class_name;
    if *class == old.spec.volume_attributes_class_name || old.status.current_volume_attributes_class_name.is_none() {
        return;
    }
    let nothing = match class.as_deref() {
        None => "nil",
        Some("") => "empty string",
        Some(_) => return,
    };
    let detail = format!("update to {nothing} is forbidden when status.currentVolumeAttributesClassName is not nil");
    errors.forbidden("spec.volumeAttributesClassName", detail);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(size: &str, phase: &str) -> PersistentVolumeClaim {
        let mut claim = PersistentVolumeClaim::default();
        let size = size.parse().expect("a quantity");
        claim.spec.resources.requests.insert(STORAGE.to_owned(), size);
        claim.spec.storage_class_name = Some("fast".to_owned());
        phase.clone_into(&mut claim.status.phase);
        claim
    }

    fn fields(new: &PersistentVolumeClaim, old: &PersistentVolumeClaim) -> Vec<String> {
        let mut errors = FieldErrors::default();
        check(new, old, &mut errors);
        errors.as_slice().iter().map(|error| error.field.clone()).collect()
    }

    #[test]
    fn only_bound_claims_grow() {
        assert!(fields(&claim("2Gi", "Bound"), &claim("1Gi", "Bound")).is_empty());
        assert_eq!(fields(&claim("2Gi", "Pending"), &claim("1Gi", "Pending")), ["spec"]);
    }

    #[test]
    fn claims_shrink_as_long_as_more_is_left_than_the_volume_holds() {
        let mut old = claim("4Gi", "Bound");
        old.status
            .capacity
            .insert(STORAGE.to_owned(), "2Gi".parse().expect("a quantity"));
        assert!(fields(&claim("3Gi", "Bound"), &old).is_empty());
        assert_eq!(
            fields(&claim("2Gi", "Bound"), &old),
            ["spec.resources.requests.storage"]
        );
    }

    #[test]
    fn the_volume_is_chosen_once() {
        let (mut new, mut old) = (claim("1Gi", "Pending"), claim("1Gi", "Pending"));
        new.spec.volume_name = "a".to_owned();
        assert!(fields(&new, &old).is_empty());
        old.spec.volume_name = "b".to_owned();
        assert_eq!(fields(&new, &old), ["spec"]);
    }

    #[test]
    fn a_class_can_be_named_late() {
        let (new, mut old) = (claim("1Gi", "Pending"), claim("1Gi", "Pending"));
        old.spec.storage_class_name = None;
        assert!(fields(&new, &old).is_empty());
        assert_eq!(fields(&old, &new), ["spec"]);
    }

    #[test]
    fn bound_claims_lose_their_class_as_long_as_the_volume_does_not_have_it() {
        let with = |phase: &str, class: Option<&str>, current: Option<&str>| {
            let mut claim = claim("1Gi", phase);
            claim.spec.volume_attributes_class_name = class.map(str::to_owned);
            claim.status.current_volume_attributes_class_name = current.map(str::to_owned);
            claim
        };
        for gone in [None, Some("")] {
            let old = with("Bound", Some("fast"), None);
            assert!(fields(&with("Bound", gone, None), &old).is_empty());
            let old = with("Bound", Some("fast"), Some("fast"));
            let new = with("Bound", gone, Some("fast"));
            assert_eq!(fields(&new, &old), ["spec.volumeAttributesClassName"]);
            assert!(fields(&with("Bound", Some("slow"), Some("fast")), &old).is_empty());
        }
        let old = with("Pending", None, None);
        assert_eq!(fields(&with("Pending", Some("fast"), None), &old), ["spec"]);
    }

    #[test]
    fn the_class_in_the_annotation_is_immutable() {
        let (mut new, old) = (claim("1Gi", "Pending"), claim("1Gi", "Pending"));
        new.metadata
            .annotations
            .insert(BETA_CLASS.to_owned(), "slow".to_owned());
        assert_eq!(
            fields(&new, &old),
            ["metadata.annotations.volume.beta.kubernetes.io/storage-class"]
        );
    }

    #[test]
    fn refusals_show_what_differs_with_the_names_of_go() {
        let (mut new, old) = (claim("1Gi", "Pending"), claim("1Gi", "Pending"));
        new.spec.access_modes.push("ReadOnlyMany".to_owned());
        let mut errors = FieldErrors::default();
        check(&new, &old, &mut errors);
        let message = errors.as_slice()[0].message();
        assert!(message.contains("\n@@ -1,5 +1,7 @@\n {\n- \"AccessModes\": null,\n+ \"AccessModes\": [\n+  \"ReadOnlyMany\"\n+ ],\n  \"Selector\": null,\n"), "{message}");
    }
}
