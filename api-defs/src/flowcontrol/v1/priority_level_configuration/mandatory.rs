//! The two mandatory levels, which are immutable: one without limits and one for requests that no other schema matches.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;

use super::{
    ExemptPriorityLevelConfiguration, LimitResponse, LimitedPriorityLevelConfiguration, PriorityLevelConfigurationSpec,
};

pub(super) const EXEMPT: &str = "exempt";

impl PriorityLevelConfigurationSpec {
    /// Returns the spec of the mandatory level `name`, which is the same on every server; `None` for other names.
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

    /// Reports differences from the spec of a mandatory level. The lending of the exempt level is configurable.
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
