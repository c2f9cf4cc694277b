//! Rules that select requests by operation and resource.

use planesmith_access::admission::Operation;
use planesmith_api_defs::admissionregistration::v1::{NamedRuleWithOperations, RuleWithOperations};
use planesmith_machinery::group_version::GroupVersionResource;

use crate::equivalents::Equivalents;
use crate::request::Request;
use crate::target::Target;

/// Returns the target under which one of `rules` selects a request, the first that does: in the version of the request, or else
/// in another version of the same resource if `equivalents` are given.
#[must_use]
pub fn find_target<'r>(
    rules: impl Iterator<Item = &'r RuleWithOperations> + Clone,
    request: &Request<'_>,
    equivalents: Option<&Equivalents>,
) -> Option<Target> {
    find(rules, request, equivalents, |rule, _| Some(rule))
}

/// Like [`find_target`], for rules that may be limited to objects with certain names.
#[must_use]
pub fn find_target_by_name<'r>(
    rules: impl Iterator<Item = &'r NamedRuleWithOperations> + Clone,
    request: &Request<'_>,
    equivalents: Option<&Equivalents>,
) -> Option<Target> {
    find(rules, request, equivalents, |rule, request| {
        let names = &rule.resource_names;
        let has_name = names.is_empty() || names.iter().any(|name| name == request.attributes.name);
        has_name.then_some(&rule.rule_with_operations)
    })
}

fn find<'r, R: 'r>(
    rules: impl Iterator<Item = &'r R> + Clone,
    request: &Request<'_>,
    equivalents: Option<&Equivalents>,
    rule_of: impl Fn(&'r R, &Request<'_>) -> Option<&'r RuleWithOperations>,
) -> Option<Target> {
    let rules = rules.filter_map(|rule| rule_of(rule, request));
    if rules
        .clone()
        .any(|rule| selects(rule, request, &request.target.resource))
    {
        return Some(request.target.clone());
    }
    let others = request.others(equivalents?);
    rules.into_iter().find_map(|rule| {
        let found = others.iter().find(|other| selects(rule, request, &other.resource));
        found.cloned()
    })
}

/// True if `rule` selects the request under the name `resource` of its resource.
fn selects(rule: &RuleWithOperations, request: &Request<'_>, resource: &GroupVersionResource) -> bool {
    let attributes = request.attributes;
    has_operation(rule, attributes.operation)
        && includes(&rule.rule.api_groups, &resource.group)
        && includes(&rule.rule.api_versions, &resource.version)
        && has_resource(rule, &resource.resource, attributes.subresource)
        && has_scope(rule, resource, attributes.namespace)
}

fn has_operation(rule: &RuleWithOperations, operation: Operation) -> bool {
    includes(&rule.operations, operation.as_str())
}

fn has_resource(rule: &RuleWithOperations, resource: &str, subresource: &str) -> bool {
    rule.rule.resources.iter().any(|entry| {
        let (name, part) = entry.split_once('/').unwrap_or((entry, ""));
        (name == "*" || name == resource) && (part == "*" || part == subresource)
    })
}

/// True if the rule's scope includes the request. Namespaces are cluster-scoped, though a request for one carries its name as the
/// namespace.
fn has_scope(rule: &RuleWithOperations, resource: &GroupVersionResource, namespace: &str) -> bool {
    let is_namespaces = resource.group.is_empty() && resource.version == "v1" && resource.resource == "namespaces";
    let in_namespace = !is_namespaces && !namespace.is_empty();
    match rule.rule.scope.as_deref() {
        None | Some("*") => true,
        Some("Namespaced") => in_namespace,
        Some("Cluster") => !in_namespace,
        Some(_) => false,
    }
}

fn includes(list: &[String], wanted: &str) -> bool {
    list.iter().any(|entry| entry == "*" || entry == wanted)
}

#[cfg(test)]
mod tests {
    use planesmith_access::admission::{Attributes, Objects};
    use planesmith_access::user::UserInfo;
    use planesmith_api_defs::admissionregistration::v1::Rule;
    use planesmith_api_defs::core::v1::{ConfigMap, Namespace};
    use planesmith_machinery::object::Resource;

    use super::*;

    fn list(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    /// A rule from `operations groups versions resources scope`, with `-` for the core group.
    fn rule(text: &str) -> RuleWithOperations {
        let [operations, groups, versions, resources, scope] = text.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{text}: expected five words")
        };
        RuleWithOperations {
            operations: list(operations),
            rule: Rule {
                api_groups: list(groups.trim_matches('-')),
                api_versions: list(versions),
                resources: list(resources),
                scope: Some(scope.to_owned()),
            },
        }
    }

    fn selected<R: Resource>(text: &str, subresource: &str, namespace: &str) -> bool {
        let user = UserInfo::default();
        let attributes = Attributes {
            subresource,
            namespace,
            ..Attributes::new(Operation::Create, R::RESOURCE, &user)
        };
        let request = Request::new(&attributes, &Objects { new: None, old: None });
        find_target([rule(text)].iter(), &request, None).is_some()
    }

    #[test]
    fn rules_select_by_operation_resource_and_version() {
        for (text, expected) in [
            ("CREATE - v1 configmaps *", true),
            ("* * * * *", true),
            ("* * * */* *", true),
            ("UPDATE,DELETE - v1 configmaps *", false),
            ("CREATE apps v1 configmaps *", false),
            ("CREATE - v2 configmaps *", false),
            ("CREATE - v1 pods *", false),
            ("CREATE - v1 configmaps/status *", false),
            ("CREATE - v1 configmaps Namespaced", true),
            ("CREATE - v1 configmaps Cluster", false),
        ] {
            assert_eq!(selected::<ConfigMap>(text, "", "default"), expected, "{text}");
        }
    }

    #[test]
    fn subresources_are_selected_by_name() {
        for (text, expected) in [
            ("* * * */status *", true),
            ("* * * configmaps/* *", true),
            ("* * * configmaps/status *", true),
            ("* * * */* *", true),
            ("* * * * *", false),
            ("* * * configmaps *", false),
            ("* * * */scale *", false),
        ] {
            assert_eq!(selected::<ConfigMap>(text, "status", "default"), expected, "{text}");
        }
    }

    #[test]
    fn namespaces_are_cluster_scoped_though_requests_carry_their_name() {
        assert!(selected::<Namespace>("* - v1 namespaces Cluster", "", "a"));
        assert!(!selected::<Namespace>("* - v1 namespaces Namespaced", "", "a"));
    }

    #[test]
    fn named_rules_select_objects_with_these_names() {
        let user = UserInfo::default();
        let named = NamedRuleWithOperations {
            resource_names: list("a,b"),
            rule_with_operations: rule("* * * * *"),
        };
        for (name, expected) in [("a", true), ("c", false), ("", false)] {
            let attributes = Attributes {
                name,
                ..Attributes::new(Operation::Create, ConfigMap::RESOURCE, &user)
            };
            let request = Request::new(&attributes, &Objects { new: None, old: None });
            let found = find_target_by_name([named.clone()].iter(), &request, None);
            assert_eq!(found.is_some(), expected, "{name}");
        }
    }
}
