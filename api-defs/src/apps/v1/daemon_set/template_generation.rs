//! The template generation of a daemon set: a field of extensions/v1beta1, an annotation in later versions.

use planesmith_machinery::meta::ObjectMeta;

/// Annotation with the number of template changes.
pub(crate) const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// Returns the number of template changes; 0 when the annotation is missing.
pub(crate) fn template_generation(meta: &ObjectMeta) -> i64 {
    let text = meta.annotations.get(TEMPLATE_GENERATION);
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Writes the number of template changes.
pub(crate) fn set_template_generation(meta: &mut ObjectMeta, generation: i64) {
    meta.annotations
        .insert(TEMPLATE_GENERATION.to_owned(), generation.to_string());
}
