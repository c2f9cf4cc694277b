use std::time::Duration;

use planesmith_control_plane::access_reviews::{FailurePolicy, ReviewVersion};

use super::*;

fn check(version: &str, authorizers: &str) -> Result<Vec<CheckedAuthorizer>> {
    let text = format!("apiVersion: {version}\nkind: AuthorizationConfiguration\nauthorizers:\n{authorizers}");
    AuthorizationConfiguration::parse(text.as_bytes())?.check(&AuthorizationMode::KUBERNETES)
}

fn refused(authorizers: &str) -> String {
    format!("{:#}", check(VERSIONS[0], authorizers).unwrap_err())
}

fn webhook(kubeconfig: &str, more: &str) -> String {
    format!(
        "- type: Webhook
  name: policy.example.com
  webhook:
    timeout: 3s
    subjectAccessReviewVersion: v1
    failurePolicy: Deny
    connectionInfo: {{type: KubeConfigFile, kubeConfigFile: {kubeconfig}}}
{more}"
    )
}

#[test]
fn a_mode_of_a_component_is_a_type() {
    let keys = AuthorizationMode::new("Keys", "Users may do what their keys open");
    let text = format!(
        "apiVersion: {}\nkind: AuthorizationConfiguration\nauthorizers: [{{type: Keys, name: keys}}]",
        VERSIONS[0]
    );
    let configuration = AuthorizationConfiguration::parse(text.as_bytes()).unwrap();
    assert_eq!(configuration.check(&[keys]).unwrap()[0].mode, keys);
    assert!(configuration.check(&AuthorizationMode::KUBERNETES).is_err());
}

#[test]
fn a_field_that_is_written_twice_is_refused() {
    let problem = refused("- {type: RBAC, name: rbac}\nauthorizers: []\n");
    let expected = "strict decoding error: yaml: unmarshal errors:\n  line 5: key \"authorizers\" already set in map";
    assert_eq!(problem, expected);
}

#[test]
fn a_chain_has_its_order_and_the_defaults_of_webhooks() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let conditions = "    matchConditionSubjectAccessReviewVersion: v1
    cacheUnauthorizedRequests: false
    matchConditions: [{expression: \"request.user != 'admin'\"}]
";
    let hook = webhook(file.path().to_str().unwrap(), conditions);
    for version in VERSIONS {
        let chain = check(
            version,
            &format!("{hook}- {{type: Node, name: node}}\n- {{type: RBAC, name: rbac}}\n"),
        );
        let chain = chain.unwrap();
        let modes: Vec<AuthorizationMode> = chain.iter().map(|authorizer| authorizer.mode).collect();
        let expected = [
            AuthorizationMode::WEBHOOK,
            AuthorizationMode::NODE,
            AuthorizationMode::RBAC,
        ];
        assert_eq!(modes, expected);
        let hook = chain[0].webhook.as_ref().unwrap();
        assert_eq!(hook.kubeconfig, file.path());
        assert_eq!(hook.conditions.len(), 1);
        assert_eq!(
            hook.settings,
            ReviewSettings {
                version: ReviewVersion::V1,
                authorized_ttl: Duration::from_secs(300),
                unauthorized_ttl: Duration::ZERO,
                timeout: Duration::from_secs(3),
                failure_policy: FailurePolicy::Deny,
            }
        );
    }
}

#[test]
fn every_wrong_field_is_named() {
    for (authorizers, expected) in [
        (
            "",
            "authorizers: Required value: at least one authorization mode must be defined",
        ),
        ("- {name: x}", "authorizers[0].type: Required value"),
        (
            "- {type: Magic, name: magic}",
            "authorizers[0].type: Unsupported value: \"Magic\": supported values: \"ABAC\", \"AlwaysAllow\", \"AlwaysDeny\", \
             \"Node\", \"RBAC\", \"Webhook\"",
        ),
        (
            "- {type: RBAC, name: rbac}\n- {type: RBAC, name: rbac}",
            "authorizers[1].type: Duplicate value: \"RBAC\"",
        ),
        (
            "- {type: RBAC, name: rbac}\n- {type: Node, name: rbac}",
            "authorizers[1].name: Duplicate value: \"rbac\"",
        ),
        (
            "- {type: RBAC, name: roles}",
            "expected name rbac for authorizer RBAC instead of roles",
        ),
        (
            "- {type: Webhook, name: w}",
            "authorizers[0].webhook: Required value: required when type=Webhook",
        ),
        (
            "- {type: Node, name: node, webhook: {}}",
            "authorizers[0].webhook: Invalid value: \"non-null\": may only be specified when type=Webhook",
        ),
        ("- {type: Node, name: node, webhok: {}}", "unknown field `webhok`"),
    ] {
        let refused = refused(authorizers);
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn every_wrong_field_of_a_webhook_is_named() {
    let webhook_fields = "{timeout: 31s, authorizedTTL: -1s, matchConditions: [{expression: request.nobody}, {}]}";
    let all = refused(&format!("- type: Webhook\n  name: w\n  webhook: {webhook_fields}"));
    for expected in [
        "authorizers[0].timeout: Invalid value: \"31s\": must be > 0s and <= 30s",
        "authorizers[0].authorizedTTL: Invalid value: \"-1s\": must be > 0s",
        "authorizers[0].subjectAccessReviewVersion: Required value",
        "authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are",
        "authorizers[0].failurePolicy: Required value",
        "authorizers[0].connectionInfo.type: Required value",
        "authorizers[0].matchConditions[0].expression: Invalid value: \"request.nobody\": compilation failed:",
        "authorizers[0].matchConditions[1].expression: Required value",
    ] {
        assert!(all.contains(expected), "{expected}: {all}");
    }
    for (file, why) in [
        ("/does/not/exist", "error loading file: No such file or directory"),
        ("kubeconfig", "must be an absolute path"),
        ("/", "must be a regular file"),
    ] {
        let missing = refused(&webhook(file, ""));
        let expected = format!("authorizers[0].connectionInfo.kubeConfigFile: Invalid value: \"{file}\": {why}");
        assert!(missing.starts_with(&expected), "{missing}");
    }
    let conditions: Vec<String> = (0..65)
        .map(|number| format!("{{expression: '{number} == 0'}}"))
        .collect();
    let many = webhook(
        "/does/not/exist",
        &format!("    matchConditions: [{}]\n", conditions.join(", ")),
    );
    let many = refused(&many);
    assert!(
        many.contains("authorizers[0].matchConditions: Too many: 65: must have at most 64 items"),
        "{many}"
    );
}
