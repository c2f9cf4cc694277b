//! Table columns of pod templates.

use std::collections::BTreeMap;

use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::table::Cell;

use crate::core::v1::PodTemplateSpec;
use crate::selector_text::{labels_text, selector_text};

/// Renders the names of the containers.
pub(crate) fn containers(template: &PodTemplateSpec) -> Cell {
    let names = template.spec.containers.iter().map(|container| container.name.as_str());
    Cell::Text(names.collect::<Vec<_>>().join(","))
}

/// Renders the images of the containers.
pub(crate) fn images(template: &PodTemplateSpec) -> Cell {
    let images = template
        .spec
        .containers
        .iter()
        .map(|container| container.image.as_str());
    Cell::Text(images.collect::<Vec<_>>().join(","))
}

/// Renders labels as sorted `key=value` pairs.
pub(crate) fn labels(labels: &BTreeMap<String, String>) -> Cell {
    Cell::Text(labels_text(labels))
}

/// Renders a selector in query syntax.
pub(crate) fn selector(selector: Option<&LabelSelector>) -> Cell {
    Cell::Text(selector.map_or("<none>".to_owned(), selector_text))
}

/// Renders a number of replicas.
pub(crate) fn count(count: i32) -> Cell {
    Cell::Integer(i64::from(count))
}
