//! What is wrong with an object that a client wants to write: its metadata, its declared rules, the kind's own rules.

mod conditions;
mod declared;
mod domain_path;
mod int_or_percent;
mod labels;
mod object_meta;
mod options;
mod template_metadata;
mod webhook;

use crate::conversion::convert;
use crate::field_error::FieldErrors;
use crate::object::Object;
use crate::resource::{NameRule, ResourceFacts, Scope};
use crate::rules::UpdateOrder;

pub use conditions::check_conditions;
pub use declared::check_declared;
pub use domain_path::check_domain_path;
pub use int_or_percent::{check_at_most_100_percent, check_int_or_percent};
pub use labels::{SelectorValues, check_annotations, check_label_key, check_label_selector, check_labels};
pub(crate) use object_meta::STANDARD_FINALIZERS;
pub use object_meta::{check_on_create, check_on_update, check_standard_finalizers};
pub use options::{check_delete_collection_options, check_delete_options, check_write_options};
pub use template_metadata::check_template_metadata;
pub use webhook::{WebhookService, check_webhook_service, check_webhook_url};

/// Checks an object to be created. Its name is final: generated already where that was asked for.
///
/// The common rules for metadata are looked at once more, with the widest rule for names, only when the kind found
/// nothing wrong.
#[must_use]
pub fn check_create(object: &dyn Object) -> FieldErrors {
    let mut errors = FieldErrors::default();
    if object.resource().behavior.create_only {
        // A question has no name.
        (object.resource().rules.validate)(object, &mut errors);
        return errors;
    }
    check_kind(object, None, &mut errors);
    if errors.is_empty() {
        let kind = object.resource();
        check_on_create(object.meta(), kind.scope, NameRule::PathSegment, &mut errors);
    }
    errors
}

/// Checks a replacement of `old`. Metadata is reported by each layer that looks at it, as kube-apiserver does, so that
/// one mistake has several equal causes.
#[must_use]
pub fn check_update(new: &dyn Object, old: &dyn Object) -> FieldErrors {
    let mut errors = FieldErrors::default();
    let rules = &new.resource().rules;
    check_generic_update(new, old, &mut errors);
    if matches!(rules.update_order, UpdateOrder::ObjectFirst | UpdateOrder::ObjectOnly) {
        check_kind(new, Some(old), &mut errors);
    }
    if rules.update_order != UpdateOrder::ObjectOnly {
        check_on_update(new.meta(), old.meta(), &mut errors);
    }
    declared::check_immutable(new, old, &mut errors);
    if rules.update_order == UpdateOrder::ChangeOnly {
        check_declared(new, &mut errors);
    }
    (rules.validate_update)(new, old, &mut errors);
    if rules.update_order == UpdateOrder::ChangeFirst {
        check_kind(new, Some(old), &mut errors);
    }
    errors
}

/// Checks a write to `/status` of `old`.
#[must_use]
pub fn check_status_update(new: &dyn Object, old: &dyn Object) -> FieldErrors {
    check_part_update(new, old, |errors| {
        (new.resource().rules.validate_status_update)(new, old, errors);
    })
}

/// Checks a write to a part of `old`; what is special about the part is for `check` to look at.
#[must_use]
pub fn check_part_update(new: &dyn Object, old: &dyn Object, check: impl FnOnce(&mut FieldErrors)) -> FieldErrors {
    let mut errors = FieldErrors::default();
    check_generic_update(new, old, &mut errors);
    check_on_update(new.meta(), old.meta(), &mut errors);
    check_declared(new, &mut errors);
    check(&mut errors);
    errors
}

/// Checks what the version `sent` refuses of an object to be created that its storage version takes.
pub fn check_create_as_sent(stored: &dyn Object, sent: &'static ResourceFacts, errors: &mut FieldErrors) {
    if sent.rules.stricter_as_sent {
        (sent.rules.validate_as_sent)(&*convert(stored, sent), errors);
    }
}

/// Checks what the version `sent` refuses of a replacement of `old` that its storage version takes.
pub fn check_update_as_sent(
    stored: &dyn Object,
    old: &dyn Object,
    sent: &'static ResourceFacts,
    errors: &mut FieldErrors,
) {
    if sent.rules.stricter_as_sent {
        (sent.rules.validate_update_as_sent)(&*convert(stored, sent), &*convert(old, sent), errors);
    }
}

fn check_kind(object: &dyn Object, old: Option<&dyn Object>, errors: &mut FieldErrors) {
    let kind = object.resource();
    check_on_create(object.meta(), kind.scope, kind.name_rule, errors);
    if kind.custom.is_none() {
        check_standard_finalizers(object.meta(), errors);
    }
    check_declared(object, errors);
    match old {
        Some(old) => (kind.rules.validate_replacement)(object, old, errors),
        None => (kind.rules.validate)(object, errors),
    }
}

/// What is checked of metadata before the kind looks at it, once more.
fn check_generic_update(new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
    let scope: Scope = new.resource().scope;
    check_on_create(new.meta(), scope, NameRule::PathSegment, errors);
    check_on_update(new.meta(), old.meta(), errors);
}

#[cfg(test)]
mod tests;
