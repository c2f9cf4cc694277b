//! Tokens of an OpenID provider.

use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

use ::base64::Engine as _;
use ::base64::engine::general_purpose::URL_SAFE_NO_PAD;
use planesmith_machinery::clock::{Clock, SystemClock};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};

use super::peer::Peer;
use super::*;

/// A key that signs tokens.
struct Key {
    id: &'static str,
    pair: EcdsaKeyPair,
}

impl Key {
    fn new(id: &'static str) -> Self {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
        Self { id, pair }
    }

    fn published(&self) -> Value {
        let (x, y) = self.pair.public_key().as_ref()[1..].split_at(32);
        let [x, y] = [x, y].map(|half| URL_SAFE_NO_PAD.encode(half));
        json!({"kty": "EC", "crv": "P-256", "kid": self.id, "use": "sig", "alg": "ES256", "x": x, "y": y})
    }

    fn sign(&self, claims: &Value) -> String {
        let header = json!({"alg": "ES256", "kid": self.id});
        let [header, claims] = [&header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        let message = format!("{header}.{claims}");
        let signature = self.pair.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

/// A provider whose keys can be replaced.
struct Provider {
    peer: Peer,
    keys: Arc<Mutex<Vec<Value>>>,
    /// The key that signs groups; not published at first.
    groups_key: Value,
}

impl Provider {
    async fn start(keys: &[&Key]) -> Self {
        let keys: Arc<Mutex<Vec<Value>>> = Arc::new(Mutex::new(keys.iter().map(|key| key.published()).collect()));
        let url: Arc<Mutex<String>> = Arc::default();
        let (own_keys, own_url) = (Arc::clone(&keys), Arc::clone(&url));
        let groups = Key::new("groups");
        let groups_key = groups.published();
        let peer = Peer::start(move |path, _| {
            let url = own_url.lock().unwrap().clone();
            Some(match path {
                "/.well-known/openid-configuration" => {
                    json!({"issuer": url, "jwks_uri": format!("{url}/keys")}).to_string()
                }
                "/keys" => json!({"keys": *own_keys.lock().unwrap()}).to_string(),
                // Groups that are too many for a token, signed like tokens.
                "/groups" => {
                    groups.sign(&json!({"iss": url, "aud": "kubernetes", "exp": in_an_hour(), "roles": ["far"]}))
                }
                _ => return None,
            })
        })
        .await;
        *url.lock().unwrap() = peer.url();
        Self { peer, keys, groups_key }
    }

    fn publish(&self, keys: &[&Key]) {
        *self.keys.lock().unwrap() = keys.iter().map(|key| key.published()).collect();
    }

    fn token(&self, key: &Key, changes: &Value) -> String {
        let mut claims = json!({"iss": self.peer.url(), "aud": "kubernetes", "sub": "carol", "exp": in_an_hour()});
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        key.sign(&claims)
    }

    /// The configuration file of a server that accepts the provider's tokens.
    fn configuration(&self, prefix: &str) -> Value {
        json!({
            "apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration",
            "jwt": [{
                "issuer": {
                    "url": self.peer.url(), "audiences": ["kubernetes"], "certificateAuthority": self.peer.certificate(),
                },
                "claimMappings": {
                    "username": {"claim": "sub", "prefix": prefix},
                    "groups": {"claim": "roles", "prefix": ""},
                    "uid": {"expression": "claims.?id.orValue('')"},
                    "extra": [{"key": "acme.io/team", "valueExpression": "claims.?team.orValue('')"}],
                },
                "claimValidationRules": [{"expression": "!has(claims.blocked)", "message": "this user is blocked"}],
                "userValidationRules": [{"expression": "!user.username.endsWith(':root')", "message": "no root"}],
            }],
        })
    }
}

fn in_an_hour() -> u64 {
    SystemClock.now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 3600
}

#[tokio::test]
async fn tokens_are_valid_while_the_provider_has_their_key() {
    let [first, second, third] = ["1", "2", "3"].map(Key::new);
    let mut provider = Provider::start(&[&first]).await;
    let home = Home::new().unwrap();
    let file = home.path().join("authentication.yaml");
    let flag = format!(
        "--authentication-config={}",
        write(&file, &provider.configuration("oidc:").to_string())
    );
    let server = start(&home, &[&flag]).await;

    let claims = json!({"roles": ["dev", "ops"], "id": "7", "team": "blue", "jti": "j1"});
    let user = becomes(&server, &provider.token(&first, &claims), "oidc:carol").await;
    assert_eq!(
        user,
        json!({
            "username": "oidc:carol", "uid": "7", "groups": ["dev", "ops", "system:authenticated"],
            "extra": {"acme.io/team": ["blue"], "authentication.kubernetes.io/credential-id": ["JTI=j1"]},
        })
    );
    for refused in [
        json!({"aud": "other"}),
        json!({"exp": 1}),
        json!({"blocked": true}),
        json!({"sub": "root:root"}),
        json!({"iss": "https://127.0.0.1:1"}),
        json!({"sub": null, "roles": [1]}),
    ] {
        assert_eq!(
            whoami(&server, &provider.token(&first, &refused)).await,
            Err(401),
            "{refused}"
        );
    }

    provider.publish(&[&second]);
    let token = provider.token(&second, &json!({"jti": "j2"}));
    assert_eq!(
        whoami(&server, &token).await.unwrap()["username"],
        "oidc:carol",
        "{}",
        server.log()
    );
    assert_eq!(
        whoami(&server, &provider.token(&first, &json!({"jti": "j3"}))).await,
        Err(401)
    );

    provider.peer.stop().await;
    let known = provider.token(&second, &json!({"jti": "j4"}));
    assert!(whoami(&server, &known).await.is_ok(), "its key is known");
    let unknown = provider.token(&third, &json!({"jti": "j5"}));
    assert_eq!(whoami(&server, &unknown).await, Err(401));
    provider.publish(&[&third]);
    provider.peer.restart().await;
    assert!(whoami(&server, &unknown).await.is_ok(), "{}", server.log());

    let metrics = server.connect().await.unwrap().get("/metrics").await.unwrap();
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    for name in [
        "apiserver_authentication_jwt_authenticator_latency_seconds_count{",
        "apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds{",
        "apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info{",
    ] {
        assert!(metrics.contains(name), "{name}");
    }
    assert!(!metrics.contains(&provider.peer.url()), "issuers are shown as digests");
    assert!(!server.log().contains(&unknown), "tokens are no part of the log");
}

#[tokio::test]
async fn a_changed_configuration_is_used_without_a_restart() {
    let key = Key::new("1");
    let provider = Provider::start(&[&key]).await;
    let home = Home::new().unwrap();
    let file = home.path().join("authentication.yaml");
    let empty = json!({"apiVersion": "apiserver.config.k8s.io/v1beta1", "kind": "AuthenticationConfiguration"});
    let flag = format!("--authentication-config={}", write(&file, &empty.to_string()));
    let server = start(&home, &[&flag]).await;
    let token = provider.token(&key, &json!({}));
    assert_eq!(whoami(&server, &token).await, Err(401));

    write(&file, &provider.configuration("a:").to_string());
    becomes(&server, &token, "a:carol").await;
    write(&file, "no configuration");
    let begin = Instant::now();
    while !server.log().contains("the authentication configuration cannot be used") {
        assert!(begin.elapsed() < TIMEOUT, "{}", server.log());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let again = provider.token(&key, &json!({"jti": "2"}));
    assert_eq!(whoami(&server, &again).await.unwrap()["username"], "a:carol");
    write(&file, &provider.configuration("b:").to_string());
    becomes(&server, &provider.token(&key, &json!({"jti": "3"})), "b:carol").await;

    let metrics = server.connect().await.unwrap().get("/metrics").await.unwrap();
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    for (status, count) in [("failure", 1), ("success", 2)] {
        let series = "apiserver_authentication_config_controller_automatic_reloads_total";
        let mut lines = metrics.lines().filter(|line| line.starts_with(series));
        let found = lines.any(|line| line.contains(status) && line.ends_with(&format!(" {count}")));
        assert!(found, "{status}");
    }
}

#[tokio::test]
async fn flags_name_one_provider_and_kubectl_uses_its_token() {
    let key = Key::new("1");
    let provider = Provider::start(&[&key]).await;
    let home = Home::new().unwrap();
    let authority = write(&home.path().join("issuer.crt"), provider.peer.certificate());
    let url = provider.peer.url();
    let flags = [
        format!("--oidc-issuer-url={url}"),
        "--oidc-client-id=kubernetes".to_owned(),
        "--oidc-groups-claim=roles".to_owned(),
        "--oidc-groups-prefix=oidc:".to_owned(),
        "--oidc-signing-algs=RS256,ES256".to_owned(),
        "--oidc-required-claim=hd=acme".to_owned(),
        format!("--oidc-ca-file={authority}"),
    ];
    let server = start(&home, &flags.each_ref().map(String::as_str)).await;
    let token = provider.token(&key, &json!({"hd": "acme", "roles": "dev"}));
    let user = becomes(&server, &token, &format!("{url}#carol")).await;
    assert_eq!(user["groups"], json!(["oidc:dev", "system:authenticated"]));
    assert_eq!(
        whoami(&server, &provider.token(&key, &json!({"hd": "other"}))).await,
        Err(401)
    );
    if !has_kubectl() {
        return skip("kubectl with a token", "kubectl is not installed");
    }
    let file = write(&home.path().join("review.json"), &review().to_string());
    let script = format!(
        "kubectl --server=$URL --insecure-skip-tls-verify --token=$TOKEN --kubeconfig=/dev/null create --raw {REVIEWS} -f {file}"
    );
    let (printed, status) = run(&home, &script, &[("URL", &server.endpoint().url()), ("TOKEN", &token)]).await;
    assert!(status == 0 && printed.contains("#carol"), "{printed}");
}

#[tokio::test]
async fn groups_may_be_elsewhere() {
    let key = Key::new("2");
    let provider = Provider::start(&[&key]).await;
    let home = Home::new().unwrap();
    let file = home.path().join("authentication.yaml");
    let flag = format!(
        "--authentication-config={}",
        write(&file, &provider.configuration("").to_string())
    );
    let server = start(&home, &[&flag]).await;
    let sources = json!({
        "_claim_names": {"roles": "far"},
        "_claim_sources": {"far": {"endpoint": format!("{}/groups", provider.peer.url()), "access_token": "t"}},
    });
    let token = provider.token(&key, &sources);
    becomes(&server, &provider.token(&key, &json!({})), "carol").await;
    assert_eq!(
        whoami(&server, &token).await,
        Err(401),
        "the key of the groups is not published"
    );
    provider.keys.lock().unwrap().push(provider.groups_key.clone());
    let user = becomes(&server, &token, "carol").await;
    assert_eq!(user["groups"], json!(["far", "system:authenticated"]));
}

#[tokio::test]
async fn requests_without_credentials_are_served_at_some_paths() {
    let home = Home::new().unwrap();
    let configuration = json!({
        "apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration",
        "anonymous": {"enabled": true, "conditions": [{"path": "/livez"}]},
    });
    let file = write(&home.path().join("authentication.yaml"), &configuration.to_string());
    let flag = format!("--authentication-config={file}");
    let server = start(&home, &["--authorization-mode=AlwaysDeny", &flag]).await;
    for (path, status) in [("/livez", 403), ("/readyz", 401), ("/livez/ping", 401), ("/api", 401)] {
        let connection = server.connect().await.unwrap();
        let mut request = connection.request(Method::GET, path).body(Bytes::new().into()).unwrap();
        request.headers_mut().remove(http::header::AUTHORIZATION);
        let answer = connection.finish(request).await.unwrap();
        assert_eq!(answer.status, status, "{path}: {}", answer.excerpt());
    }
}
