//! Sixth step: a new object has an identity, and a changed one is the object that its client means.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::NameRule;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::Entry;

use super::Write;
use super::candidate::{Candidate, Existing, New};
use super::mutated::Mutated;
use crate::generated_name::generated_name;
use crate::options::parse_version;

/// A new object with a UID, a creation time and a name, or a changed one with the resourceVersion of the state that it
/// replaces.
pub(super) struct Identified<P>(Candidate<P>);

impl Mutated<New> {
    /// Sets UID, creation time and, if its client leaves that to the server, the name.
    ///
    /// # Errors
    ///
    /// 400 when a plugin has moved the object to another namespace.
    pub(super) fn identify(self, write: &Write<'_>) -> ApiResult<Identified<New>> {
        let mut candidate = self.into_candidate();
        let name_rule = candidate.object.resource().name_rule;
        let meta = candidate.object.meta_mut();
        meta.creation_timestamp = write.now;
        meta.uid = write.endpoint.stores().options().uids.next();
        if meta.name.is_empty() && !meta.generate_name.is_empty() {
            meta.name = match name_rule {
                // Appended letters cannot turn the start of an address into an address.
                NameRule::IpAddress => meta.generate_name.clone(),
                _ => generated_name(&meta.generate_name),
            };
        }
        write.endpoint.set_namespace(meta, write.call.namespace())?;
        Ok(Identified(candidate))
    }
}

impl<'s> Mutated<Existing<'s>> {
    /// Checks the resourceVersion of the object against the state that it replaces. Mutating plugins come before, as in
    /// kube-apiserver.
    ///
    /// # Errors
    ///
    /// 409 when the client has changed another state; 422 when the kind requires a resourceVersion and there is none.
    pub(super) fn identify(self, write: &Write<'_>) -> ApiResult<Identified<Existing<'s>>> {
        let mut candidate = self.into_candidate();
        let Candidate { object, purpose, .. } = &mut candidate;
        write.check_version(&**object, purpose.entry)?;
        object.meta_mut().resource_version = purpose.entry.revision().to_string();
        Ok(Identified(candidate))
    }
}

impl<P> Identified<P> {
    pub(super) fn into_candidate(self) -> Candidate<P> {
        self.0
    }
}

impl Write<'_> {
    fn check_version(&self, new: &dyn Object, entry: &Entry) -> ApiResult<()> {
        let facts = self.endpoint.kind();
        let name = &new.meta().name;
        let sent = match &*new.meta().resource_version {
            "" => 0,
            text => parse_version(text).map_err(|why| ApiError::unnamed(500, why))?,
        };
        if sent == 0 && facts.behavior.conditional_update && !self.is_through_scale() {
            let mut errors = FieldErrors::default();
            errors.invalid("metadata.resourceVersion", 0_u64, "must be specified for an update");
            let resource = GroupKind::new(facts.group.clone(), facts.plural.clone());
            return Err(ApiError::invalid(&resource, name, &errors));
        }
        if sent != 0 && sent != entry.revision().0 {
            return Err(ApiError::modified(&facts.group_resource(), name));
        }
        Ok(())
    }
}
