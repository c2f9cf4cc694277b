//! The strategy of all custom kinds, which follows their schemas.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::FieldLabels;
use planesmith_machinery::strategy::{Context, DynStrategy, Extensions, MetadataRules, update_order};
use planesmith_machinery::validation::STANDARD_FINALIZERS;
use planesmith_wire::go_format::quote;
use planesmith_wire::names;

use super::AsCustom;

/// The extensions of every custom kind.
pub(super) const EXTENSIONS: Extensions = Extensions {
    update_order: update_order::CHANGE_ONLY,
    metadata: MetadataRules::AnyFinalizers,
    field_labels: FieldLabels {
        declared: true,
        ..FieldLabels::NONE
    },
    ..Extensions::NONE
};

/// The strategy of every custom kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct CustomStrategy;

impl DynStrategy for CustomStrategy {
    fn set_defaults(&self, object: &mut dyn Object) {
        if let Some(object) = object.as_custom_mut() {
            object.change_by_kind(|custom, document| custom.schema().fill_defaults(document));
        }
    }

    fn prepare_for_status_update(&self, new: &mut dyn Object, _: &Context<'_>, old: &dyn Object) {
        // Only the status is taken over. The managers of the fields are determined before.
        let managed_fields = std::mem::take(&mut new.meta_mut().managed_fields);
        new.meta_mut().clone_from(old.meta());
        new.meta_mut().managed_fields = managed_fields;
    }

    fn validate(&self, object: &dyn Object, errors: &mut FieldErrors) {
        if let Some(object) = object.as_custom()
            && let Some(custom) = object.custom()
        {
            custom.checks().check(custom.schema(), object, errors);
        }
    }

    fn validate_update(&self, new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
        if let (Some(new), Some(old)) = (new.as_custom(), old.as_custom())
            && let Some(custom) = new.custom()
        {
            custom.checks().check_update(custom.schema(), new, old, errors);
        }
    }

    fn validate_status_update(&self, new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
        if let (Some(new), Some(old)) = (new.as_custom(), old.as_custom())
            && let Some(custom) = new.custom()
        {
            custom.checks().check_status(custom.schema(), new, old, errors);
        }
    }

    fn warnings_on_create(&self, object: &dyn Object) -> Vec<String> {
        finalizer_warnings(&object.meta().finalizers, None)
    }

    fn warnings_on_update(&self, new: &dyn Object, old: &dyn Object) -> Vec<String> {
        finalizer_warnings(&new.meta().finalizers, Some(old.meta()))
    }
}

/// Warnings about new finalizers. Those of custom objects need not be qualified by a domain, but should be.
fn finalizer_warnings(finalizers: &[String], old: Option<&ObjectMeta>) -> Vec<String> {
    let is_new = |finalizer: &&String| old.is_none_or(|old| !old.finalizers.contains(finalizer));
    let new: BTreeSet<&String> = finalizers.iter().filter(is_new).collect();
    let mut warnings = Vec::new();
    for finalizer in new {
        let mut warn = |what: &str| warnings.push(format!("metadata.finalizers: {}: {what}", quote(finalizer)));
        for complaint in names::qualified_name(finalizer) {
            warn(&complaint);
        }
        if !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(&finalizer.as_str()) {
            // One that looks like a domain lacks the rest only.
            let rest = if finalizer.contains('.') {
                "including a path (/) "
            } else {
                ""
            };
            warn(&format!(
                "prefer a domain-qualified finalizer name {rest}to avoid accidental conflicts with other finalizer writers"
            ));
        }
    }
    warnings
}
