use serde_json::{Value, json};

use super::*;

fn request(spec: &Value, status: &Value) -> PodCertificateRequest {
    let mut whole = json!({
        "signerName": "example.com/s", "podName": "p", "podUID": "1", "serviceAccountName": "s",
        "serviceAccountUID": "2", "nodeName": "n", "nodeUID": "3", "maxExpirationSeconds": 3600,
    });
    if let (Value::Object(whole), Value::Object(spec)) = (&mut whole, spec) {
        whole.extend(spec.clone());
    }
    serde_json::from_value(json!({"metadata": {"name": "r"}, "spec": whole, "status": status})).unwrap()
}

fn messages(check: impl FnOnce(&mut FieldErrors)) -> Vec<String> {
    let mut errors = FieldErrors::default();
    check(&mut errors);
    errors.as_slice().iter().map(|error| error.message()).collect()
}

#[test]
fn a_key_comes_with_one_proof() {
    let cases = [
        (
            json!({}),
            "spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set",
        ),
        (
            json!({"stubPKCS10Request": "AAAA"}),
            "spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR",
        ),
        (
            json!({"pkixPublicKey": "AAAA", "proofOfPossession": "AAAA"}),
            "spec.pkixPublicKey: Invalid value: \"AAAA\": must be a valid PKIX-serialized public key",
        ),
    ];
    for (spec, expected) in cases {
        let request = request(&spec, &json!({}));
        assert_eq!(messages(|errors| request.validate(errors)), [expected]);
    }
}

#[test]
fn requests_end_once() {
    let condition = |type_: &str| json!({"type": type_, "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    let open = json!({});
    let denied = json!({"conditions": [condition("Denied")]});
    let cases = [
        (&open, json!({"conditions": [condition("Denied")]}), ""),
        (&denied, json!({"conditions": [condition("Denied")]}), ""),
        (
            &denied,
            json!({"conditions": [condition("Failed")]}),
            "status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed",
        ),
        (
            &open,
            json!({"certificateChain": "x"}),
            "status: Invalid value: status is immutable unless transitioning to \"Issued\", \"Denied\", or \"Failed\"",
        ),
        (
            &open,
            json!({"conditions": [condition("Failed")], "certificateChain": "x"}),
            "status: Invalid value: non-condition status fields must be empty when denying or failing the \
             PodCertificateRequest",
        ),
        (
            &open,
            json!({"conditions": [condition("Issued")], "certificateChain": "x"}),
            "status.certificateChain: Invalid value: \"x\": issued certificate chain must contain at least one certificate",
        ),
        (
            &open,
            json!({"conditions": [condition("Issued"), condition("Denied"), condition("Other")]}),
            "status.conditions.[1].type: Invalid value: \"Denied\": There may be at most one condition with type \
             \"Issued\", \"Denied\", or \"Failed\"\n\
             status.conditions.[2].type: Unsupported value: \"Other\": supported values: \"Issued\", \"Denied\", \"Failed\"",
        ),
    ];
    for (old, new, expected) in cases {
        let (old, new) = (request(&json!({}), old), request(&json!({}), &new));
        let found = messages(|errors| new.check_answer(&old, Time::ZERO, errors));
        assert_eq!(found.join("\n"), expected);
    }
}
