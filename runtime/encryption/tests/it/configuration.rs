//! Problems of configurations.

use planesmith_encryption::{EncryptionConfiguration, Validation};

use crate::{VALIDATION, snapshot, snapshot_with};

const KEY: &str = "MTIzNDU2Nzg5MDEyMzQ1Ng==";

fn check(resources: &str, expected: &str) {
    let problem = snapshot(resources).unwrap_err();
    assert_eq!(problem, expected, "{resources}");
}

fn of_resources(resources: &str) -> String {
    format!("[{{resources: {resources}, providers: [{{identity: {{}}}}]}}]")
}

fn of_provider(provider: &str) -> String {
    format!("[{{resources: [secrets], providers: [{provider}]}}]")
}

#[test]
fn something_is_configured() {
    check("[]", "resources: Required value: at least one resources is required");
    check(
        "[{providers: [{identity: {}}]}]",
        "resources[0].resources: Required value: at least one resources[0].resources is required",
    );
    check(
        "[{resources: [secrets]}]",
        "resources[0].providers: Required value: at least one resources[0].providers is required",
    );
}

#[test]
fn resources_have_names_that_are_encrypted() {
    for (name, problem) in [
        ("Secrets", "resource name should not contain capital letters"),
        (
            "*",
            "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources",
        ),
        (
            "apiserveripinfo",
            "resources which do not have REST API/s cannot be encrypted",
        ),
        (
            "ingresses.extensions",
            "'extensions' group has been removed and cannot be used for encryption",
        ),
        (
            "secrets.*",
            "encrypting the same resource across groups is not supported",
        ),
    ] {
        let expected = format!("resources[0].resources[0]: Invalid value: {name:?}: {problem}");
        check(&of_resources(&format!("['{name}']")), &expected);
    }
    let problem = snapshot(&of_resources("[events.events.k8s.io]")).unwrap_err();
    assert!(
        problem.ends_with("Use 'events' instead in the config file"),
        "{problem}"
    );
}

#[test]
fn resources_neither_repeat_nor_overlap() {
    check(
        &of_resources("[secrets, secrets]"),
        r#"resources[0].resources: Invalid value: ["secrets","secrets"]: the same resource cannot be specified multiple times"#,
    );
    for overlap in ["[secrets, '*.']", "['*.apps', deployments.apps]", "['*.*', secrets]"] {
        let problem = snapshot(&of_resources(overlap)).unwrap_err();
        assert!(problem.ends_with("is not allowed as they will be masked"), "{problem}");
    }
    let provider = "providers: [{identity: {}}]";
    for (earlier, later, expected) in [
        (
            "'*.'",
            "secrets",
            r#"resource "secrets" is masked by earlier rule "*.""#,
        ),
        (
            "'*.apps'",
            "deployments.apps",
            r#"resource "deployments.apps" is masked by earlier rule "*.apps""#,
        ),
        ("'*.*'", "'*.'", r#"resource "*." is masked by earlier rule "*.*""#),
    ] {
        let both = format!("[{{resources: [{earlier}], {provider}}}, {{resources: [{later}], {provider}}}]");
        check(&both, expected);
    }
    let both = format!("[{{resources: [secrets], {provider}}}, {{resources: ['*.', '*.apps'], {provider}}}]");
    snapshot(&both).unwrap();
}

#[test]
fn an_element_has_one_provider_and_no_message_has_a_key() {
    let keys = format!("{{keys: [{{name: k, secret: {KEY}}}]}}");
    let both = format!("{{aesgcm: {keys}, aescbc: {keys}}}");
    let problem = snapshot(&of_provider(&both)).unwrap_err();
    assert!(problem.contains("more than one provider specified"), "{problem}");
    assert!(!problem.contains(KEY), "{problem}");
    let problem = snapshot(&of_provider("{}")).unwrap_err();
    assert!(
        problem.starts_with("resources[0].providers[0]: Invalid value: "),
        "{problem}"
    );
    assert!(
        problem.contains("does not contain any of the expected providers"),
        "{problem}"
    );
    let wrong = format!("{{aesgcm: {{keys: '{KEY}'}}}}");
    let problem = snapshot(&of_provider(&wrong)).unwrap_err();
    assert!(!problem.contains(KEY), "{problem}");
}

#[test]
fn keys_have_names_and_lengths() {
    let at = "resources[0].providers[0].aesgcm.keys";
    let check = |keys: &str, expected: &str| {
        let problem = snapshot(&of_provider(&format!("{{aesgcm: {{keys: {keys}}}}}"))).unwrap_err();
        assert_eq!(problem, expected);
    };
    check("[]", &format!("{at}: Required value: at least one keys is required"));
    check(
        "[{}]",
        &format!(
            "[{at}[0].name: Required value: name is a mandatory field for a key, {at}[0].secret: Required value: secret is a \
             mandatory field for a key]"
        ),
    );
    check(
        "[{name: k, secret: '???'}]",
        &format!("{at}[0].secret: Invalid value: \"REDACTED\": secrets must be base64 encoded"),
    );
    check(
        "[{name: k, secret: AAAA}]",
        &format!(
            "{at}[0].secret: Invalid value: \"REDACTED\": secret is not of the expected length, got 3, expected one of [16 24 32]"
        ),
    );
    let short = format!("{{secretbox: {{keys: [{{name: k, secret: {KEY}}}]}}}}");
    let problem = snapshot(&of_provider(&short)).unwrap_err();
    assert!(problem.ends_with("got 16, expected one of [32]"), "{problem}");
}

#[test]
fn plugins_have_names_sockets_and_times() {
    let check = |kms: &str, expected: &str| {
        let problem = snapshot(&of_provider(&format!("{{kms: {{apiVersion: v2, {kms}}}}}"))).unwrap_err();
        let problem = problem.strip_prefix("resources[0].providers[0].kms.").unwrap();
        assert_eq!(problem, expected);
    };
    let socket = "endpoint: 'unix:///tmp/none.sock'";
    check(socket, "name: Required value: name is a mandatory field for a provider");
    check(
        &format!("name: 'a:b', {socket}"),
        "name: Invalid value: \"a:b\": invalid KMS provider name a:b, must not contain ':'",
    );
    check(
        "name: a",
        "endpoint: Invalid value: \"\": endpoint is a mandatory field for a kms",
    );
    check(
        "name: a, endpoint: 'http://x'",
        "endpoint: Invalid value: \"http://x\": unsupported scheme \"http\" for KMS provider, only unix is supported",
    );
    check(
        &format!("name: a, {socket}, cachesize: 3"),
        "cachesize: Invalid value: 3: cachesize is not supported in v2",
    );
    for timeout in ["0s", "-1s"] {
        let problem = snapshot(&of_provider(&format!(
            "{{kms: {{apiVersion: v2, name: a, timeout: {timeout}, {socket}}}}}"
        )));
        assert!(problem.unwrap_err().ends_with("timeout should be a positive value"));
    }
    let twice = format!("{{kms: {{apiVersion: v2, name: a, {socket}}}}}");
    let problem = snapshot(&of_provider(&format!("{twice}, {twice}"))).unwrap_err();
    assert!(
        problem.ends_with("duplicate KMS provider name a, names must be unique"),
        "{problem}"
    );
}

#[test]
fn plugins_of_version_1_are_refused() {
    let provider = of_provider("{kms: {name: a, endpoint: 'unix:///tmp/none.sock'}}");
    let problem = snapshot(&provider).unwrap_err();
    assert!(problem.contains("--feature-gates=KMSv1=true"), "{problem}");
    let allowing = Validation {
        allows_kms_v1: true,
        ..VALIDATION
    };
    let problem = snapshot_with(&provider, allowing).unwrap_err();
    assert!(
        problem.ends_with("this server has no KMSv1; use a plugin with apiVersion v2"),
        "{problem}"
    );
}

#[test]
fn a_file_is_of_the_kind_and_has_known_fields_only() {
    let problem = |text: &str| EncryptionConfiguration::parse(text.as_bytes()).unwrap_err();
    assert_eq!(problem(""), "the file is empty");
    assert!(problem("kind: Other\napiVersion: v1\n").starts_with("no kind \"Other\" is registered"));
    let head = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n";
    assert!(problem(&format!("{head}resource: []\n")).contains("unknown field `resource`"));
    assert!(problem("a: [").contains("line"));
    assert_eq!(
        problem(&format!("{head}resources: []\nresources: []\n")),
        "strict decoding error: yaml: unmarshal errors:\n  line 4: key \"resources\" already set in map"
    );
}

#[test]
fn no_problem_of_a_file_quotes_a_key() {
    // A template with its braces, keys as names of fields, and keys at wrong places.
    for provider in [
        format!("{{aesgcm: {{keys: [{{name: k, secret: {{{{{KEY}}}}}}}]}}}}"),
        format!("{{aesgcm: {{keys: [{{name: k, secret: {{{KEY}}}}}]}}}}"),
        format!("{{aesgcm: {{keys: [{{name: k, {KEY}}}]}}}}"),
        format!("{{aesgcm: {{keys: [{{name: k, {KEY}, {KEY}}}]}}}}"),
        format!("{{aesgcm: {{keys: [{KEY}]}}}}"),
        format!("{{aesgcm: {{{KEY}}}}}"),
        format!("{{aesgcm: {KEY}}}"),
        format!("{{{KEY}}}"),
        format!("{{aesgcm: {{keys: [{{name: k, secret: !!int {KEY}}}]}}}}"),
        format!("{{aesgcm: {{keys: [{{name: k, secret: '{KEY}'}}]}}, identity: {{}}}}"),
        format!("{{secretbox: {{keys: [{{name: k, secret: '{KEY}'}}, {{name: '', secret: '{KEY}-'}}]}}}}"),
    ] {
        let problem = snapshot(&of_provider(&provider)).unwrap_err();
        assert!(!problem.contains(&KEY[..8]), "{problem}");
    }
}

#[test]
fn no_debug_output_has_a_key() {
    let providers = format!("{{aesgcm: {{keys: [{{name: first, secret: {KEY}}}]}}}}, {{identity: {{}}}}");
    let content = format!(
        "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: {}\n",
        of_provider(&providers)
    );
    let configuration = EncryptionConfiguration::parse(content.as_bytes()).unwrap();
    let snapshot = snapshot(&of_provider(&providers)).unwrap();
    let debug = format!("{configuration:?} {snapshot:?}");
    assert!(debug.contains("first"), "{debug}");
    assert!(!debug.contains(KEY) && !debug.contains("1234567890123456"), "{debug}");
}
