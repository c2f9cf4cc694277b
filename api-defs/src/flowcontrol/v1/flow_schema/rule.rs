//! Rules that select requests by subject, verb and resource.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

use super::Subject;

/// Legal verbs of requests.
const VERBS: [&str; 9] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "proxy",
    "update",
    "watch",
];

/// Selects requests by subject and action: one of the subjects and one of the rules must match.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PolicyRulesWithSubjects {
    /// Senders of the requests.
    #[field(proto = 1, keep, list_type = atomic)]
    pub subjects: Vec<Subject>,
    /// Rules for resource requests.
    #[field(proto = 2, list_type = atomic)]
    pub resource_rules: Vec<ResourcePolicyRule>,
    /// Rules for requests of other paths.
    #[field(proto = 3, list_type = atomic)]
    pub non_resource_rules: Vec<NonResourcePolicyRule>,
}

/// A rule for resource requests.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourcePolicyRule {
    /// Verbs of the requests; * stands for all.
    #[field(proto = 1, keep, list_type = set)]
    pub verbs: Vec<String>,
    /// API groups; * stands for all.
    #[field(proto = 2, keep, list_type = set)]
    pub api_groups: Vec<String>,
    /// Resources; * stands for all.
    #[field(proto = 3, keep, list_type = set)]
    pub resources: Vec<String>,
    /// True if requests outside of namespaces match.
    #[field(proto = 4)]
    pub cluster_scope: bool,
    /// Namespaces of the requests; * stands for all.
    #[field(proto = 5, keep, optional, list_type = set)]
    pub namespaces: Vec<String>,
}

/// A rule for requests of paths that are not resources.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NonResourcePolicyRule {
    /// Verbs of the requests; * stands for all.
    #[field(proto = 1, keep, list_type = set)]
    pub verbs: Vec<String>,
    /// URL paths; a trailing /* matches everything below, * alone matches all paths.
    #[field(name = "nonResourceURLs", proto = 6, keep, list_type = set)]
    pub non_resource_urls: Vec<String>,
}

impl PolicyRulesWithSubjects {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        if self.subjects.is_empty() {
            errors.required("subjects", "subjects must contain at least one value");
        }
        for (index, subject) in self.subjects.iter().enumerate() {
            subject.check(&mut errors.at_index("subjects", index));
        }
        if self.resource_rules.is_empty() && self.non_resource_rules.is_empty() {
            let detail = "at least one of resourceRules and nonResourceRules has to be non-empty";
            errors.required("", detail);
        }
        for (index, rule) in self.resource_rules.iter().enumerate() {
            rule.check(&mut errors.at_index("resourceRules", index));
        }
        for (index, rule) in self.non_resource_rules.iter().enumerate() {
            rule.check(&mut errors.at_index("nonResourceRules", index));
        }
    }
}

impl ResourcePolicyRule {
    fn check(&self, errors: &mut FieldErrors) {
        check_verbs(&self.verbs, errors);
        let lists = [
            ("apiGroups", &self.api_groups, "api group"),
            ("resources", &self.resources, "resource"),
        ];
        for (field, list, noun) in lists {
            if list.is_empty() {
                errors.required(field, format!("resource rules must supply at least one {noun}"));
            }
            check_wildcard(field, list, &format!("{noun}s"), errors);
        }
        if self.namespaces.is_empty() && !self.cluster_scope {
            let detail = "resource rules that are not cluster scoped must supply at least one namespace";
            errors.required("namespaces", detail);
        }
        if !check_wildcard("namespaces", &self.namespaces, "namespaces", errors) {
            for (index, namespace) in self.namespaces.iter().enumerate() {
                for complaint in names::dns_label(namespace) {
                    let detail = format!("each member of this list must be '*' or a DNS-1123 label; {complaint}");
                    errors.at_index("namespaces", index).invalid("", namespace, detail);
                }
            }
        }
    }
}

impl NonResourcePolicyRule {
    fn check(&self, errors: &mut FieldErrors) {
        const FIELD: &str = "nonResourceURLs";
        check_verbs(&self.verbs, errors);
        if self.non_resource_urls.is_empty() {
            errors.required(FIELD, "nonResourceURLs must contain at least one value");
        }
        if !check_wildcard(FIELD, &self.non_resource_urls, "non-resource URLs", errors) {
            for (index, path) in self.non_resource_urls.iter().enumerate() {
                if let Some(complaint) = path_complaint(path) {
                    errors.at_index(FIELD, index).invalid("", path, complaint);
                }
            }
        }
    }
}

fn check_verbs(verbs: &[String], errors: &mut FieldErrors) {
    if verbs.is_empty() {
        errors.required("verbs", "verbs must contain at least one value");
    }
    if !check_wildcard("verbs", verbs, "verbs", errors) && !verbs.iter().all(|verb| VERBS.contains(&verb.as_str())) {
        errors.not_supported("verbs", verbs, &VERBS);
    }
}

/// Reports further entries beside a `*`. Returns true if there is a `*`.
fn check_wildcard(field: &str, list: &[String], nouns: &str, errors: &mut FieldErrors) -> bool {
    let wildcard = list.iter().any(|element| element == "*");
    if wildcard && list.len() > 1 {
        errors.invalid(
            field,
            list,
            format!("if '*' is present, must not specify other {nouns}"),
        );
    }
    wildcard
}

fn path_complaint(path: &str) -> Option<&'static str> {
    let stars = path.matches('*').count();
    match path {
        "" => Some("must not be empty"),
        "/" => None,
        path if !path.starts_with('/') => Some("must start with slash"),
        path if path.contains(' ') => Some("must not contain white-space"),
        path if path.contains("//") => Some("must not contain double slash"),
        path if stars > 1 || (stars == 1 && !path.ends_with("/*")) => Some("wildcard can only do suffix matching"),
        _ => None,
    }
}
