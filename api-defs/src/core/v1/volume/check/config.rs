//! Validation of volumes that are filled from API objects.

use planesmith_machinery::field_error::FieldErrors;

use super::super::path::{check_mode, check_unreserved};
use crate::core::v1::container::{FieldPaths, ResourceOf};
use crate::core::v1::{
    ConfigMapVolumeSource, DownwardAPIVolumeFile, DownwardAPIVolumeSource, KeyToPath, SecretVolumeSource,
};

impl SecretVolumeSource {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        if self.secret_name.is_empty() {
            errors.required("secretName", "");
        }
        check_mode("defaultMode", self.default_mode, errors);
        check_keys(&self.items, errors);
    }
}

impl ConfigMapVolumeSource {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        if self.local_object_reference.name.is_empty() {
            errors.required("name", "");
        }
        check_mode("defaultMode", self.default_mode, errors);
        check_keys(&self.items, errors);
    }
}

fn check_keys(items: &[KeyToPath], errors: &mut FieldErrors) {
    for (index, item) in items.iter().enumerate() {
        item.check(&mut errors.at_index("items", index));
    }
}

impl KeyToPath {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        if self.key.is_empty() {
            errors.required("key", "");
        }
        if self.path.is_empty() {
            errors.required("path", "");
        }
        check_unreserved("path", &self.path, errors);
        check_mode("mode", self.mode, errors);
    }
}

impl DownwardAPIVolumeSource {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        check_mode("defaultMode", self.default_mode, errors);
        for file in &self.items {
            // The error has the path of the source, without the index in the list.
            file.check(errors);
        }
    }
}

impl DownwardAPIVolumeFile {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        if self.path.is_empty() {
            errors.required("path", "");
        }
        check_unreserved("path", &self.path, errors);
        match (&self.field_ref, &self.resource_field_ref) {
            (Some(field), resource) => {
                field.check(FieldPaths::Files, &mut errors.at("fieldRef"));
                if resource.is_some() {
                    let problem = "fieldRef and resourceFieldRef can not be specified simultaneously";
                    errors.invalid("", "resource", problem);
                }
            }
            (None, Some(resource)) => resource.check(ResourceOf::NamedContainer, &mut errors.at("resourceFieldRef")),
            (None, None) => errors.required("", "one of fieldRef and resourceFieldRef is required"),
        }
        check_mode("mode", self.mode, errors);
    }
}
