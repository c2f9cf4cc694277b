//! Requests that an admission policy applies to.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;

use crate::admissionregistration::v1::{RuleWithOperations, default_selection};

/// Requests that a policy applies to: those that match the resource rules and the selectors and that no exclude rule
/// matches.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct MatchResources {
    /// Labels of the objects' namespaces; all namespaces when empty.
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

/// Operations on resources, limited to objects with certain names.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct NamedRuleWithOperations {
    /// Names of the objects; all objects when empty.
    #[field(proto = 1, list_type = atomic)]
    pub resource_names: Vec<String>,
    /// Operations and resources.
    #[field(inline, proto = 2)]
    pub rule_with_operations: RuleWithOperations,
}

impl MatchResources {
    pub(super) fn set_defaults(&mut self) {
        default_selection(
            &mut self.match_policy,
            &mut self.namespace_selector,
            &mut self.object_selector,
        );
        for rule in self.resource_rules.iter_mut().chain(&mut self.exclude_resource_rules) {
            rule.rule_with_operations.set_defaults();
        }
    }
}
