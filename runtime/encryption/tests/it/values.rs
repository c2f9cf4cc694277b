//! Values, and the keys that read and write them.

use planesmith_encryption::{Encryption, Snapshot};
use planesmith_store::{Reason, Transformers as _};
use proptest::prelude::*;

use crate::{encryption, names, observer, open, seal, snapshot};

const SECRETS: &str = "/registry/secrets/";
const ONE: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const TWO: &str = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=";

fn provider(kind: &str, keys: &[(&str, &str)]) -> String {
    let keys: Vec<String> = keys
        .iter()
        .map(|(name, key)| format!("{{name: {name}, secret: {key}}}"))
        .collect();
    format!("{{{kind}: {{keys: [{}]}}}}", keys.join(", "))
}

fn of(providers: &[&str]) -> String {
    format!("[{{resources: [secrets], providers: [{}]}}]", providers.join(", "))
}

fn written_by(providers: &[&str]) -> Vec<u8> {
    seal(&encryption(&of(providers)), SECRETS, b"plain").unwrap()
}

#[test]
fn the_first_key_of_the_first_provider_writes_and_all_read() {
    for kind in ["aesgcm", "aescbc", "secretbox"] {
        let (one, two) = (provider(kind, &[("one", ONE)]), provider(kind, &[("two", TWO)]));
        let stored = written_by(&[&one, "{identity: {}}"]);
        assert!(stored.starts_with(format!("k8s:enc:{kind}:v1:one:").as_bytes()));
        let read = |providers: &[&str]| open(&encryption(&of(providers)), SECRETS, &stored);
        assert_eq!(read(&[&one]), Ok((b"plain".to_vec(), false)));
        assert_eq!(read(&[&two, &one]), Ok((b"plain".to_vec(), true)));
        assert_eq!(
            read(&[&provider(kind, &[("two", TWO), ("one", ONE)])]),
            Ok((b"plain".to_vec(), true))
        );
        assert_eq!(read(&["{identity: {}}", &one]), Ok((b"plain".to_vec(), true)));
        let missing = read(&[&two]).unwrap_err();
        assert!(
            missing.starts_with("no matching key was found for the provided"),
            "{missing}"
        );
        assert_eq!(read(&["{identity: {}}"]).unwrap_err(), "no matching prefix found");
        if kind != "aescbc" {
            // The padding of AES-CBC may match by chance.
            let wrong = read(&[&provider(kind, &[("one", TWO)])]).unwrap_err();
            assert!(wrong.starts_with("the value was encrypted with another key"), "{wrong}");
            // A key of the same name is tried as well.
            let named_alike = [provider(kind, &[("one", TWO)]), one.clone()];
            assert_eq!(read(&[&named_alike[0], &named_alike[1]]), Ok((b"plain".to_vec(), true)));
        }
    }
}

#[test]
fn plain_values_are_read_if_identity_is_listed() {
    let key = provider("aesgcm", &[("one", ONE)]);
    let identity = "{identity: {}}";
    let read = |providers: &[&str]| open(&encryption(&of(providers)), SECRETS, b"plain");
    assert_eq!(read(&[identity]), Ok((b"plain".to_vec(), false)));
    assert_eq!(read(&[identity, &key]), Ok((b"plain".to_vec(), false)));
    assert_eq!(read(&[&key, identity]), Ok((b"plain".to_vec(), true)));
    assert_eq!(read(&[&key]).unwrap_err(), "no matching prefix found");
    assert_eq!(seal(&encryption(&of(&[identity, &key])), SECRETS, b"plain"), None);
}

#[test]
fn a_value_belongs_to_its_key() {
    let encryption = encryption(&of(&[&provider("aesgcm", &[("one", ONE)])]));
    let stored = seal(&encryption, SECRETS, b"plain").unwrap();
    let moved = encryption
        .of(SECRETS)
        .open("/registry/secrets/default/two", &stored)
        .is_err();
    assert!(moved);
}

#[test]
fn resources_are_found_by_the_prefix_of_their_keys() {
    let key = provider("secretbox", &[("one", ONE)]);
    let encrypted = |resources: &str, prefix: &str| {
        let configuration = format!("[{{resources: [{resources}], providers: [{key}]}}]");
        seal(&encryption(&configuration), prefix, b"plain").is_some()
    };
    assert!(encrypted("services", "/registry/services/specs/"));
    assert!(encrypted("deployments.apps", "/registry/deployments/"));
    assert!(encrypted(
        "widgets.enc.example.com",
        "/registry/enc.example.com/widgets/"
    ));
    assert!(encrypted("'*.'", SECRETS));
    assert!(!encrypted("'*.'", "/registry/deployments/"));
    assert!(encrypted("'*.apps'", "/registry/deployments/"));
    assert!(encrypted("'*.enc.example.com'", "/registry/enc.example.com/widgets/"));
    assert!(encrypted("'*.*'", "/registry/enc.example.com/widgets/"));
    assert!(!encrypted("secrets", "/registry/services/specs/"));
    assert!(!encrypted("deployments", "/registry/deployments/"));
}

#[test]
fn an_unconfigured_resource_refuses_encrypted_values() {
    let stored = written_by(&[&provider("aesgcm", &[("one", ONE)])]);
    let other = encryption("[{resources: [services], providers: [{identity: {}}]}]");
    let problem = open(&other, SECRETS, &stored).unwrap_err();
    assert_eq!(problem, "identity transformer tried to read encrypted data");
    // Nor is it encrypted twice.
    let again = encryption(&of(&[&provider("aesgcm", &[("one", ONE)])]));
    assert_eq!(seal(&again, SECRETS, &stored), None);
}

#[test]
fn a_reload_changes_the_writer_for_existing_transformers() {
    let (one, two) = (provider("aesgcm", &[("one", ONE)]), provider("aesgcm", &[("two", TWO)]));
    let encryption = encryption(&of(&[&one]));
    let transformer = encryption.of(SECRETS);
    let changes = encryption.changes();
    let stored = transformer.seal("/k", b"plain", Reason::Update).unwrap().unwrap();
    let before = transformer.writer();
    encryption.replace(snapshot(&of(&[&one, &two])).unwrap());
    assert_eq!(transformer.writer(), before);
    encryption.replace(snapshot(&of(&[&two, &one])).unwrap());
    assert_ne!(transformer.writer(), before);
    assert!(changes.has_changed().unwrap());
    assert!(transformer.open("/k", &stored).unwrap().is_stale);
    encryption.replace(snapshot(&of(&[&two])).unwrap());
    assert!(transformer.open("/k", &stored).is_err());
}

/// All providers, and the key of the second.
fn all() -> Encryption {
    let all: Vec<String> = ["aesgcm", "aescbc", "secretbox"]
        .iter()
        .map(|kind| provider(kind, &[("one", ONE), ("two", TWO)]))
        .collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let snapshot: Snapshot = snapshot(&of(&[&all[..], &["{identity: {}}"]].concat())).unwrap();
    Encryption::new(names(), snapshot, observer())
}

proptest! {
    #[test]
    fn any_bytes_come_back(plain in proptest::collection::vec(any::<u8>(), 0..2000)) {
        for kind in ["aesgcm", "aescbc", "secretbox"] {
            let encryption = encryption(&of(&[&provider(kind, &[("one", ONE)])]));
            let stored = seal(&encryption, SECRETS, &plain).unwrap();
            prop_assert_eq!(open(&encryption, SECRETS, &stored), Ok((plain.clone(), false)));
        }
    }

    #[test]
    fn no_bytes_make_a_panic(tail in proptest::collection::vec(any::<u8>(), 0..200), kind in 0..4_usize) {
        let prefix = ["k8s:enc:aesgcm:v1:one:", "k8s:enc:aescbc:v1:two:", "k8s:enc:secretbox:v1:one:", "k8s:enc:"][kind];
        let stored = [prefix.as_bytes(), &tail].concat();
        let _ = open(&all(), SECRETS, &stored);
    }
}
