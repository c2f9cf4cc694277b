//! Rules that select requests by operation and resource.

use std::collections::BTreeSet;

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES: [&str; 3] = ["*", "Cluster", "Namespaced"];

/// Operations on resources.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct RuleWithOperations {
    /// The operations: CREATE, UPDATE, DELETE, CONNECT, or * for all of them.
    #[field(proto = 1, list_type = atomic, known("*", "CONNECT", "CREATE", "DELETE", "UPDATE"), go_type = "[]OperationType")]
    pub operations: Vec<String>,
    /// The resources that the operations apply to, by group, version, resource and scope.
    #[field(inline, proto = 2)]
    pub rule: Rule,
}

/// Resources by group, version and name.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Rule {
    /// API groups; * stands for all.
    #[field(proto = 1, list_type = atomic)]
    pub api_groups: Vec<String>,
    /// API versions; * stands for all.
    #[field(proto = 2, list_type = atomic)]
    pub api_versions: Vec<String>,
    /// Resources, such as pods, pods/log, pods/* (all subresources of pods), */scale (the subresource of all
    /// resources), * (all resources) or */* (all resources and subresources).
    #[field(proto = 3, list_type = atomic)]
    pub resources: Vec<String>,
    /// Scope of the resources: Namespaced, Cluster, or * (the default) for both. A subresource has the scope of its
    /// resource.
    #[field(proto = 4, known("*", "Cluster", "Namespaced"), go_type = "ScopeType")]
    pub scope: Option<String>,
}

/// Operations on resources, limited to objects with certain names.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct NamedRuleWithOperations {
    /// Names of the objects; all objects when empty.
    #[field(proto = 1, list_type = atomic)]
    pub resource_names: Vec<String>,
    /// The operations and resources that match.
    #[field(inline, proto = 2)]
    pub rule_with_operations: RuleWithOperations,
}

impl RuleWithOperations {
    pub(in crate::admissionregistration) fn set_defaults(&mut self) {
        self.rule.scope.get_or_insert_with(|| "*".to_owned());
    }

    pub(super) fn check(&self, errors: &mut FieldErrors) {
        if self.operations.is_empty() {
            errors.required("operations", "");
        }
        check_wildcard("operations", &self.operations, "operations", errors);
        for (index, operation) in self.operations.iter().enumerate() {
            if !OPERATIONS.contains(&operation.as_str()) {
                errors
                    .at_index("operations", index)
                    .not_supported("", operation, &OPERATIONS);
            }
        }
        self.rule.check(errors);
    }
}

impl Rule {
    fn check(&self, errors: &mut FieldErrors) {
        if self.api_groups.is_empty() {
            errors.required("apiGroups", "");
        }
        check_wildcard("apiGroups", &self.api_groups, "API groups", errors);
        if self.api_versions.is_empty() {
            errors.required("apiVersions", "");
        }
        check_wildcard("apiVersions", &self.api_versions, "API versions", errors);
        for (index, version) in self.api_versions.iter().enumerate() {
            if version.is_empty() {
                errors.at_index("apiVersions", index).required("", "");
            }
        }
        check_resources(&self.resources, errors);
        super::check_word("scope", self.scope.as_ref(), &SCOPES, errors);
    }
}

impl NamedRuleWithOperations {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        let mut names = BTreeSet::new();
        for (index, name) in self.resource_names.iter().enumerate() {
            let errors = &mut *errors.at_index("resourceNames", index);
            for complaint in names::path_segment(name) {
                errors.invalid("", name, complaint);
            }
            if !names.insert(name) {
                errors.duplicate("", name);
            }
        }
        self.rule_with_operations.check(errors);
    }
}

/// Reports further entries beside a `*`.
fn check_wildcard(field: &str, list: &[String], nouns: &str, errors: &mut FieldErrors) {
    if list.len() > 1 && list.iter().any(|element| element == "*") {
        errors.invalid(
            field,
            list,
            format!("if '*' is present, must not specify other {nouns}"),
        );
    }
}

/// Reports resources that another entry includes.
fn check_resources(resources: &[String], errors: &mut FieldErrors) {
    const FIELD: &str = "resources";
    if resources.is_empty() {
        errors.required(FIELD, "");
    }
    let (mut whole, mut everywhere) = (BTreeSet::new(), BTreeSet::new());
    // As in kube-apiserver, only the last resource without a subresource counts here.
    let mut plain = false;
    for (index, resource) in resources.iter().enumerate() {
        let errors = &mut *errors.at_index(FIELD, index);
        if resource.is_empty() {
            errors.required("", "");
            continue;
        }
        let Some((name, part)) = resource.split_once('/') else {
            plain = resource != "*";
            continue;
        };
        if whole.contains(name) {
            let detail = format!("if '{name}/*' is present, must not specify {resource}");
            errors.invalid("", resource, detail);
        }
        if everywhere.contains(part) {
            let detail = format!("if '*/{part}' is present, must not specify {resource}");
            errors.invalid("", resource, detail);
        }
        if part == "*" {
            whole.insert(name);
        }
        if name == "*" {
            everywhere.insert(part);
        }
    }
    let has = |wanted: &str| resources.iter().any(|resource| resource == wanted);
    if resources.len() > 1 && has("*/*") {
        let detail = "if '*/*' is present, must not specify other resources";
        errors.invalid(FIELD, resources, detail);
    }
    if has("*") && plain {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.invalid(FIELD, resources, detail);
    }
}
