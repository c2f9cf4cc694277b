//! Defaults that old API versions take from the labels of a template.

use std::collections::BTreeMap;

use planesmith_machinery::meta::{LabelSelector, ObjectMeta};

use crate::core::v1::PodTemplateSpec;

/// True if an old version represents the object without adding labels: it has labels, or its template has none.
pub(crate) fn keeps_labels(meta: &ObjectMeta, template: &PodTemplateSpec) -> bool {
    !meta.labels.is_empty() || template.metadata.labels.is_empty()
}

/// Derives a missing selector and missing labels of the controller from the template.
pub(crate) fn default_from_template(
    labels: &BTreeMap<String, String>,
    meta: &mut ObjectMeta,
    selector: &mut Option<LabelSelector>,
) {
    if labels.is_empty() {
        return;
    }
    if selector.is_none() {
        *selector = Some(LabelSelector {
            match_labels: labels.clone(),
            match_expressions: Vec::new(),
        });
    }
    if meta.labels.is_empty() {
        meta.labels.clone_from(labels);
    }
}
