use jsonwebtoken::{Header, Validation};
use serde_json::{Value, json};

use super::*;
use crate::authentication::service_account::signatures;

/// One key on the curve P-256, in SEC 1, in PKCS #8, without its public half, and the public half.
const P256: &str = "-----BEGIN EC PRIVATE KEY-----\n\
MHcCAQEEIK7r81B1QtmmdyVt6mdzZWm2CAuNnXVM1Cqf3oKy7yV7oAoGCCqGSM49\n\
AwEHoUQDQgAE62d5oPcYIqlDwYOG0RzenlZ9Szwx9kuwc5WJV3UzOTyuW8m7r9+f\n\
AhiyJUHlWTmBtYyusOK+54fK4nrV1TtJog==\n\
-----END EC PRIVATE KEY-----\n";
const P256_PKCS8: &str = "-----BEGIN PRIVATE KEY-----\n\
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgruvzUHVC2aZ3JW3q\n\
Z3NlabYIC42ddUzUKp/egrLvJXuhRANCAATrZ3mg9xgiqUPBg4bRHN6eVn1LPDH2\n\
S7BzlYlXdTM5PK5bybuv358CGLIlQeVZOYG1jK6w4r7nh8rietXVO0mi\n\
-----END PRIVATE KEY-----\n";
const P256_WITHOUT_PUBLIC: &str = "-----BEGIN EC PRIVATE KEY-----\n\
MDECAQEEIK7r81B1QtmmdyVt6mdzZWm2CAuNnXVM1Cqf3oKy7yV7oAoGCCqGSM49\n\
AwEH\n\
-----END EC PRIVATE KEY-----\n";
const P256_PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\n\
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE62d5oPcYIqlDwYOG0RzenlZ9Szwx\n\
9kuwc5WJV3UzOTyuW8m7r9+fAhiyJUHlWTmBtYyusOK+54fK4nrV1TtJog==\n\
-----END PUBLIC KEY-----\n";

/// A key on the curve P-384, and its public half.
const P384: &str = "-----BEGIN EC PRIVATE KEY-----\n\
MIGkAgEBBDCS3v0coN/jqIOZC6feywmtaf2Hwbwsigq9gxBPxHOtwQ1xzLwmOLJT\n\
ryJzcYq3JTWgBwYFK4EEACKhZANiAAQV7ogGhl3esjseDwRng1VehW/EAecCMgqK\n\
/fvM7jStZGqVP+pbX73fGA0SFfjhDN+EEvIXfWNzqCLKAYzohvd6T9yli5b0aUa2\n\
SIN8MQPIiDCThouzW0KcKnP722ojSXU=\n\
-----END EC PRIVATE KEY-----\n";
const P384_PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\n\
MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEFe6IBoZd3rI7Hg8EZ4NVXoVvxAHnAjIK\n\
iv37zO40rWRqlT/qW1+93xgNEhX44QzfhBLyF31jc6giygGM6Ib3ek/cpYuW9GlG\n\
tkiDfDEDyIgwk4aLs1tCnCpz+9tqI0l1\n\
-----END PUBLIC KEY-----\n";

/// A key of 1024 bits, its public half, and a token that it signed.
const RSA_1024: &str = "-----BEGIN PRIVATE KEY-----\n\
MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBAMoTj7HxFdA8K2LK\n\
9saRHpfTUHyFKcjZfNYGJnGgOsMNpqQlqTaIcHtDcNE34w/TzBhzTiS2pKU61Xrx\n\
m2H6sc2S2t4wVUtvR3qLn1X09Zl6KKk1anabZ07viOMSPaRkiZhHGcyTkA9aTILA\n\
hEuDgYEcaUmmp4AbTm+EG0hVd+ZlAgMBAAECgYBBbTHyOA+K+2BEvVhHFEdmeumt\n\
V2Qe/qPXm+gok+tSqgHRVcxCtsxMbJqDcufWgQmsxPCBHI2UXccu5jkb8RJN3K4w\n\
Y3CFhdr+WeKJOT/Q4uMhzWMNF8bxW1GvFECLJm+Po9saeYx0HgVrV1a5olWUWNLC\n\
FA3e2pncqQ7TVjtEhQJBAOnpS30e1hgekZMPzjcfUDA58G/R7XVIYFjs8TuzEFGl\n\
Jv8ExgeF6OMXcqF1HnRYKIeLd9EMeEaOjPBgH6fqdNMCQQDdKKvoWLjyPqj+V0up\n\
gfPi/At+Mu728pSnunm8Mlg+0sE6ohTiUJylNA6nAMh/5B9zU1GNmrS5V5IkmP/E\n\
GBTnAkEAumNZ8cOmmeWR3nuTuLzM6wDgJFpFO1WG4JU9zHJtKIHPRxqIqen8nyhK\n\
AXoP4Gl3MjriKMQk+yQQDmKqFuVuXQJBALaDayNrnO3mAkcsObfhFCm9wapbVFSe\n\
K0oknXRPw/3MpkTCICQJTM0VogX2ooDQ/ZeKKiKHix/uAiCL13+4M/8CQQCL41Ze\n\
qku/eGCL8yETvXANaiZAJBMYhQy6YD5p2HAz+7IWyaDEploNC5yRuNX4OFoOdIoz\n\
7wgzvGsMoJ76QEvW\n\
-----END PRIVATE KEY-----\n";
const RSA_1024_PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\n\
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDKE4+x8RXQPCtiyvbGkR6X01B8\n\
hSnI2XzWBiZxoDrDDaakJak2iHB7Q3DRN+MP08wYc04ktqSlOtV68Zth+rHNktre\n\
MFVLb0d6i59V9PWZeiipNWp2m2dO74jjEj2kZImYRxnMk5APWkyCwIRLg4GBHGlJ\n\
pqeAG05vhBtIVXfmZQIDAQAB\n\
-----END PUBLIC KEY-----\n";
const OF_RSA_1024: &str = "eyJhbGciOiJSUzI1NiJ9.e30.qD87T5frsoQ4pngBU8lRPpyx1Mb1qDD_JpzTyizbITgJiPkC2LshJLNcrONAP5AFBnbOWv1iYPFQFJPnT73N3V9anwmMz4MwK-NclCUP0VMUcgLchoE1TIwDgpqzIrfKhX6dYr3TCoVsGrO6SiGz_vKnDdUhWP6PPKTxDEjzMqM";

fn sign(key: &SigningKey) -> String {
    signatures::install();
    let header = Header::new(key.public().algorithm());
    jsonwebtoken::encode(&header, &json!({"sub": "someone"}), key.encoding()).unwrap()
}

fn verify(token: &str, key: &PublicKey) -> bool {
    signatures::install();
    let mut validation = Validation::new(key.algorithm());
    validation.required_spec_claims.clear();
    jsonwebtoken::decode::<Value>(token, key.decoding(), &validation).is_ok()
}

fn public(text: &str) -> PublicKey {
    PublicKey::all_from_pem(text.as_bytes()).unwrap().remove(0)
}

fn signing(text: &str) -> SigningKey {
    SigningKey::from_pem(text.as_bytes()).unwrap()
}

#[test]
fn a_generated_key_signs_and_is_published() {
    let key = signing(&SigningKey::make_pem().unwrap());
    let set = key_set(&[key.public().clone()]);
    let published = &set["keys"][0];
    assert_eq!((&published["kty"], &published["alg"]), (&json!("EC"), &json!("ES256")));
    assert_eq!(published["crv"], "P-256");
    let document = key_set_document(&[key.public().clone()]);
    let places = ["use", "kty", "kid", "crv", "alg", "x", "y"].map(|name| document.find(&format!("\"{name}\":")));
    assert!(places.is_sorted() && places[0].is_some(), "{document}");
    let token = sign(&key);
    assert!(verify(&token, key.public()));
    let changed = token.replacen('.', ".e", 1);
    assert!(!verify(&changed, key.public()));
    assert!(!verify(&token, signing(&SigningKey::make_pem().unwrap()).public()));
}

#[test]
fn encodings_of_a_key_are_the_same_key() {
    for (private, other, public_half) in [(P256, P256_PKCS8, P256_PUBLIC), (P384, P384, P384_PUBLIC)] {
        let (key, other, public_half) = (signing(private), signing(other), public(public_half));
        assert_eq!(key.public().id(), public_half.id());
        assert_eq!(other.public().id(), public_half.id());
        assert_eq!(
            key_set(std::slice::from_ref(key.public())),
            key_set(std::slice::from_ref(&public_half))
        );
        for key in [key, other] {
            assert!(verify(&sign(&key), &public_half));
        }
    }
    assert!(!verify(&sign(&signing(P256)), &public(P384_PUBLIC)));
}

#[test]
fn a_short_rsa_key_verifies_but_does_not_sign() {
    for key in [RSA_1024_PUBLIC, RSA_1024] {
        assert!(verify(OF_RSA_1024, &public(key)));
    }
    let error = SigningKey::from_pem(RSA_1024.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("for signing: 2048 to 4096 bits"), "{error}");
}

#[test]
fn a_key_without_its_public_half_is_refused() {
    let error = SigningKey::from_pem(P256_WITHOUT_PUBLIC.as_bytes())
        .unwrap_err()
        .to_string();
    assert!(error.contains("with its public half"), "{error}");
}
