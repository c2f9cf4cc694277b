//! Rules for the metadata of templates, of which only labels and annotations are used.

use crate::field_error::FieldErrors;
use crate::meta::ObjectMeta;
use crate::value::{Struct, Value, View};

use super::{check_annotations, check_labels};

/// The only fields that a template may set.
const ALLOWED: [&str; 2] = ["labels", "annotations"];

/// Reports errors of labels and annotations of the metadata at `field`, and every other field that is set.
pub fn check_template_metadata(field: &str, meta: &ObjectMeta, errors: &mut FieldErrors) {
    let errors = &mut *errors.at(field);
    check_annotations("annotations", &meta.annotations, errors);
    check_labels("labels", &meta.labels, errors);
    for (index, field) in meta.facts().fields.iter().enumerate() {
        let value: &dyn Value = meta.field(index);
        let set = match value.view() {
            View::Absent => false,
            _ if field.is_optional() => true,
            other => !other.is_zero(),
        };
        if set && !ALLOWED.contains(&field.name) {
            // Clients know this field in another spelling.
            let name = if field.name == "uid" { "uID" } else { field.name };
            errors.forbidden(name, "cannot be set");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_labels_and_annotations_may_be_set() {
        let mut meta = ObjectMeta::default();
        meta.labels.insert("a".to_owned(), "b".to_owned());
        meta.name = "n".to_owned();
        meta.deletion_grace_period_seconds = Some(0);
        let mut errors = FieldErrors::default();
        check_template_metadata("spec.metadata", &meta, &mut errors);
        let messages: Vec<String> = errors.as_slice().iter().map(|error| error.message()).collect();
        let expected = ["name", "deletionGracePeriodSeconds"]
            .map(|field| format!("spec.metadata.{field}: Forbidden: cannot be set"));
        assert_eq!(messages, expected);
    }
}
