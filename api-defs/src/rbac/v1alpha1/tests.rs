use super::subject::{from_hub, to_hub};
use super::*;
use crate::rbac::v1;

fn subject(kind: &str, api_version: &str, name: &str) -> Subject {
    Subject {
        kind: kind.to_owned(),
        api_version: api_version.to_owned(),
        name: name.to_owned(),
        ..Subject::default()
    }
}

#[test]
fn the_subject_of_all_users_becomes_a_group() {
    let hub = to_hub(&[subject("User", "", "*")]);
    let expected = v1::Subject {
        kind: "Group".to_owned(),
        api_group: "rbac.authorization.k8s.io".to_owned(),
        name: "system:authenticated".to_owned(),
        namespace: String::new(),
    };
    assert_eq!(hub, [expected]);
}

#[test]
fn versions_of_subjects_come_back() {
    let subjects = [
        subject("ServiceAccount", "v1", "s"),
        subject("Group", "rbac.authorization.k8s.io/v1alpha1", "g"),
        subject("Robot", "example.com/", "r"),
    ];
    assert_eq!(from_hub(&to_hub(&subjects)), subjects);
}
