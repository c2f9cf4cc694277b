//! Tenth step: the object is in the form in which it is stored.

use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;

use super::Write;
use super::admitted::Admitted;
use super::candidate::Candidate;

/// An object as it is stored, or would be: in the storage version, with the defaults of that version, as all clients read
/// it from now on. Fields of a custom object that the storage version does not have are lost.
pub(super) struct Storable<P>(Candidate<P>);

impl<P> Admitted<P> {
    /// Converts the object to the storage version, and completes it.
    ///
    /// # Errors
    ///
    /// 500 when the object cannot be converted.
    pub(super) async fn into_storage_version(self, write: &Write<'_>) -> ApiResult<Storable<P>> {
        let mut candidate = self.into_candidate();
        let (kind, representation) = (write.endpoint.kind(), write.endpoint.representation());
        let hub = kind.hub();
        if write.working_kind() != hub {
            candidate.object = representation.convert(candidate.object, &hub).await?;
        }
        if let Some(complete) = representation.completion(kind) {
            let Candidate { object, size, .. } = &mut candidate;
            write
                .in_turn(*size, || complete(&mut **object, write.environment()))
                .await;
        }
        candidate.scale = None;
        Ok(Storable(candidate))
    }
}

impl<P> Storable<P> {
    /// The object.
    pub(super) fn object(&self) -> &dyn Object {
        &*self.0.object
    }

    /// Size of the object in JSON, in bytes; an estimate.
    pub(super) fn size(&self) -> usize {
        self.0.size
    }

    pub(super) fn into_candidate(self) -> Candidate<P> {
        self.0
    }
}
