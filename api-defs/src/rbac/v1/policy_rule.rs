//! Single rights.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::resource::Scope;

/// A right: what may be done to which resources, or to which paths of the server that are no resources.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PolicyRule {
    /// Verbs of requests, such as get, list and create; * stands for all.
    #[field(proto = 1, keep, list_type = atomic)]
    pub verbs: Vec<String>,
    /// The groups of the resources. The empty text is the core group, * is every group.
    #[field(proto = 2, list_type = atomic)]
    pub api_groups: Vec<String>,
    /// The resources by their names in paths, with a slash in front of a subresource, as in pods/log. * is every
    /// resource.
    #[field(proto = 3, list_type = atomic)]
    pub resources: Vec<String>,
    /// The names of the objects that the right is about; all objects when empty.
    #[field(proto = 4, list_type = atomic)]
    pub resource_names: Vec<String>,
    /// Paths that are no resources, such as /healthz; a * as the last step stands for everything below. Only for rights
    /// that are given in the whole cluster, and not together with resources.
    #[field(name = "nonResourceURLs", proto = 5, list_type = atomic)]
    pub non_resource_urls: Vec<String>,
}

/// Reports what is wrong with the rules of a role of this scope.
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
