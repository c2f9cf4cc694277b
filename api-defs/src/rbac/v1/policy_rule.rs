//! Rules of roles.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::resource::Scope;

/// A permission for certain verbs on resources, or on URL paths that are not resources.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PolicyRule {
    /// Verbs of requests, such as get, list and create; * stands for all.
    #[field(proto = 1, keep, list_type = atomic)]
    pub verbs: Vec<String>,
    /// API groups. The empty string is the core group, * stands for all.
    #[field(proto = 2, list_type = atomic)]
    pub api_groups: Vec<String>,
    /// Resources by their names in paths, with subresources after a slash, as in pods/log. * stands for all.
    #[field(proto = 3, list_type = atomic)]
    pub resources: Vec<String>,
    /// Names of the objects; all objects when empty.
    #[field(proto = 4, list_type = atomic)]
    pub resource_names: Vec<String>,
    /// URL paths that are not resources, such as /healthz; a trailing /* matches everything below. Only effective when
    /// granted in the whole cluster. Excludes resources.
    #[field(name = "nonResourceURLs", proto = 5, list_type = atomic)]
    pub non_resource_urls: Vec<String>,
}

/// Reports errors in the rules of a role with this scope.
pub(super) fn check(rules: &[PolicyRule], scope: Scope, errors: &mut FieldErrors) {
    for (index, rule) in rules.iter().enumerate() {
        rule.check(scope, &mut errors.at_index("rules", index));
    }
}

impl PolicyRule {
    fn check(&self, scope: Scope, errors: &mut FieldErrors) {
        if self.verbs.is_empty() {
            errors.required("verbs", "verbs must contain at least one value");
        }
        let paths = self.non_resource_urls.as_slice();
        if !paths.is_empty() {
            if scope == Scope::Namespaced {
                let detail = "namespaced rules cannot apply to non-resource URLs";
                errors.invalid("nonResourceURLs", paths, detail);
            }
            let of_resources = [&self.api_groups, &self.resources, &self.resource_names];
            if of_resources.into_iter().any(|list| !list.is_empty()) {
                let detail = "rules cannot apply to both regular resources and non-resource URLs";
                errors.invalid("nonResourceURLs", paths, detail);
            }
            return;
        }
        if self.api_groups.is_empty() {
            errors.required("apiGroups", "resource rules must supply at least one api group");
        }
        if self.resources.is_empty() {
            errors.required("resources", "resource rules must supply at least one resource");
        }
    }
}
