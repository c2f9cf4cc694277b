//! Fifth step: the mutating admission plugins have changed the object.

use std::sync::OnceLock;

use planesmith_access::admission::{Attributes, Objects, Operation, Phase};
use planesmith_machinery::meta::ManagedFieldsEntry;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;
use planesmith_patch::managers::check_managers;

use super::Write;
use super::candidate::{Candidate, New, Purpose};
use super::working::Working;
use crate::request::Stage;

/// An object after the mutating plugins, in the version that the write works on.
pub(crate) struct Mutated<P>(Candidate<P>);

impl<P: Purpose> Working<P> {
    /// Runs the mutating plugins, restores managed fields that they broke, and then runs the check that the kind has of its own,
    /// if any.
    ///
    /// # Errors
    ///
    /// The error of the first plugin that refuses, or of the check.
    pub(crate) async fn mutate(self, write: &Write<'_>) -> ApiResult<Mutated<P>> {
        let mut candidate = self.into_candidate();
        let Candidate {
            object, scale, purpose, ..
        } = &mut candidate;
        let old = purpose.old();
        let operation = old.map_or(Operation::Create, |_| Operation::Update);
        let chain = write.endpoint.stores().admission();
        if chain.handles(operation, Phase::Mutating) {
            // The name is copied: plugins may change the object that it belongs to.
            let name = old.unwrap_or(&**object).meta().name.clone();
            let mut objects = Objects {
                new: Some(&mut **object),
                old,
            };
            let warn = |text: String| write.call.ctx.warnings.add(text);
            let managers = OnceLock::new();
            let attributes = Attributes {
                managers: Some(&managers),
                scale: scale.as_deref(),
                ..write.attributes(operation, &name, &warn)
            };
            let mutate = chain.mutate(&attributes, &mut objects);
            write.call.ctx.timeline.wait(Stage::Admission, mutate).await?;
            if let Some(before) = managers.into_inner() {
                restore_managers(&mut **object, before, warn);
            }
        }
        write.drop_repeated_owners(&mut **object, true);
        if let Some(check) = write.endpoint.write_check() {
            check.check(write.call, &**object, old).await?;
        }
        Ok(Mutated(candidate))
    }
}

/// Restores the managed fields of before admission if plugins have left some that cannot be read, and warns of that.
fn restore_managers(object: &mut dyn Object, before: Vec<ManagedFieldsEntry>, warn: impl Fn(String)) {
    let managers = &mut object.meta_mut().managed_fields;
    if let Err(why) = check_managers(managers) {
        *managers = before;
        warn(format!(
            ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: {why}"
        ));
    }
}

impl<P> Mutated<P> {
    pub(super) fn into_candidate(self) -> Candidate<P> {
        self.0
    }
}

impl Mutated<New> {
    /// True if the server generates the name of the object.
    pub(super) fn needs_name(&self) -> bool {
        let meta = self.0.object.meta();
        meta.name.is_empty() && !meta.generate_name.is_empty()
    }

    /// Returns a copy, for an attempt to create the object under a name that may be taken.
    pub(super) async fn copy(&self, write: &Write<'_>) -> Self {
        let size = self.0.size;
        let object = write.in_turn(size, || self.0.object.clone()).await;
        Self(Candidate {
            object,
            size,
            scale: None,
            sent_empty: self.0.sent_empty.clone(),
            has_pruned_fields: self.0.has_pruned_fields,
            purpose: New,
        })
    }

    /// The object, for kinds that are answered and not stored.
    pub(crate) fn into_object(self) -> Box<dyn Object> {
        self.0.object
    }
}
