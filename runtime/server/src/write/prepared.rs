//! Fields that a client cannot set: reset in new objects, and restored in changed ones.

use planesmith_machinery::object::Object;
use planesmith_machinery::resource::Generation;
use planesmith_machinery::strategy::Context;
use planesmith_machinery::{copy, value};

use super::Part;
use crate::representation;

/// Resets the fields that a creator may not set.
pub(super) fn prepare_create(object: &mut dyn Object, context: &Context<'_>) {
    let facts = object.resource().clone();
    if facts.behavior.generation != Generation::None {
        object.meta_mut().generation = 1;
    }
    if !facts.behavior.status_on_create && facts.subresource("status").is_some() {
        copy::reset_field("status", object);
    }
    facts.strategy.prepare_for_create(object, context);
}

/// Copies the parts from the old object that the update does not change. `has_pruned_fields` if the document of the new one had
/// more fields.
pub(super) fn prepare_update(
    part: Part<'_>,
    new: &mut dyn Object,
    context: &Context<'_>,
    old: &dyn Object,
    has_pruned_fields: bool,
) {
    let facts = old.resource();
    new.meta_mut().generation = old.meta().generation;
    match part {
        Part::Object => {
            if facts.subresource("status").is_some() {
                copy::copy_field("status", old, new);
            }
            facts.strategy.prepare_for_update(new, context, old);
        }
        Part::Status => {
            // Metadata is not restored: agents annotate objects together with their status.
            copy::copy_except(&["status", "metadata"], old, new);
            facts.strategy.prepare_for_status_update(new, context, old);
        }
        Part::Finalizers => {
            copy::copy_field("status", old, new);
        }
        Part::Own(part) => part.prepare(new, context, old),
    }
    keep_system_fields(new, old);
    let is_change = match (facts.behavior.generation, part) {
        (Generation::None, _) | (_, Part::Status) => false,
        (Generation::AsSent, Part::Object) if sends_empty_content(new, context) => true,
        (Generation::Content | Generation::AsSent, _) => has_pruned_fields || changes_content(new, old),
    };
    if is_change {
        new.meta_mut().generation = old.meta().generation + 1;
    }
}

/// Restores the fields that no update can change.
fn keep_system_fields(new: &mut dyn Object, old: &dyn Object) {
    let old = old.meta();
    let new = new.meta_mut();
    if new.uid.is_empty() {
        new.uid.clone_from(&old.uid);
    }
    new.creation_timestamp = old.creation_timestamp;
    if old.deletion_timestamp.is_some() {
        new.deletion_timestamp = old.deletion_timestamp;
    }
    if old.deletion_grace_period_seconds.is_some() && new.deletion_grace_period_seconds.is_none() {
        new.deletion_grace_period_seconds = old.deletion_grace_period_seconds;
    }
}

/// True if a field is sent empty whose changes increment the generation.
fn sends_empty_content(new: &dyn Object, context: &Context<'_>) -> bool {
    let kind = new.resource();
    let uncounted = representation::of(kind).uncounted_fields(kind);
    context.sent_empty.has_any_except(uncounted, new)
}

/// True if a field differs whose changes increment the generation.
fn changes_content(new: &dyn Object, old: &dyn Object) -> bool {
    let kind = new.resource();
    !value::equal_except(representation::of(kind).uncounted_fields(kind), new, old)
}
