use std::time::{Duration, UNIX_EPOCH};

use planesmith_machinery::clock::ManualClock;

use super::*;

const NOW: i64 = 1_900_000_000;

/// A single account and a single pod, which is being deleted.
#[derive(Debug)]
struct Two;

impl BoundObjects for Two {
    fn find(&self, bound: Bound, namespace: &str, name: &str) -> Option<BoundObject> {
        let deleted = (bound == Bound::Pod).then_some(NOW - 100);
        let known = matches!(
            (bound, namespace, name),
            (Bound::ServiceAccount, "ns", "bot") | (Bound::Pod, "ns", "pod")
        );
        known.then(|| BoundObject {
            uid: "uid".to_owned(),
            deleted,
        })
    }
}

pub(super) const KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
                              MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2\n\
                              OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r\n\
                              1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G\n\
                              -----END PRIVATE KEY-----\n";

fn key() -> SigningKey {
    SigningKey::from_pem(KEY.as_bytes()).unwrap()
}

fn ring() -> KeyRing {
    KeyRing::new(key(), Vec::new())
}

pub(super) fn claims() -> Claims {
    Claims {
        audiences: vec!["api".to_owned(), "vault".to_owned()],
        expires: Some(NOW + 600),
        issued_at: NOW,
        not_before: NOW,
        id: "id".to_owned(),
        subject: service_account_name("ns", "bot"),
        private: Private {
            namespace: "ns".to_owned(),
            service_account: Reference {
                name: "bot".to_owned(),
                uid: "uid".to_owned(),
            },
            ..Private::default()
        },
        ..Claims::default()
    }
}

fn token(claims: Claims) -> String {
    signed(&TokenIssuer::new("https://issuer", ring()), claims).unwrap()
}

/// Signs with a key of the server.
fn signed(issuer: &TokenIssuer, claims: Claims) -> Result<String, SignError> {
    issuer.sign(claims).ready().expect("no other program signs")
}

fn tokens() -> ServiceAccountTokens {
    accounts(ring())
}

pub(super) fn accounts(keys: KeyRing) -> ServiceAccountTokens {
    ServiceAccountTokens {
        issuers: vec!["https://issuer".to_owned()],
        keys,
        audiences: vec!["api".to_owned()],
        objects: Arc::new(Two),
        uses: Arc::new(()),
        clock: Arc::new(ManualClock::new(NOW.unsigned_abs() * 1000)),
    }
}

/// Returns user and audiences, or the error.
fn authenticate(token: &str, audiences: &[&str]) -> String {
    let tokens = tokens();
    let audiences: Vec<String> = audiences.iter().map(|audience| (*audience).to_owned()).collect();
    let verdict = tokens.authenticate_token(token, &audiences).ready();
    match verdict.expect("no other server is asked") {
        TokenVerdict::Valid(found) => format!("{} {:?}", found.user.name, found.audiences.unwrap_or_default()),
        TokenVerdict::NoOpinion => "no opinion".to_owned(),
        TokenVerdict::Invalid(reason) => reason,
    }
}

#[test]
fn a_token_is_good_for_its_audiences() {
    let token = token(claims());
    assert_eq!(
        authenticate(&token, &["api"]),
        r#"system:serviceaccount:ns:bot ["api"]"#
    );
    assert_eq!(
        authenticate(&token, &["other", "vault"]),
        r#"system:serviceaccount:ns:bot ["vault"]"#
    );
    let refused = r#"token audiences ["api" "vault"] is invalid for the target audiences ["other"]"#;
    assert_eq!(authenticate(&token, &["other"]), refused);
}

#[test]
fn tokens_have_a_time() {
    let at = |shift: i64| {
        token(Claims {
            expires: Some(NOW + shift + 10),
            issued_at: NOW + shift,
            not_before: NOW + shift,
            ..claims()
        })
    };
    assert_eq!(authenticate(&at(-71), &["api"]), "service account token has expired");
    assert!(authenticate(&at(-70), &["api"]).starts_with("system:"));
    assert!(authenticate(&at(60), &["api"]).starts_with("system:"));
    assert_eq!(
        authenticate(&at(61), &["api"]),
        "service account token is not valid yet"
    );
}

#[test]
fn a_valid_token_says_when_it_ends() {
    let tokens = tokens();
    let token = token(claims());
    let Some(TokenVerdict::Valid(found)) = tokens.authenticate_token(&token, &[]).ready() else {
        panic!("the token is refused")
    };
    let refused_from = NOW + 600 + LEEWAY + 1;
    let refused_from = UNIX_EPOCH + Duration::from_secs(refused_from.unsigned_abs());
    assert_eq!(found.until, Some(refused_from));
}

#[test]
fn tokens_end_with_their_objects() {
    let with = |change: fn(&mut Private)| {
        let mut claims = claims();
        change(&mut claims.private);
        authenticate(&token(claims), &["api"])
    };
    assert_eq!(
        with(|private| private.service_account.name = "gone".to_owned()),
        "serviceaccounts \"gone\" not found"
    );
    assert_eq!(
        with(|private| private.service_account.uid = "old".to_owned()),
        "service account UID (uid) does not match claim (old)"
    );
    let invalidated = "service account token has been invalidated";
    assert_eq!(with(|private| private.secret = Some(Reference::default())), invalidated);
    assert_eq!(
        with(|private| {
            private.pod = Some(Reference {
                name: "pod".to_owned(),
                uid: "uid".to_owned(),
            });
        }),
        invalidated,
        "deleted longer ago than clocks differ"
    );
}

#[test]
fn foreign_and_forged_tokens_are_told_apart() {
    let good = token(claims());
    let (head, _) = good.rsplit_once('.').unwrap();
    let other = token(Claims {
        id: "other".to_owned(),
        ..claims()
    });
    let (_, signature) = other.rsplit_once('.').unwrap();
    assert_eq!(
        authenticate(&format!("{head}.{signature}"), &["api"]),
        "go-jose/go-jose: error in cryptographic primitive"
    );
    let foreign = signed(&TokenIssuer::new("https://other", ring()), claims()).unwrap();
    assert_eq!(authenticate(&foreign, &["api"]), "no opinion");
    for text in ["", "a.b.c", "{}", "secret", &format!("{good}.x")] {
        assert_eq!(authenticate(text, &["api"]), "no opinion", "{text}");
    }
}

#[test]
fn keys_are_published_without_their_private_half() {
    let set = key_set(&[key().public().clone()]);
    let key = &set["keys"][0];
    assert_eq!(
        (&key["kty"], &key["crv"], &key["alg"]),
        (&"EC".into(), &"P-256".into(), &"ES256".into())
    );
    assert!(key["x"].is_string() && key["y"].is_string() && key.get("d").is_none());
    assert!(SigningKey::from_pem(b"nothing").is_err());
}

#[test]
fn a_caller_waits_until_the_key_is_generated() {
    let (go, gone) = std::sync::mpsc::channel();
    let make = move || {
        gone.recv().unwrap();
        Ok(key())
    };
    let ring = KeyRing::generating(make, Vec::new()).unwrap();
    let issuer = TokenIssuer::new("https://issuer", ring);
    let signing = std::thread::spawn(move || signed(&issuer, claims()).unwrap());
    go.send(()).unwrap();
    assert_eq!(
        authenticate(&signing.join().unwrap(), &[]),
        authenticate(&token(claims()), &[])
    );
}

#[test]
fn without_a_key_nothing_is_signed_and_nothing_is_valid() {
    let ring = KeyRing::generating(|| Err(KeyError::NotMade), Vec::new()).unwrap();
    assert!(ring.public().is_empty());
    assert!(signed(&TokenIssuer::new("https://issuer", ring), claims()).is_err());
}

/// A public key on an unsupported curve.
const P521_PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\n\
MIGbMBAGByqGSM49AgEGBSuBBAAjA4GGAAQBBODcr3vCvzYfgZlKJR4raASuYmhe\n\
lD662H+7kGjf3CNPymbIPKgU6CR53O272jCenBS7f3YkvJo/bSu8zD4Ew1sAneu2\n\
LXp6cs2bmyjMoVQxn8DVhhBY6Yf2x84YavXZ6jI4LWvd8cYQEn/sTsPrJQutfja4\n\
OFkTfWVq6C+oxi7grSM=\n\
-----END PUBLIC KEY-----\n";
const P521_PRIVATE: &str = "-----BEGIN EC PRIVATE KEY-----\n\
MIHcAgEBBEIAI99rXzOwwagvzh/TrOQ7h+Yt96FvA+PGLgQUnrxfZgRrpIquF9TX\n\
tYPdXYRmq3daMyyRj2RVFAl8iEmKi8lQ5xKgBwYFK4EEACOhgYkDgYYABAEE4Nyv\n\
e8K/Nh+BmUolHitoBK5iaF6UPrrYf7uQaN/cI0/KZsg8qBToJHnc7bvaMJ6cFLt/\n\
diS8mj9tK7zMPgTDWwCd67YtenpyzZubKMyhVDGfwNWGEFjph/bHzhhq9dnqMjgt\n\
a93xxhASf+xOw+slC61+Nrg4WRN9ZWroL6jGLuCtIw==\n\
-----END EC PRIVATE KEY-----\n";

#[test]
fn a_curve_that_is_not_supported_is_named() {
    let complaint = "is on the curve P-521, which is not supported; use P-256, P-384, or RSA";
    let signing = SigningKey::from_pem(P521_PRIVATE.as_bytes()).unwrap_err();
    assert_eq!(signing.to_string(), format!("the ec private key {complaint}"));
    for (pem, label) in [(P521_PUBLIC, "public key"), (P521_PRIVATE, "ec private key")] {
        let error = PublicKey::all_from_pem(pem.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), format!("the {label} {complaint}"));
    }
}

#[test]
fn a_token_that_should_have_been_replaced_leaves_a_remark() {
    let remark = |warn_after| {
        let private = Private {
            warn_after,
            ..claims().private
        };
        let token = token(Claims { private, ..claims() });
        let verdict = tokens().authenticate_token(&token, &[]).ready();
        let Some(TokenVerdict::Valid(found)) = verdict else {
            panic!("the token is refused")
        };
        found.remarks.map(|remarks| remarks.annotations.clone())
    };
    assert_eq!((remark(None), remark(Some(NOW))), (None, None));
    let note = "subject: system:serviceaccount:ns:bot, seconds after warning threshold: 5".to_owned();
    assert_eq!(
        remark(Some(NOW - 5)),
        Some(vec![("authentication.k8s.io/stale-token", note)])
    );
}
