use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderValue};
use planesmith_machinery::clock::{ManualClock, SystemClock};

use super::{
    Anonymous, AuthenticationResult, Authenticator, BearerTokens, CertificateAuthenticator, Chain, ClientCertificate,
    Credentials, TokenFile, TokenFileError,
};
use crate::user::UserInfo;

fn headers(authorization: Option<&'static str>) -> HeaderMap {
    let value = authorization.map(|value| (AUTHORIZATION, HeaderValue::from_static(value)));
    value.into_iter().collect()
}

/// Returns the user's name and groups, or the chain's error.
fn authenticate(chain: &Chain, authorization: Option<&'static str>, certificate: Option<&ClientCertificate>) -> String {
    let headers = headers(authorization);
    let credentials = Credentials {
        headers: &headers,
        path: "/api",
        certificate,
        proxy: None,
    };
    match chain
        .authenticate(&credentials)
        .ready()
        .expect("no other server is asked")
    {
        AuthenticationResult::User(user) => format!("{} {:?}", user.name, user.groups),
        AuthenticationResult::NoOpinion => "no opinion".to_owned(),
        AuthenticationResult::Invalid(reason) => format!("invalid: {reason}"),
    }
}

fn chain(anonymous: bool) -> Chain {
    let tokens = TokenFile::parse("secret,alice,1,\"dev,ops\"\nplain,bob,2\n").unwrap();
    Chain::new(
        vec![
            Box::new(CertificateAuthenticator {
                clock: Arc::new(SystemClock),
            }),
            Box::new(BearerTokens::new(
                vec![Box::new(tokens)],
                Vec::new(),
                Arc::new(SystemClock),
            )),
        ],
        anonymous,
    )
}

#[test]
fn tokens_name_users_and_groups() {
    let chain = chain(true);
    assert_eq!(
        authenticate(&chain, Some("Bearer secret"), None),
        r#"alice ["dev", "ops", "system:authenticated"]"#
    );
    assert_eq!(
        authenticate(&chain, Some("bEARER plain"), None),
        r#"bob ["system:authenticated"]"#
    );
    assert_eq!(
        authenticate(&chain, Some("Bearer secret and more"), None),
        r#"alice ["dev", "ops", "system:authenticated"]"#
    );
}

#[test]
fn unknown_tokens_are_refused_and_other_schemes_are_anonymous() {
    let chain = chain(true);
    let anonymous = r#"system:anonymous ["system:unauthenticated"]"#;
    assert_eq!(
        authenticate(&chain, Some("Bearer wrong"), None),
        "invalid: invalid bearer token"
    );
    for unknown in [
        None,
        Some("Bearer"),
        Some("Bearer "),
        Some("Basic YTpi"),
        Some("Token secret"),
        Some("Bearer  secret"),
    ] {
        assert_eq!(authenticate(&chain, unknown, None), anonymous, "{unknown:?}");
    }
}

#[test]
fn without_anonymous_requests_nobody_stays_nobody() {
    assert_eq!(authenticate(&chain(false), None, None), "no opinion");
}

#[test]
fn anonymous_requests_may_be_restricted_to_paths() {
    let chain = Chain::new(
        Vec::new(),
        Anonymous::ServedAt(vec!["/livez".to_owned(), "/readyz".to_owned()]),
    );
    let headers = HeaderMap::new();
    let is_served = |path| {
        let credentials = Credentials {
            headers: &headers,
            path,
            certificate: None,
            proxy: None,
        };
        matches!(
            chain.authenticate(&credentials).ready(),
            Some(AuthenticationResult::User(_))
        )
    };
    assert!(is_served("/livez") && is_served("/readyz"));
    for path in ["/", "/livez/", "/livez/ping", "/healthz", "/LIVEZ"] {
        assert!(!is_served(path), "{path}");
    }
}

#[test]
fn a_valid_token_outweighs_an_untrusted_certificate() {
    let untrusted = ClientCertificate::Untrusted("unknown authority".to_owned());
    let chain = chain(true);
    assert_eq!(
        authenticate(&chain, Some("Bearer plain"), Some(&untrusted)),
        r#"bob ["system:authenticated"]"#
    );
    assert_eq!(
        authenticate(&chain, None, Some(&untrusted)),
        "invalid: unknown authority"
    );
}

#[test]
fn a_certificate_ends_while_its_connection_lives() {
    let user = Arc::new(UserInfo {
        name: "carol".to_owned(),
        ..UserInfo::default()
    });
    let certificate = ClientCertificate::Trusted {
        user,
        not_after: SystemTime::UNIX_EPOCH + Duration::from_secs(100),
    };
    let at = |second: u64| {
        let clock = Arc::new(ManualClock::new(second * 1000));
        let headers = HeaderMap::new();
        let credentials = Credentials {
            headers: &headers,
            path: "/",
            certificate: Some(&certificate),
            proxy: None,
        };
        matches!(
            CertificateAuthenticator { clock }.authenticate(&credentials).ready(),
            Some(AuthenticationResult::User(_))
        )
    };
    assert!(at(100));
    assert!(!at(101));
}

#[test]
fn token_files_may_quote_any_field() {
    let tokens = TokenFile::parse("\r\n\"to,\"\"ken\",\"a\nb\",\"\",\"g1,g2\"\r\nx,y,z\r\n").unwrap();
    let tokens = BearerTokens::new(vec![Box::new(tokens)], Vec::new(), Arc::new(SystemClock));
    let review = tokens.review("to,\"ken", &[]).ready();
    let user = review.and_then(Result::ok).expect("the quoted token is valid").identity;
    assert_eq!((user.name.as_str(), user.uid.as_str()), ("a\nb", ""));
    assert_eq!(user.groups, ["g1", "g2", "system:authenticated"]);
}

#[test]
fn broken_token_files_say_where() {
    let error = |text| TokenFile::parse(text).unwrap_err();
    assert_eq!(error("a,b,c\nd,e\n"), TokenFileError::Columns { record: 2, found: 2 });
    assert_eq!(error("a,b,c\nd,\"e,f\n"), TokenFileError::Quote { line: 2 });
    assert_eq!(error("a,\"b\"c,d\n"), TokenFileError::Quote { line: 1 });
    assert_eq!(error("a,b\"c,d\n"), TokenFileError::Quote { line: 1 });
}
