//! Fourth step: the object is in the version that the write works on.

use planesmith_machinery::conversion::try_convert;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::ApiResult;

use super::Write;
use super::candidate::{Candidate, New};
use super::tracked::Tracked;

/// A tracked object in the version that the write works on; see [`Write::working_kind`].
pub(crate) struct Working<P>(Candidate<P>);

impl<P> Tracked<P> {
    /// Converts the object to the version that the write works on.
    ///
    /// # Errors
    ///
    /// 500 when it cannot be converted; 429 when that is expensive and too much work waits.
    pub(crate) async fn into_working_version(self, write: &Write<'_>) -> ApiResult<Working<P>> {
        let mut candidate = self.into_candidate();
        if !write.uses_endpoint_version() {
            let convert = || try_convert(&*candidate.object, &write.working_kind());
            candidate.object = write.run(candidate.size, convert).await??;
        }
        Ok(Working(candidate))
    }
}

impl Tracked<New> {
    /// The same object, which was posted to a subresource and is of another kind than the endpoint: the handler of the
    /// subresource works on the version in which it was posted.
    pub(crate) fn into_posted_version(self) -> Working<New> {
        Working(self.into_candidate())
    }
}

impl<P> Working<P> {
    /// The object.
    pub(super) fn object(&self) -> &dyn Object {
        &*self.0.object
    }

    pub(super) fn into_candidate(self) -> Candidate<P> {
        self.0
    }
}

impl Write<'_> {
    /// The version that the write works on: the one whose rules apply.
    pub(super) fn working_kind(&self) -> ResourceFacts {
        self.endpoint.representation().ruling_version(self.endpoint.kind())
    }

    /// True if the write works on the version of the endpoint.
    pub(super) fn uses_endpoint_version(&self) -> bool {
        self.working_kind() == *self.endpoint.kind()
    }
}
