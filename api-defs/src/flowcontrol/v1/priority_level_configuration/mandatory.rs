//! The two levels that nobody can change: one that is never held up, and one for what belongs nowhere else.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;

use super::{
    ExemptPriorityLevelConfiguration, LimitResponse, LimitedPriorityLevelConfiguration, PriorityLevelConfigurationSpec,
};

pub(super) const EXEMPT: &str = "exempt";

impl PriorityLevelConfigurationSpec {
    /// The spec of a level that is the same on every server, by its name.
    #[must_use]
    pub fn mandatory(name: &str) -> Option<Self> {
        match name {
            EXEMPT => Some(Self {
                type_: "Exempt".to_owned(),
                exempt: Some(ExemptPriorityLevelConfiguration {
                    nominal_concurrency_shares: Some(0),
                    lendable_percent: Some(0),
                }),
                ..Self::default()
            }),
            "catch-all" => Some(Self {
                type_: "Limited".to_owned(),
                limited: Some(LimitedPriorityLevelConfiguration {
                    nominal_concurrency_shares: Some(5),
                    limit_response: LimitResponse {
                        type_: "Reject".to_owned(),
                        queuing: None,
                    },
                    lendable_percent: Some(0),
                    borrowing_limit_percent: None,
                }),
                ..Self::default()
            }),
            _ => None,
        }
    }

    /// Reports what differs from the spec of a mandatory level; what the exempt one lends is up to the administrator.
    pub(super) fn check_mandatory(&self, name: &str, errors: &mut FieldErrors) {
        let Some(mut fixed) = Self::mandatory(name) else { return };
        let mut except = "";
        if name == EXEMPT {
            fixed.exempt.clone_from(&self.exempt);
            except = " except the 'spec.exempt' field";
        }
        if fixed != *self {
            let detail = format!("spec of '{name}'{except} must equal the fixed value");
            errors.invalid("spec", GoValue(self), detail);
        }
    }
}
