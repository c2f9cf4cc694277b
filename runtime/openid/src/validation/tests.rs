use planesmith_machinery::clock::SystemClock;
use serde_json::{Value, json};

use super::*;

fn check(jwt: &Value) -> Result<usize, String> {
    let file = json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthenticationConfiguration",
        "jwt": jwt,
    });
    let configuration = AuthenticationConfiguration::parse(file.to_string().as_bytes())?;
    validation().check(&configuration).map(|settings| settings.len())
}

fn validation() -> Validation {
    Validation {
        disallowed: vec!["https://kubernetes.default.svc".to_owned()],
        algorithms: vec![Algorithm::Rs256],
        allows_egress: true,
        outbound: Outbound::default(),
        clock: Arc::new(SystemClock),
    }
}

#[test]
fn networks_that_issuers_select_must_be_configured() {
    let dialer_of = |selector: &str| {
        let file = json!({
            "apiVersion": "apiserver.config.k8s.io/v1",
            "kind": "AuthenticationConfiguration",
            "jwt": [authenticator(&[("/issuer/egressSelectorType", json!(selector))])],
        });
        let configuration = AuthenticationConfiguration::parse(file.to_string().as_bytes()).unwrap();
        validation().dialer(&configuration.jwt[0].issuer).map(drop)
    };
    assert_eq!(dialer_of(""), Ok(()));
    let expected = "oidc: egress lookup required with egress selector type \"cluster\"";
    assert_eq!(dialer_of("cluster"), Err(expected.to_owned()));
}

/// An authenticator with changes at JSON pointers.
fn authenticator(changes: &[(&str, Value)]) -> Value {
    let mut authenticator = json!({
        "issuer": {"url": "https://issuer.example.com", "audiences": ["kubernetes"]},
        "claimValidationRules": [],
        "claimMappings": {"username": {"claim": "sub", "prefix": ""}, "uid": {}, "groups": {}, "extra": []},
        "userValidationRules": [],
    });
    for (pointer, value) in changes {
        let (holder, key) = pointer.rsplit_once('/').unwrap();
        authenticator.pointer_mut(holder).unwrap()[key] = value.clone();
    }
    authenticator
}

#[test]
fn a_field_that_is_written_twice_is_refused() {
    let text = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous: {enabled: false, enabled: true}\n";
    let problem = AuthenticationConfiguration::parse(text.as_bytes()).unwrap_err();
    let expected = "strict decoding error: yaml: unmarshal errors:\n  line 3: key \"enabled\" already set in map";
    assert_eq!(problem, expected);
}

#[test]
fn a_complete_authenticator_is_valid() {
    let complete = authenticator(&[
        (
            "/issuer/discoveryURL",
            json!("https://other.example.com/.well-known/openid-configuration"),
        ),
        ("/issuer/audiences", json!(["a", "b"])),
        ("/issuer/audienceMatchPolicy", json!("MatchAny")),
        ("/issuer/egressSelectorType", json!("cluster")),
        (
            "/claimValidationRules",
            json!([{"claim": "hd", "requiredValue": "x"}, {"expression": "claims.exp > 0", "message": "m"}]),
        ),
        ("/claimMappings/username", json!({"expression": "claims.sub"})),
        ("/claimMappings/groups", json!({"claim": "roles", "prefix": "x:"})),
        ("/claimMappings/uid", json!({"claim": "id"})),
        (
            "/claimMappings/extra",
            json!([{"key": "acme.io/team", "valueExpression": "claims.team"}]),
        ),
        (
            "/userValidationRules",
            json!([{"expression": "user.username != ''", "message": "m"}]),
        ),
    ]);
    assert_eq!(check(&json!([complete])), Ok(1));
    assert_eq!(check(&json!([])), Ok(0));
    assert_eq!(check(&json!(null)), Ok(0));
}

#[test]
fn each_problem_names_its_field() {
    for (pointer, value, problem) in [
        ("/issuer/url", json!(""), "jwt[0].issuer.url: Required value"),
        (
            "/issuer/url",
            json!("http://issuer.example.com"),
            "jwt[0].issuer.url: Invalid value: \"http://issuer.example.com\": URL scheme must be https",
        ),
        (
            "/issuer/url",
            json!("https://kubernetes.default.svc"),
            "jwt[0].issuer.url: Invalid value: \"https://kubernetes.default.svc\": URL must not overlap with disallowed issuers: \
             [https://kubernetes.default.svc]",
        ),
        (
            "/issuer/discoveryURL",
            json!("https://issuer.example.com/"),
            "jwt[0].issuer.discoveryURL: Invalid value: \"https://issuer.example.com/\": discoveryURL must be different from URL",
        ),
        (
            "/issuer/audiences",
            json!([]),
            "jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required",
        ),
        (
            "/issuer/audiences",
            json!(["a", "b"]),
            "jwt[0].issuer.audienceMatchPolicy: Invalid value: \"\": audienceMatchPolicy must be MatchAny for multiple audiences",
        ),
        (
            "/issuer/egressSelectorType",
            json!("etcd"),
            "jwt[0].issuer.egressSelectorType: Invalid value: \"etcd\": egress selector must be either controlplane or cluster",
        ),
        (
            "/claimValidationRules",
            json!([{}]),
            "jwt[0].claimValidationRules[0]: Required value: claim or expression is required",
        ),
        (
            "/claimValidationRules",
            json!([{"expression": "claims.a"}]),
            "jwt[0].claimValidationRules[0].expression: Invalid value: \"claims.a\": must evaluate to bool",
        ),
        (
            "/claimMappings/username",
            json!({}),
            "jwt[0].claimMappings.username: Required value: claim or expression is required",
        ),
        (
            "/claimMappings/username",
            json!({"claim": "sub"}),
            "jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an \
             empty string to disable prefixing",
        ),
        (
            "/claimMappings/username",
            json!({"expression": "claims.sub", "prefix": "x"}),
            "jwt[0].claimMappings.username.prefix: Invalid value: \"x\": may not be specified when expression is set",
        ),
        (
            "/claimMappings/username",
            json!({"expression": "claims.email"}),
            "jwt[0].claimMappings.username.expression: Invalid value: \"claims.email\": claims.email_verified must be used in \
             claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression \
             when claims.email is used in claimMappings.username.expression",
        ),
        (
            "/claimMappings/extra",
            json!([{"key": "x.kubernetes.io/a", "valueExpression": "'a'"}]),
            "jwt[0].claimMappings.extra[0].key: Invalid value: \"x.kubernetes.io/a\": k8s.io, kubernetes.io and their subdomains \
             are reserved for Kubernetes use",
        ),
        (
            "/userValidationRules",
            json!([{"expression": ""}]),
            "jwt[0].userValidationRules[0].expression: Required value",
        ),
    ] {
        assert_eq!(
            check(&json!([authenticator(&[(pointer, value)])])),
            Err(problem.to_owned())
        );
    }
}

#[test]
fn issuers_differ() {
    let twice = check(&json!([authenticator(&[]), authenticator(&[])]));
    let problem = "jwt[1].issuer.url: Duplicate value: \"https://issuer.example.com\"";
    assert_eq!(twice, Err(problem.to_owned()));
}

#[test]
fn an_address_may_be_checked_elsewhere() {
    let username = ("/claimMappings/username", json!({"expression": "claims.email"}));
    for (pointer, value) in [
        (
            "/claimMappings/extra",
            json!([{"key": "acme.io/verified", "valueExpression": "string(claims.email_verified)"}]),
        ),
        (
            "/claimValidationRules",
            json!([{"expression": "claims.?email_verified.orValue(true) == true"}]),
        ),
    ] {
        assert_eq!(
            check(&json!([authenticator(&[username.clone(), (pointer, value)])])),
            Ok(1)
        );
    }
}

#[test]
fn certificates_are_not_part_of_messages() {
    let problem = check(&json!([authenticator(&[(
        "/issuer/certificateAuthority",
        json!("secret")
    )])]))
    .unwrap_err();
    assert!(
        problem.starts_with("jwt[0].issuer.certificateAuthority: Invalid value: \"<omitted>\": "),
        "{problem}"
    );
    assert!(!problem.contains("secret"), "{problem}");
}

#[test]
fn files_of_other_kinds_are_refused() {
    let parse = |text: &str| AuthenticationConfiguration::parse(text.as_bytes()).map(|_| ());
    assert!(parse("{kind: AuthenticationConfiguration, apiVersion: apiserver.config.k8s.io/v1beta1}").is_ok());
    for wrong in [
        "",
        "{kind: AuthorizationConfiguration, apiVersion: apiserver.config.k8s.io/v1}",
        "{kind: AuthenticationConfiguration, apiVersion: apiserver.config.k8s.io/v2}",
        "{kind: AuthenticationConfiguration, apiVersion: apiserver.config.k8s.io/v1, jwts: []}",
    ] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}
