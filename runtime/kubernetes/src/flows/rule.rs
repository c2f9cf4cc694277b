//! Rules of flow schemas.

use planesmith_access::user::UserInfo;
use planesmith_api_defs::flowcontrol::v1::{
    NonResourcePolicyRule, PolicyRulesWithSubjects, ResourcePolicyRule, Subject,
};
use planesmith_server::request::RequestInfo;

/// Matches everything where names are listed.
const ALL: &str = "*";

/// True if `user` is a subject of `rule`.
pub(super) fn is_of_user(rule: &PolicyRulesWithSubjects, user: &UserInfo) -> bool {
    rule.subjects.iter().any(|subject| is_by(subject, user))
}

/// True if `rule` is about such requests of its subjects.
pub(super) fn is_for_request(rule: &PolicyRulesWithSubjects, info: &RequestInfo) -> bool {
    match info.is_resource() {
        true => rule.resource_rules.iter().any(|rule| is_of_resource(rule, info)),
        false => rule.non_resource_rules.iter().any(|rule| is_of_path(rule, info)),
    }
}

fn is_by(subject: &Subject, user: &UserInfo) -> bool {
    let Subject {
        user: one,
        group,
        service_account: account,
        ..
    } = subject;
    let account = account.as_ref().is_some_and(|account| {
        let name = user.name.strip_prefix("system:serviceaccount:");
        let parts = name.and_then(|name| name.split_once(':'));
        parts.is_some_and(|(namespace, name)| {
            namespace == account.namespace && [ALL, name].contains(&account.name.as_str())
        })
    });
    account
        || one
            .as_ref()
            .is_some_and(|one| [ALL, &user.name].contains(&one.name.as_str()))
        || group
            .as_ref()
            .is_some_and(|group| group.name == ALL || user.is_in(&group.name))
}

fn is_of_resource(rule: &ResourcePolicyRule, info: &RequestInfo) -> bool {
    let is_resource = |named: &String| match info.subresource() {
        "" => named == info.resource(),
        below => named.split_once('/') == Some((info.resource(), below)),
    };
    let place = match info.namespace() {
        "" => rule.cluster_scope,
        namespace => names(&rule.namespaces, namespace),
    };
    place
        && names(&rule.verbs, &info.verb_text())
        && names(&rule.api_groups, info.group())
        && rule.resources.iter().any(|named| named == ALL || is_resource(named))
}

fn is_of_path(rule: &NonResourcePolicyRule, info: &RequestInfo) -> bool {
    let fits = |url: &String| match (url.strip_suffix('*'), info.path().strip_prefix(url.as_str())) {
        (Some(start), _) => info.path().starts_with(start),
        // The paths below belong to a path.
        (None, rest) => rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
    };
    names(&rule.verbs, &info.verb_text()) && rule.non_resource_urls.iter().any(fits)
}

fn names(list: &[String], name: &str) -> bool {
    list.iter().any(|named| named == ALL || named == name)
}

#[cfg(test)]
mod tests {
    use http::Method;
    use planesmith_machinery::json::{self, Strictness};
    use serde_json::json;

    use super::*;

    fn rule(document: &serde_json::Value) -> PolicyRulesWithSubjects {
        let mut rule = PolicyRulesWithSubjects::default();
        json::decode(document.to_string().as_bytes(), &mut rule, Strictness::Strict).unwrap();
        rule
    }

    fn user(name: &str) -> UserInfo {
        UserInfo {
            name: name.to_owned(),
            groups: vec!["dev".to_owned()],
            ..UserInfo::default()
        }
    }

    #[track_caller]
    fn check(rule: &PolicyRulesWithSubjects, name: &str, path: &str, expected: bool) {
        let info = RequestInfo::new(&Method::GET, &path.parse().unwrap());
        let is_about = is_of_user(rule, &user(name)) && is_for_request(rule, &info);
        assert_eq!(is_about, expected, "{name} {path}");
    }

    #[test]
    fn rules_are_about_subjects_and_what_they_ask_for() {
        let rule = rule(&json!({
            "subjects": [
                {"kind": "User", "user": {"name": "ann"}},
                {"kind": "ServiceAccount", "serviceAccount": {"namespace": "n", "name": "*"}},
            ],
            "resourceRules": [{
                "verbs": ["get"], "apiGroups": ["apps"], "resources": ["deployments", "deployments/status"], "namespaces": ["n"],
            }],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["/healthz", "/livez/*"]}],
        }));
        for (name, path, expected) in [
            ("ann", "/apis/apps/v1/namespaces/n/deployments/a", true),
            ("ann", "/apis/apps/v1/namespaces/n/deployments/a/status", true),
            ("ann", "/apis/apps/v1/namespaces/n/deployments/a/scale", false),
            ("ann", "/apis/apps/v1/namespaces/n/deployments", false),
            ("ann", "/apis/apps/v1/namespaces/m/deployments/a", false),
            ("ann", "/healthz", true),
            ("ann", "/healthz/ping", true),
            ("ann", "/healthzz", false),
            ("ann", "/livez/ping", true),
            ("ann", "/readyz", false),
            ("bob", "/healthz", false),
            ("system:serviceaccount:n:any", "/healthz", true),
            ("system:serviceaccount:m:any", "/healthz", false),
        ] {
            check(&rule, name, path, expected);
        }
    }

    #[test]
    fn the_whole_cluster_is_a_place_of_its_own() {
        let rule = rule(&json!({
            "subjects": [{"kind": "Group", "group": {"name": "dev"}}],
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": true}],
        }));
        check(&rule, "ann", "/api/v1/nodes", true);
        check(&rule, "ann", "/api/v1/namespaces/n/pods", false);
    }
}
