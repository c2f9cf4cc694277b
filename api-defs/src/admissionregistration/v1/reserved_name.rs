//! Names of what is read from files when a server starts.

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

/// Reports the name of a new object that is reserved, where such files are read.
pub(super) fn check(metadata: &ObjectMeta, errors: &mut FieldErrors) {
    if MANIFEST_BASED_ADMISSION_CONTROL_CONFIG.is_on() && metadata.name.ends_with(SUFFIX) {
        errors.invalid("metadata.name", &metadata.name, complaint());
    }
}

/// Tells that the name of an object is reserved, where that is no error.
pub(super) fn warnings(metadata: &ObjectMeta) -> Vec<String> {
    match metadata.name.ends_with(SUFFIX) {
        true => vec![format!("metadata.name: {}", complaint())],
        false => Vec::new(),
    }
}
