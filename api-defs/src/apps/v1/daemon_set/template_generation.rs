//! The template generation of a daemon set: a field of extensions/v1beta1, an annotation in later versions.

use planesmith_machinery::meta::ObjectMeta;

/// Counts the changes of the template.
pub(crate) const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

/// The count; 0 when there is none.
pub(crate) fn template_generation(meta: &ObjectMeta) -> i64 {
    let text = meta.annotations.get(TEMPLATE_GENERATION);
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Writes the count.
pub(crate) fn set_template_generation(meta: &mut ObjectMeta, generation: i64) {
    meta.annotations
        .insert(TEMPLATE_GENERATION.to_owned(), generation.to_string());
}
