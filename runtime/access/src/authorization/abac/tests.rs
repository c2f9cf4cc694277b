use super::super::{Attributes, AuthorizationOutcome, Authorizer, Target};
use super::*;

fn user(name: &str, groups: &[&str]) -> UserInfo {
    UserInfo {
        name: name.to_owned(),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        ..UserInfo::default()
    }
}

fn permits(list: &PolicyList, user: &UserInfo, verb: &str, target: Target<'_>) -> bool {
    match list.authorize(&Attributes::new(user, verb, target)) {
        AuthorizationOutcome::Ready(decision) => decision.is_allowed(),
        AuthorizationOutcome::Pending(_) => panic!("a local authorizer decides at once"),
    }
}

fn pods(namespace: &str) -> Target<'_> {
    Target::Resource {
        group: "",
        version: "v1",
        resource: "pods",
        subresource: "",
        namespace,
        name: "",
    }
}

const AUTHENTICATED: &[&str] = &["system:authenticated"];

#[test]
fn policies_without_a_version_match_what_they_leave_out() {
    let list = PolicyList::parse(
        r#"
# comments and blank lines are skipped

{"user": "admin"}
{"user": "reader", "readonly": true, "resource": "pods"}
{"group": "dev", "namespace": "work"}
{"readonly": true, "resource": "events"}
"#,
    )
    .unwrap();
    let (admin, reader) = (user("admin", AUTHENTICATED), user("reader", AUTHENTICATED));
    assert!(permits(&list, &admin, "delete", pods("a")) && permits(&list, &admin, "get", Target::Path("/x")));
    assert!(permits(&list, &reader, "list", pods("a")) && !permits(&list, &reader, "create", pods("a")));
    assert!(!permits(&list, &reader, "get", Target::Path("/x")));
    let dev = user("carol", &["dev", "system:authenticated"]);
    assert!(permits(&list, &dev, "create", pods("work")) && !permits(&list, &dev, "create", pods("a")));
    let events = Target::Resource {
        group: "events.k8s.io",
        version: "v1",
        resource: "events",
        subresource: "",
        namespace: "a",
        name: "",
    };
    assert!(permits(&list, &user("any", AUTHENTICATED), "get", events));
    assert!(!permits(
        &list,
        &user("system:anonymous", &["system:unauthenticated"]),
        "get",
        events
    ));
}

#[test]
fn versioned_policies_match_only_what_they_name() {
    let list = PolicyList::parse(
        r#"{"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy", "spec": {"user": "a", "group": "g", "namespace": "*", "resource": "pods", "apiGroup": ""}}
{"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy", "spec": {"user": "*", "nonResourcePath": "/public/*", "readonly": true}}
{"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy", "spec": {"namespace": "*", "resource": "*", "apiGroup": "*"}}"#,
    )
    .unwrap();
    assert!(permits(&list, &user("a", &["g"]), "create", pods("x")));
    assert!(
        !permits(&list, &user("a", &[]), "create", pods("x")),
        "both subjects must match"
    );
    let any = user("any", AUTHENTICATED);
    assert!(permits(&list, &any, "get", Target::Path("/public/a")));
    assert!(!permits(&list, &any, "post", Target::Path("/public/a")));
    assert!(
        !permits(&list, &any, "get", pods("x")),
        "a policy without a subject is for nobody"
    );
    let rules = list.rules(&any, "x");
    assert_eq!((rules.resources.len(), rules.incomplete), (0, false));
    let list = PolicyList::parse(r#"{"user": "a", "readonly": true}"#).unwrap();
    let rules = list.rules(&user("a", &[]), "x");
    assert_eq!(rules.resources[0].verbs, ["get", "list", "watch"]);
    assert_eq!(rules.paths[0].paths, ["*"]);
}

#[test]
fn a_line_that_is_no_policy_is_named() {
    let error = PolicyList::parse("{\"user\": \"a\"}\n{\"user\": 1}").unwrap_err();
    assert_eq!((error.line, error.text.as_str()), (2, "{\"user\": 1}"));
    let error = PolicyList::parse(r#"{"apiVersion": "v9", "kind": "Policy"}"#).unwrap_err();
    assert_eq!(error.problem, r#"no kind "Policy" is registered for version "v9""#);
}
