//! Validation of flow schemas.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::names;

use super::{FlowSchemaSpec, FlowSchemaStatus};

/// Highest legal number, which has the lowest precedence.
const LOWEST: i32 = 10_000;

impl FlowSchemaSpec {
    /// Reports errors in the spec of the schema `name`.
    pub(super) fn check(&self, name: &str, errors: &mut FieldErrors) {
        self.check_precedence(name, errors);
        if let Some(method) = &self.distinguisher_method
            && !["ByNamespace", "ByUser"].contains(&method.type_.as_str())
        {
            errors.not_supported("distinguisherMethod.type", GoValue(method), &["ByNamespace", "ByUser"]);
        }
        let level = self.priority_level_configuration.name.as_str();
        if level.is_empty() {
            errors.required("priorityLevelConfiguration.name", "must reference a priority level");
        } else {
            for complaint in names::dns_subdomain(level) {
                errors.invalid("priorityLevelConfiguration.name", level, complaint);
            }
        }
        for (index, rule) in self.rules.iter().enumerate() {
            rule.check(&mut errors.at_index("rules", index));
        }
    }

    fn check_precedence(&self, name: &str, errors: &mut FieldErrors) {
        const FIELD: &str = "matchingPrecedence";
        let precedence = self.matching_precedence;
        if precedence <= 0 {
            errors.invalid(FIELD, precedence, "must be a positive value");
        }
        if precedence > LOWEST {
            errors.invalid(FIELD, precedence, format!("must not be greater than {LOWEST}"));
        }
        if precedence == 1 && name != "exempt" {
            let detail = "only the schema named 'exempt' may have matchingPrecedence 1";
            errors.invalid(FIELD, precedence, detail);
        }
    }
}

/// Reports errors in the conditions of a schema.
pub(super) fn conditions(status: &FlowSchemaStatus, errors: &mut FieldErrors) {
    let types = status.conditions.iter().map(|condition| condition.type_.as_str());
    condition_types(types, &mut errors.at("status"));
}

/// Reports conditions without a type and duplicate types.
pub(in crate::flowcontrol) fn condition_types<'a>(types: impl Iterator<Item = &'a str>, errors: &mut FieldErrors) {
    let mut seen = BTreeSet::new();
    for (index, type_) in types.enumerate() {
        let errors = &mut *errors.at_index("conditions", index);
        if !seen.insert(type_) {
            errors.duplicate("type", type_);
        }
        if type_.is_empty() {
            errors.required("type", "");
        }
    }
}
