//! Validation of objects before a write: metadata, declared rules, the strategy of the kind.

mod conditions;
mod declared;
mod domain_path;
mod int_or_percent;
mod labels;
mod object_meta;
mod options;
mod template_metadata;
mod webhook;

use crate::field_error::FieldErrors;
use crate::resource::object::Object;
use crate::resource::strategy::{Context, UpdateStep};
use crate::resource::{NameRule, ResourceFacts, Scope};

pub use conditions::check_conditions;
pub use declared::check_declared;
pub use domain_path::check_domain_path;
pub use int_or_percent::{check_at_most_100_percent, check_int_or_percent};
pub use labels::{SelectorValues, check_annotations, check_label_key, check_label_selector, check_labels};
pub use object_meta::STANDARD_FINALIZERS;
pub use object_meta::{check_metadata, check_metadata_change, check_on_create, check_on_update};
pub use options::{check_delete_collection_options, check_delete_options, check_write_options};
pub use template_metadata::check_template_metadata;
pub use webhook::{WebhookService, check_webhook_address, is_absolute_url};

/// Validates an object to be created that was sent in its storage version, for the request in `context`.
#[must_use]
pub fn check_create(object: &dyn Object, context: &Context<'_>) -> FieldErrors {
    check_create_as_sent(object, object.resource(), context)
}

/// Validates an object to be created that was sent in the version `sent`, for the request in `context`. Its name is
/// final: a requested name is already generated.
///
/// The common rules for metadata are checked again, with the most permissive rule for names, only if the
/// strategy found no error.
#[must_use]
pub fn check_create_as_sent(object: &dyn Object, sent: &ResourceFacts, context: &Context<'_>) -> FieldErrors {
    let mut errors = errors_in(context);
    let kind = object.resource();
    if kind.behavior.create_only {
        // A review has no name.
        kind.strategy.validate(object, &mut errors);
        return errors;
    }
    check_kind_metadata(object, &mut errors);
    check_declared(object, &mut errors);
    kind.strategy.validate(object, &mut errors);
    sent.extensions.hooks.validate_as_sent(object, &mut errors);
    if errors.is_empty() {
        check_on_create(object.meta(), kind.scope, NameRule::PathSegment, &mut errors);
    }
    errors
}

/// Validates a replacement of `old` that was sent in its storage version, for the request in `context`.
#[must_use]
pub fn check_update(new: &dyn Object, old: &dyn Object, context: &Context<'_>) -> FieldErrors {
    check_update_as_sent(new, old, new.resource(), context)
}

/// Validates a replacement of `old` that was sent in the version `sent`, for the request in `context`. Each layer that
/// checks metadata reports its errors, as in kube-apiserver, so that one mistake has several equal causes.
#[must_use]
pub fn check_update_as_sent(
    new: &dyn Object,
    old: &dyn Object,
    sent: &ResourceFacts,
    context: &Context<'_>,
) -> FieldErrors {
    let mut errors = errors_in(context);
    let kind = new.resource();
    check_generic_update(new, old, &mut errors);
    for step in kind.extensions.update_order {
        match step {
            UpdateStep::Metadata => check_kind_metadata(new, &mut errors),
            UpdateStep::MetadataChange => check_kind_metadata_change(new, old, &mut errors),
            UpdateStep::Declared => check_declared(new, &mut errors),
            UpdateStep::Object => {
                check_declared(new, &mut errors);
                kind.extensions.hooks.validate_replacement(new, old, &mut errors);
            }
            UpdateStep::Change => {
                declared::check_immutable(new, old, &mut errors);
                kind.strategy.validate_update(new, old, &mut errors);
            }
        }
    }
    sent.extensions.hooks.validate_update_as_sent(new, old, &mut errors);
    errors
}

/// Validates a write to `/status` of `old`, for the request in `context`.
#[must_use]
pub fn check_status_update(new: &dyn Object, old: &dyn Object, context: &Context<'_>) -> FieldErrors {
    check_part_update(new, old, context, |errors| {
        new.resource().strategy.validate_status_update(new, old, errors);
    })
}

/// Validates a write to a part of `old`, for the request in `context`; `check` contains the rules of the part.
#[must_use]
pub fn check_part_update(
    new: &dyn Object,
    old: &dyn Object,
    context: &Context<'_>,
    check: impl FnOnce(&mut FieldErrors),
) -> FieldErrors {
    let mut errors = errors_in(context);
    check_generic_update(new, old, &mut errors);
    check_kind_metadata_change(new, old, &mut errors);
    check_declared(new, &mut errors);
    check(&mut errors);
    errors
}

/// Returns no errors, for the rules of the request in `context`.
fn errors_in(context: &Context<'_>) -> FieldErrors {
    FieldErrors::new(context.features)
        .with_time(context.now)
        .with_sent(context.sent_empty)
}

/// Checks the rules of the kind for metadata.
fn check_kind_metadata(object: &dyn Object, errors: &mut FieldErrors) {
    let kind = object.resource();
    check_metadata(
        object.meta(),
        kind.scope,
        kind.name_rule,
        kind.extensions.metadata,
        errors,
    );
}

/// Checks the rules of the kind for changes of metadata.
fn check_kind_metadata_change(new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
    check_metadata_change(new.meta(), old.meta(), new.resource().extensions.metadata, errors);
}

/// Checks the common rules for metadata, which run before those of the kind and overlap with them.
fn check_generic_update(new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
    let scope: Scope = new.resource().scope;
    check_on_create(new.meta(), scope, NameRule::PathSegment, errors);
    check_on_update(new.meta(), old.meta(), errors);
}

#[cfg(test)]
mod tests;
