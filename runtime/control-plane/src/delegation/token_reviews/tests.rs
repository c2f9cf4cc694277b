use planesmith_machinery::clock::SystemClock;

use super::*;

fn host() -> Host {
    Host::of_url("https://127.0.0.1:1/review").expect("a URL")
}

fn webhook() -> TokenReviews {
    let audiences = vec!["api".to_owned()];
    TokenReviews::of_webhook(
        host(),
        TokenReviewVersion::V1beta1,
        audiences,
        TTL,
        Arc::new(SystemClock),
    )
}

fn carol(audiences: &[&str]) -> Value {
    json!({"status": {"authenticated": true, "audiences": audiences, "user": {
        "username": "carol", "uid": "7", "groups": ["dev"], "extra": {"scope": ["a", "b"]},
    }}})
}

#[test]
fn the_user_is_the_one_that_the_review_names() {
    let reviews = TokenReviews::of_front(host(), Arc::new(SystemClock));
    let TokenVerdict::Valid(TokenUser { user, audiences, .. }) = reviews.0.verdict(&carol(&["vault"]), &[]) else {
        panic!("the token is refused")
    };
    assert_eq!((user.name.as_str(), user.uid.as_str(), audiences), ("carol", "7", None));
    assert_eq!(
        (&user.groups[..], &user.extra["scope"][..]),
        (&["dev".to_owned()][..], &["a".to_owned(), "b".to_owned()][..])
    );
    assert_eq!(reviews.0.verdict(&json!({"status": {}}), &[]), TokenVerdict::NoOpinion);
    let refused = json!({"status": {"error": "expired"}});
    assert_eq!(
        reviews.0.verdict(&refused, &[]),
        TokenVerdict::Invalid("expired".to_owned())
    );
}

#[test]
fn a_webhook_names_the_audiences_of_a_token() {
    let audiences = |named: &[&str], wanted: &[&str]| {
        let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
        match webhook().0.verdict(&carol(named), &wanted) {
            TokenVerdict::Valid(found) => format!("{:?} {:?}", found.user.groups, found.audiences),
            other => format!("{other:?}"),
        }
    };
    let carol = |audiences: &str| format!(r#"["dev", "system:authenticated"] {audiences}"#);
    assert_eq!(audiences(&[], &["api", "vault"]), carol(r#"Some(["api"])"#));
    assert_eq!(audiences(&["vault"], &["api", "vault"]), carol(r#"Some(["vault"])"#));
    assert_eq!(audiences(&["vault"], &["api"]), "NoOpinion");
    assert_eq!(audiences(&["vault"], &[]), carol("None"));
}
