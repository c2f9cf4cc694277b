//! Validation of priority levels.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names::in_range;

use super::mandatory::EXEMPT;
use super::{
    ExemptPriorityLevelConfiguration, LimitResponse, LimitedPriorityLevelConfiguration, PriorityLevelConfigurationSpec,
    QueuingConfiguration,
};

const MAX_QUEUES: i32 = 10_000_000;

/// Number of bits of the hash that selects the queues of a flow.
const HASH_BITS: f64 = 60.0;

impl PriorityLevelConfigurationSpec {
    /// Reports errors in the spec of the level `name`.
    pub(super) fn check(&self, name: &str, errors: &mut FieldErrors) {
        let type_ = self.type_.as_str();
        if (name == EXEMPT) != (type_ == "Exempt") {
            errors.invalid("type", type_, "must be 'Exempt' if and only if `name` is 'exempt'");
        }
        match type_ {
            "Exempt" => {
                if self.limited.is_some() {
                    errors.forbidden("limited", "must be nil if the type is not Limited");
                }
                if let Some(exempt) = &self.exempt {
                    exempt.check(&mut errors.at("exempt"));
                }
            }
            "Limited" => {
                if self.exempt.is_some() {
                    errors.forbidden("exempt", "must be nil if the type is Limited");
                }
                match &self.limited {
                    None => errors.required("limited", "must not be empty when type is Limited"),
                    Some(limited) => limited.check(&mut errors.at("limited")),
                }
            }
            _ => errors.not_supported("type", type_, &["Exempt", "Limited"]),
        }
    }
}

impl LimitedPriorityLevelConfiguration {
    fn check(&self, errors: &mut FieldErrors) {
        check_shares(self.nominal_concurrency_shares, errors);
        self.limit_response.check(&mut errors.at("limitResponse"));
        check_lendable(self.lendable_percent, errors);
        if let Some(percent @ ..0) = self.borrowing_limit_percent {
            let detail = "if specified, must be a non-negative integer";
            errors.invalid("borrowingLimitPercent", percent, detail);
        }
    }
}

impl ExemptPriorityLevelConfiguration {
    fn check(&self, errors: &mut FieldErrors) {
        check_shares(self.nominal_concurrency_shares, errors);
        check_lendable(self.lendable_percent, errors);
    }
}

fn check_shares(shares: Option<i32>, errors: &mut FieldErrors) {
    if let Some(shares @ ..0) = shares {
        errors.invalid("nominalConcurrencyShares", shares, "must be a non-negative integer");
    }
}

fn check_lendable(percent: Option<i32>, errors: &mut FieldErrors) {
    let Some(percent) = percent else { return };
    for complaint in in_range(percent.into(), 0, 100) {
        errors.invalid("lendablePercent", percent, complaint);
    }
}

impl LimitResponse {
    fn check(&self, errors: &mut FieldErrors) {
        match (self.type_.as_str(), &self.queuing) {
            ("Reject", None) => {}
            ("Reject", Some(_)) => {
                errors.forbidden("queuing", "must be nil if limited.limitResponse.type is not Limited");
            }
            ("Queue", None) => {
                errors.required("queuing", "must not be empty if limited.limitResponse.type is Limited");
            }
            ("Queue", Some(queuing)) => queuing.check(&mut errors.at("queuing")),
            (other, _) => errors.not_supported("type", other, &["Queue", "Reject"]),
        }
    }
}

impl QueuingConfiguration {
    fn check(&self, errors: &mut FieldErrors) {
        if self.queue_length_limit <= 0 {
            errors.invalid("queueLengthLimit", self.queue_length_limit, "must be positive");
        }
        if self.queues <= 0 {
            errors.invalid("queues", self.queues, "must be positive");
        } else if self.queues > MAX_QUEUES {
            let detail = format!("must not be greater than {MAX_QUEUES}");
            errors.invalid("queues", self.queues, detail);
        }
        if self.hand_size <= 0 {
            errors.invalid("handSize", self.hand_size, "must be positive");
        } else if self.hand_size > self.queues {
            let detail = format!("should not be greater than queues ({})", self.queues);
            errors.invalid("handSize", self.hand_size, detail);
        } else if (f64::from(self.queues).log2() * f64::from(self.hand_size)).ceil() > HASH_BITS {
            let detail = format!(
                "required entropy bits of deckSize {} and handSize {} should not be greater than {HASH_BITS}",
                self.queues, self.hand_size
            );
            errors.invalid("handSize", self.hand_size, detail);
        }
    }
}
