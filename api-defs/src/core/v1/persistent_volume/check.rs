//! Validation of persistent volumes.

use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::names;
use planesmith_machinery::validation::SelectorValues;
use planesmith_machinery::value::Value;

use super::{PersistentVolumeSpec, VolumeNodeAffinity};
use crate::core::v1::access_mode::check_access_modes;

/// Legal reclaim policies of a volume.
const RECLAIM_POLICIES: [&str; 3] = ["Delete", "Recycle", "Retain"];

/// Legal volume modes.
pub(in crate::core::v1) const VOLUME_MODES: [&str; 2] = ["Block", "Filesystem"];

impl PersistentVolumeSpec {
    /// Reports errors in the spec of the volume `name`.
    pub(super) fn check(&self, name: &str, errors: &mut FieldErrors) {
        self.check_modes(errors);
        self.check_capacity(errors);
        let policy = self.persistent_volume_reclaim_policy.as_str();
        if !policy.is_empty() && !RECLAIM_POLICIES.contains(&policy) {
            errors.not_supported("persistentVolumeReclaimPolicy", policy, &RECLAIM_POLICIES);
        }
        if let Some(affinity) = &self.node_affinity {
            affinity.check(&mut errors.at("nodeAffinity"));
        }
        self.check_source(name, errors);
        for problem in class_problems(&self.storage_class_name) {
            errors.invalid("storageClassName", &self.storage_class_name, problem);
        }
        if let Some(mode) = self.volume_mode.as_deref()
            && !VOLUME_MODES.contains(&mode)
        {
            errors.not_supported("volumeMode", mode, &VOLUME_MODES);
        }
        self.check_attributes_class(errors);
    }

    /// Reports errors in the spec of a volume that is part of an attachment. As in kube-apiserver, the class of its
    /// attributes is not checked.
    pub(crate) fn check_inline(&self, errors: &mut FieldErrors) {
        const REFUSED: &str = "may not be specified in the context of inline volumes";
        if self.claim_ref.is_some() {
            errors.forbidden("claimRef", REFUSED);
        }
        if !self.capacity.is_empty() {
            errors.forbidden("capacity", REFUSED);
        }
        if self.persistent_volume_source.csi.is_none() {
            errors.required("csi", "has to be specified in the context of inline volumes");
        }
        self.check_modes(errors);
        let policy = self.persistent_volume_reclaim_policy.as_str();
        if !matches!(policy, "" | "Retain") {
            let detail = "may only be Retain in the context of inline volumes";
            errors.forbidden("persistentVolumeReclaimPolicy", detail);
        }
        if self.node_affinity.is_some() {
            errors.forbidden("nodeAffinity", REFUSED);
        }
        self.check_source("", errors);
        if !self.storage_class_name.is_empty() {
            errors.forbidden("storageClassName", REFUSED);
        }
        if self.volume_mode.as_deref().is_some_and(|mode| mode != "Filesystem") {
            let detail = "may not specify volumeMode other than Filesystem in the context of inline volumes";
            errors.forbidden("volumeMode", detail);
        }
    }

    fn check_modes(&self, errors: &mut FieldErrors) {
        if self.access_modes.is_empty() {
            errors.required("accessModes", "");
        }
        check_access_modes(&self.access_modes, errors);
    }

    fn check_capacity(&self, errors: &mut FieldErrors) {
        if self.capacity.is_empty() {
            errors.required("capacity", "");
            errors.not_supported("capacity", Json("null"), &["storage"]);
        } else if self.capacity.len() > 1 || !self.capacity.contains_key("storage") {
            errors.not_supported("capacity", &self.capacity as &dyn Value, &["storage"]);
        }
        for (resource, amount) in &self.capacity {
            let errors = &mut *errors.at_key("capacity", resource);
            if amount.value() < 0 {
                errors.invalid("", amount.value(), "must be a valid resource quantity");
            }
            if amount.is_negative() || amount.is_zero() {
                errors.invalid("", amount.as_str(), "must be greater than zero");
            }
        }
    }

    fn check_source(&self, name: &str, errors: &mut FieldErrors) {
        let source = &self.persistent_volume_source;
        source.check(name, self.node_affinity.is_some(), errors);
        if let Some(path) = &source.host_path
            && is_root(&path.path)
            && self.persistent_volume_reclaim_policy == "Recycle"
        {
            let detail = "may not be 'recycle' for a hostPath mount of '/'";
            errors.forbidden("persistentVolumeReclaimPolicy", detail);
        }
    }

    fn check_attributes_class(&self, errors: &mut FieldErrors) {
        const FIELD: &str = "volumeAttributesClassName";
        let Some(class) = &self.volume_attributes_class_name else {
            return;
        };
        if class.is_empty() {
            errors.required(FIELD, "an empty string is disallowed");
        }
        for problem in class_problems(class) {
            errors.invalid(FIELD, class, problem);
        }
        if self.persistent_volume_source.csi.is_none() {
            errors.required("csi", "has to be specified when using volumeAttributesClassName");
        }
    }
}

/// Returns the errors in the name of a storage class.
pub(in crate::core::v1) fn class_problems(name: &str) -> names::Complaints {
    if name.is_empty() {
        names::Complaints::new()
    } else {
        names::dns_subdomain(name)
    }
}

/// True if an absolute path resolves to `/` after empty parts, `.` and `..` are removed.
fn is_root(path: &str) -> bool {
    let mut depth = 0_usize;
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => depth = depth.saturating_sub(1),
            _ => depth += 1,
        }
    }
    depth == 0 && path.starts_with('/')
}

impl VolumeNodeAffinity {
    fn check(&self, errors: &mut FieldErrors) {
        match &self.required {
            None => errors.required("required", "must specify required node constraints"),
            Some(selector) => selector.check(SelectorValues::Legal, &mut errors.at("required")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attributes_class_of_inline_volumes_is_not_checked() {
        let class = |name: &str| {
            let spec = PersistentVolumeSpec {
                volume_attributes_class_name: Some(name.to_owned()),
                ..PersistentVolumeSpec::default()
            };
            let mut errors = FieldErrors::default();
            spec.check_inline(&mut errors);
            errors.joined()
        };
        let mut without = FieldErrors::default();
        PersistentVolumeSpec::default().check_inline(&mut without);
        assert_eq!([class(""), class("A")], [without.joined(), without.joined()]);
    }

    #[test]
    fn paths_are_worked_out_before_they_are_judged() {
        for path in ["/", "//", "/.", "/a/..", "/../.."] {
            assert!(is_root(path), "{path}");
        }
        for path in ["", "/a", "/a/../b", "."] {
            assert!(!is_root(path), "{path}");
        }
    }
}
