//! The rules of all custom kinds: what their schemas say.

use std::collections::BTreeSet;

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::rules::{MetadataRules, RulesTable, update_order};
use planesmith_machinery::validation::STANDARD_FINALIZERS;
use planesmith_wire::go_format::quote;
use planesmith_wire::names;

use super::AsCustom;

/// The rules of every custom kind.
pub(super) const TABLE: RulesTable = RulesTable {
    update_order: update_order::CHANGE_ONLY,
    metadata: MetadataRules::AnyFinalizers,
    default_values,
    // A status comes alone; who manages what was found out before.
    prepare_status_update: |new, old| {
        let managed_fields = std::mem::take(&mut new.meta_mut().managed_fields);
        new.meta_mut().clone_from(old.meta());
        new.meta_mut().managed_fields = managed_fields;
    },
    warnings: |object, old| finalizer_warnings(&object.meta().finalizers, old.map(|old| old.meta())),
    validate: |object, errors| {
        if let Some(object) = object.as_custom()
            && let Some(custom) = object.custom()
        {
            custom.checks().check(custom.schema(), object, errors);
        }
    },
    validate_update: |new, old, errors| {
        if let (Some(new), Some(old)) = (new.as_custom(), old.as_custom())
            && let Some(custom) = new.custom()
        {
            custom.checks().check_update(custom.schema(), new, old, errors);
        }
    },
    validate_status_update: |new, old, errors| {
        if let (Some(new), Some(old)) = (new.as_custom(), old.as_custom())
            && let Some(custom) = new.custom()
        {
            custom.checks().check_status(custom.schema(), new, old, errors);
        }
    },
    ..RulesTable::NONE
};

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

fn default_values(object: &mut dyn Object) {
    if let Some(object) = object.as_custom_mut()
        && let Some(custom) = object.custom()
    {
        object.change(|document| custom.schema().fill_defaults(document));
    }
}
