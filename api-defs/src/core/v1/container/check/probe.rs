//! Validation of probes.

use planesmith_machinery::field_error::FieldErrors;

use super::handler::Handler;
use crate::core::v1::Probe;

impl Probe {
    /// Checks a liveness or startup probe, whose success threshold must be 1.
    pub(super) fn check_of_restarts(&self, errors: &mut FieldErrors) {
        self.check(errors);
        if self.success_threshold != 1 {
            errors.invalid("successThreshold", self.success_threshold, "must be 1");
        }
    }

    /// Checks a readiness probe, which must not have a grace period.
    pub(super) fn check_of_readiness(&self, errors: &mut FieldErrors) {
        self.check(errors);
        if let Some(seconds) = self.termination_grace_period_seconds {
            let problem = "must not be set for readinessProbes";
            errors.invalid("terminationGracePeriodSeconds", seconds, problem);
        }
    }

    fn check(&self, errors: &mut FieldErrors) {
        Handler::from(&self.probe_handler).check(None, errors);
        let numbers = [
            ("initialDelaySeconds", self.initial_delay_seconds),
            ("timeoutSeconds", self.timeout_seconds),
            ("periodSeconds", self.period_seconds),
            ("successThreshold", self.success_threshold),
            ("failureThreshold", self.failure_threshold),
        ];
        for (field, number) in numbers {
            if number < 0 {
                errors.invalid(field, number, "must be greater than or equal to 0");
            }
        }
        if let Some(seconds @ ..=0) = self.termination_grace_period_seconds {
            errors.invalid("terminationGracePeriodSeconds", seconds, "must be greater than 0");
        }
    }
}
