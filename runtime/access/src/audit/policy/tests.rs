//! Policies: requests that they match, and documents that are refused.

use serde_json::{Value, json};

use super::*;
use crate::audit::Stage;

fn parse(document: &Value) -> Result<Policy, PolicyError> {
    Policy::parse(document.to_string().as_bytes())
}

fn policy(rules: &Value) -> Policy {
    let document = json!({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": rules});
    parse(&document).unwrap()
}

fn pods(subresource: &'static str) -> Target<'static> {
    Target::Resource {
        group: "",
        version: "v1",
        resource: "pods",
        subresource,
        namespace: "a",
        name: "p",
    }
}

fn level(rule: &Value, target: &Target<'_>) -> Level {
    let user = UserInfo {
        name: "ann".to_owned(),
        groups: vec!["dev".to_owned()],
        ..UserInfo::default()
    };
    policy(&json!([rule])).decide(Some(&user), "get", target).level
}

#[test]
fn the_first_matching_rule_decides() {
    let policy = policy(&json!([{"level": "None", "users": ["bob"]}, {"level": "Metadata"}, {"level": "Request"}]));
    let bob = UserInfo {
        name: "bob".to_owned(),
        ..UserInfo::default()
    };
    assert_eq!(policy.decide(Some(&bob), "get", &pods("")).level, Level::None);
    assert_eq!(policy.decide(None, "get", &pods("")).level, Level::Metadata);
}

#[test]
fn resources_are_matched_with_their_subresources() {
    for (pattern, below, expected) in [
        ("pods", "", true),
        ("pods", "log", false),
        ("pods/log", "log", true),
        ("pods/log", "", false),
        ("*", "log", true),
        ("*/log", "log", true),
        ("*/log", "", false),
        ("pods/*", "log", true),
        ("pods/*", "", true),
        ("secrets", "", false),
    ] {
        let rule = json!({"level": "Metadata", "resources": [{"group": "", "resources": [pattern]}]});
        let matches = level(&rule, &pods(below)) == Level::Metadata;
        assert_eq!(matches, expected, "{pattern} and pods/{below}");
    }
}

#[test]
fn every_list_of_a_rule_must_match() {
    for (rule, expected) in [
        (json!({"userGroups": ["dev"]}), true),
        (json!({"userGroups": ["ops"]}), false),
        (json!({"verbs": ["get"], "users": ["ann"]}), true),
        (json!({"verbs": ["list"], "users": ["ann"]}), false),
        (json!({"namespaces": ["a"]}), true),
        (json!({"namespaces": [""]}), false),
        (json!({"nonResourceURLs": ["/api*"]}), false),
        (json!({"resources": [{"group": ""}]}), true),
        (
            json!({"resources": [{"group": "", "resources": ["pods"], "resourceNames": ["q"]}]}),
            false,
        ),
    ] {
        let mut rule = rule;
        rule["level"] = json!("Request");
        assert_eq!(level(&rule, &pods("")) == Level::Request, expected, "{rule}");
    }
    let path = Target::Path("/api/nope");
    assert_eq!(
        level(&json!({"level": "Request", "nonResourceURLs": ["/api*"]}), &path),
        Level::Request
    );
    assert_eq!(
        level(&json!({"level": "Request", "nonResourceURLs": ["/api"]}), &path),
        Level::None
    );
    assert_eq!(
        level(&json!({"level": "Request", "namespaces": ["a"]}), &path),
        Level::None
    );
}

#[test]
fn stages_add_up_and_managed_fields_follow_the_rule() {
    let document = json!({
        "apiVersion": "audit.k8s.io/v1", "kind": "Policy",
        "omitStages": ["RequestReceived"], "omitManagedFields": true,
        "rules": [
            {"level": "Metadata", "verbs": ["get"], "omitStages": ["Panic"]},
            {"level": "Metadata", "omitManagedFields": false},
        ],
    });
    let policy = parse(&document).unwrap();
    let decision = policy.decide(None, "get", &pods(""));
    assert!(decision.omitted_stages.contains(Stage::RequestReceived) && decision.omitted_stages.contains(Stage::Panic));
    assert!(decision.omit_managed_fields);
    assert!(!policy.decide(None, "list", &pods("")).omit_managed_fields);
}

#[test]
fn mistakes_are_reported_with_their_fields() {
    for (rules, expected) in [
        (json!([]), "no rules"),
        (json!([{"users": ["a"]}]), "rules[0].level: Required value"),
        (json!([{"level": "All"}]), "rules[0].level: Unsupported value: \"All\""),
        (
            json!([{"level": "None", "omitStages": ["End"]}]),
            "rules[0].omitStages[0]: Unsupported value",
        ),
        (
            json!([{"level": "None", "nonResourceURLs": ["api"]}]),
            "must begin with a '/'",
        ),
        (
            json!([{"level": "None", "nonResourceURLs": ["/a*b"]}]),
            "must be the final character",
        ),
        (
            json!([{"level": "None", "nonResourceURLs": ["/a"], "namespaces": ["b"]}]),
            "cannot apply to both",
        ),
        (
            json!([{"level": "None", "resources": [{"group": "A"}]}]),
            "rules[0].resources[0].group: Invalid value",
        ),
        (
            json!([{"level": "None", "resources": [{"group": "", "resourceNames": ["a"]}]}]),
            "at least one resource",
        ),
        (json!([{"level": "None", "user": "a"}]), "unknown field `user`"),
    ] {
        let document = json!({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": rules});
        let problem = parse(&document).unwrap_err().to_string();
        assert!(problem.contains(expected), "{rules}: {problem}");
    }
    let other = json!({"apiVersion": "v1", "kind": "Pod"});
    assert!(parse(&other).unwrap_err().to_string().contains("expected Policy"));
    let twice = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- {level: Metadata, level: None}\n";
    assert_eq!(
        Policy::parse(twice.as_bytes()).unwrap_err().to_string(),
        "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"level\" already set in map"
    );
}
