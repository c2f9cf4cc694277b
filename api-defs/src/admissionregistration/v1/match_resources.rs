//! Requests that an admission policy applies to.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::validation::{SelectorValues, check_label_selector};

use super::{MATCH_POLICIES, NamedRuleWithOperations};

/// Operations that a mutating policy can match.
const CHANGING: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];

/// Requests that a policy applies to: those that match the resource rules and the selectors and that no exclude rule
/// matches.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct MatchResources {
    /// Labels of the objects' namespaces; all namespaces when empty. Objects without a namespace always match.
    #[field(proto = 1)]
    pub namespace_selector: Option<LabelSelector>,
    /// Labels of the objects, before or after the change; all objects when empty.
    #[field(proto = 2)]
    pub object_selector: Option<LabelSelector>,
    /// Operations and resources. A request matches if any of the rules matches.
    #[field(proto = 3, list_type = atomic)]
    pub resource_rules: Vec<NamedRuleWithOperations>,
    /// Operations and resources that are excluded.
    #[field(proto = 4, list_type = atomic)]
    pub exclude_resource_rules: Vec<NamedRuleWithOperations>,
    /// Matching of other groups and versions of the same resource: Equivalent (the default) includes them, Exact does
    /// not.
    #[field(proto = 7, known("Equivalent", "Exact"), go_type = "MatchPolicyType")]
    pub match_policy: Option<String>,
}

/// Sets the defaults of a match: Equivalent and empty selectors.
pub(in crate::admissionregistration) fn default_selection(
    match_policy: &mut Option<String>,
    namespaces: &mut Option<LabelSelector>,
    objects: &mut Option<LabelSelector>,
) {
    match_policy.get_or_insert_with(|| "Equivalent".to_owned());
    namespaces.get_or_insert_default();
    objects.get_or_insert_default();
}

impl MatchResources {
    pub(in crate::admissionregistration) fn set_defaults(&mut self) {
        default_selection(
            &mut self.match_policy,
            &mut self.namespace_selector,
            &mut self.object_selector,
        );
        for rule in self.resource_rules.iter_mut().chain(&mut self.exclude_resource_rules) {
            rule.rule_with_operations.set_defaults();
        }
    }

    pub(super) fn check(&self, errors: &mut FieldErrors) {
        if self.match_policy.is_none() {
            errors.required("matchPolicy", "");
        }
        super::check_word("matchPolicy", self.match_policy.as_ref(), &MATCH_POLICIES, errors);
        for (field, selector) in [
            ("namespaceSelector", &self.namespace_selector),
            ("objectSelector", &self.object_selector),
        ] {
            match selector {
                None => errors.required(field, ""),
                Some(selector) => check_label_selector(selector, SelectorValues::Legal, &mut errors.at(field)),
            }
        }
        for (field, rules) in [
            ("resourceRules", &self.resource_rules),
            ("excludeResourceRules", &self.exclude_resource_rules),
        ] {
            for (index, rule) in rules.iter().enumerate() {
                rule.check(&mut errors.at_index(field, index));
            }
        }
    }

    /// Reports errors like [`Self::check`] and requires at least one rule, as for the constraints of a policy.
    pub(super) fn check_constraints(&self, errors: &mut FieldErrors) {
        self.check(errors);
        if self.resource_rules.is_empty() {
            errors.required("resourceRules", "");
        }
    }

    /// Reports operations that mutating policies cannot match, as they have no object to change.
    pub(super) fn check_changing(&self, errors: &mut FieldErrors) {
        let rules = self.resource_rules.iter().map(|rule| &rule.rule_with_operations);
        for operation in rules.flat_map(|rule| &rule.operations) {
            if !CHANGING.contains(&operation.as_str()) {
                errors.not_supported("resourceRules.operations", operation, &CHANGING);
            }
        }
    }
}
