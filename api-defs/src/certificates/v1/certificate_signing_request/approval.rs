//! Approval of requests.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::strategy::Context;
use planesmith_machinery::time::Time;

use super::check::Part;
use super::{CertificateSigningRequest, CertificateSigningRequestStatus};

/// Types of conditions that are decisions.
pub(super) const DECISIONS: [&str; 2] = ["Approved", "Denied"];

impl CertificateSigningRequest {
    /// Restricts an update of `/approval` to the conditions.
    pub fn prepare_approval(&mut self, context: &Context<'_>, old: &Self) {
        self.spec.clone_from(&old.spec);
        self.status.certificate.clone_from(&old.status.certificate);
        self.status.fill_times(&old.status, context.now);
    }

    /// Reports errors in an update of `/approval`.
    pub fn validate_approval(&self, old: &Self, errors: &mut FieldErrors) {
        self.check(Some(old), errors);
        self.status.check_change(&old.status, Part::Approval, errors);
    }
}

impl CertificateSigningRequestStatus {
    /// Preserves the decisions, unless their number differs, which the validation refuses.
    pub(super) fn keep_decision(&mut self, old: &Self) {
        for decision in DECISIONS {
            let old: Vec<_> = old.conditions.iter().filter(|old| old.type_ == decision).collect();
            let new: Vec<_> = self.conditions.iter_mut().filter(|new| new.type_ == decision).collect();
            if new.len() == old.len() {
                for (new, old) in new.into_iter().zip(old) {
                    new.clone_from(old);
                }
            }
        }
    }

    /// Sets missing times of conditions to `now`, that of the transition to the old one if the state is the same.
    pub(super) fn fill_times(&mut self, old: &Self, now: Time) {
        for condition in &mut self.conditions {
            if condition.last_update_time.is_zero() {
                condition.last_update_time = now;
            }
            if condition.last_transition_time.is_zero() {
                let same = old.conditions.iter().find(|old| {
                    old.type_ == condition.type_
                        && old.status == condition.status
                        && !old.last_transition_time.is_zero()
                });
                condition.last_transition_time = same.map_or(now, |same| same.last_transition_time);
            }
        }
    }
}
