use std::collections::BTreeMap;

use planesmith_machinery::strategy::User;

use super::*;

fn condition(type_: &str, status: &str) -> CertificateSigningRequestCondition {
    CertificateSigningRequestCondition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        ..CertificateSigningRequestCondition::default()
    }
}

fn request(conditions: &[(&str, &str)]) -> CertificateSigningRequest {
    let mut request = CertificateSigningRequest::default();
    request.status.conditions = conditions
        .iter()
        .map(|(type_, status)| condition(type_, status))
        .collect();
    request
}

fn changes(new: &CertificateSigningRequest, old: &CertificateSigningRequest, part: Part) -> Option<String> {
    let mut errors = FieldErrors::default();
    new.status.check_change(&old.status, part, &mut errors);
    errors.joined()
}

#[test]
fn decisions_are_made_by_approval_and_stay() {
    let (open, approved) = (request(&[]), request(&[("Approved", "True")]));
    assert_eq!(changes(&approved, &open, Part::Approval), None);
    assert_eq!(
        changes(&approved, &open, Part::Status).as_deref(),
        Some("status.conditions: Forbidden: updates may not add a condition of type \"Approved\"")
    );
    assert_eq!(
        changes(&open, &approved, Part::Approval).as_deref(),
        Some("status.conditions: Forbidden: updates may not remove a condition of type \"Approved\"")
    );
}

#[test]
fn writes_to_the_status_keep_decisions_and_get_times() {
    let mut old = request(&[("Approved", "True")]);
    old.status.conditions[0].reason = "Old".to_owned();
    let mut new = request(&[("Approved", "True"), ("Failed", "True")]);
    new.prepare_for_status_update(&Context::default(), &old);
    assert_eq!(new.status.conditions[0].reason, "Old");
    assert!(!new.status.conditions[1].last_update_time.is_zero());
}

#[test]
fn creators_cannot_say_who_they_are() {
    let mut request = CertificateSigningRequest::default();
    request.spec.username = "forged".to_owned();
    request.spec.extra.insert("a".to_owned(), vec!["b".to_owned()]);
    let user = User {
        name: "jane",
        uid: "u",
        groups: &["dev".to_owned()],
        extra: &BTreeMap::new(),
    };
    request.prepare_for_create(&Context {
        user: Some(user),
        ..Context::default()
    });
    assert_eq!(
        (request.spec.username.as_str(), request.spec.uid.as_str()),
        ("jane", "u")
    );
    assert_eq!(request.spec.groups, ["dev"]);
    assert!(request.spec.extra.is_empty());
}
