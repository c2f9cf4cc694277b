//! Seventh step: the object has what it takes from a common pool, such as addresses.

use planesmith_machinery::status::ApiResult;

use super::candidate::{Candidate, Existing, New};
use super::identified::Identified;
use super::{Part, Write};
use crate::reservations::ReservationGuard;

/// An object with all values that it takes from a pool. The reservation of these is beside it: it is rolled back when a
/// later step fails.
pub(super) struct Reserved<P>(Candidate<P>);

impl Identified<New> {
    /// Reserves what a new object needs. One that is created through a part with a path of its own gets nothing, as in
    /// kube-apiserver.
    ///
    /// # Errors
    ///
    /// The pool is exhausted, or a requested value is taken.
    pub(super) async fn reserve(self, write: &Write<'_>) -> ApiResult<(Reserved<New>, ReservationGuard)> {
        let mut candidate = self.into_candidate();
        let guard = match write.endpoint.reservations() {
            Some(pool) if write.subresource.is_empty() => {
                ReservationGuard::new(pool.begin_create(&mut *candidate.object, write.dry_run).await?)
            }
            _ => ReservationGuard::nothing(),
        };
        Ok((Reserved(candidate), guard))
    }
}

impl<'s> Identified<Existing<'s>> {
    /// Reserves what a changed object needs in addition to the old one. Parts with paths of their own need nothing.
    ///
    /// # Errors
    ///
    /// As for a new object.
    pub(super) async fn reserve(self, write: &Write<'_>) -> ApiResult<(Reserved<Existing<'s>>, ReservationGuard)> {
        let mut candidate = self.into_candidate();
        let Existing { old, part, .. } = candidate.purpose;
        let guard = match write.endpoint.reservations() {
            Some(pool) if matches!(part, Part::Object) => {
                ReservationGuard::new(pool.begin_update(&mut *candidate.object, old, write.dry_run).await?)
            }
            _ => ReservationGuard::nothing(),
        };
        Ok((Reserved(candidate), guard))
    }
}

impl<P> Reserved<P> {
    pub(super) fn into_candidate(self) -> Candidate<P> {
        self.0
    }
}
