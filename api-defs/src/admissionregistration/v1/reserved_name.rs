//! Reserved names of webhooks and policies that are loaded from files at startup.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;

use crate::features::MANIFEST_BASED_ADMISSION_CONTROL_CONFIG;

const SUFFIX: &str = ".static.k8s.io";

fn complaint() -> String {
    format!(
        "names ending with \"{SUFFIX}\" are reserved for static manifest-based configurations and cannot be managed via \
         the API"
    )
}

/// Reports a new object with a reserved name if the feature is enabled.
pub(super) fn check(metadata: &ObjectMeta, errors: &mut FieldErrors) {
    if errors.features().has(&MANIFEST_BASED_ADMISSION_CONTROL_CONFIG) && metadata.name.ends_with(SUFFIX) {
        errors.invalid("metadata.name", &metadata.name, complaint());
    }
}

/// Returns a warning about a reserved name, for writes that [`check`] does not refuse.
pub(super) fn warnings(metadata: &ObjectMeta) -> Vec<String> {
    match metadata.name.ends_with(SUFFIX) {
        true => vec![format!("metadata.name: {}", complaint())],
        false => Vec::new(),
    }
}
