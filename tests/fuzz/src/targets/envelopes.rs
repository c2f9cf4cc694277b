//! Encrypted values of stores.

use std::sync::{Arc, LazyLock};

use planesmith_encryption::{
    Encryption, EncryptionConfiguration, NoObserver, Observer, ResourceNames, Snapshot, Validation,
};
use planesmith_store::{Reason, Transformer, Transformers as _};

const CONFIGURATION: &str = "\
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - aesgcm: {keys: [{name: a, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}, {name: b, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYX}]}
  - aescbc: {keys: [{name: a, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}]}
  - secretbox: {keys: [{name: a, secret: AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=}]}
  - kms: {apiVersion: v2, name: p, endpoint: 'unix:///nonexistent/kms.sock', timeout: 1s}
  - identity: {}
";

const KEY: &str = "/registry/secrets/default/a";

static SECRETS: LazyLock<Arc<dyn Transformer>> = LazyLock::new(|| encryption().of("/registry/secrets/"));

fn encryption() -> Encryption {
    let observer: Arc<dyn Observer> = Arc::new(NoObserver);
    let configuration = EncryptionConfiguration::parse(CONFIGURATION.as_bytes()).expect("a configuration");
    let validation = Validation {
        reloads: true,
        allows_kms_v1: false,
    };
    let snapshot = Snapshot::new(&configuration, validation, &observer).expect("a valid configuration");
    Encryption::new(ResourceNames::default(), snapshot, observer)
}

/// A value that is read is written and read back; a configuration is read or refused.
pub(crate) fn run(input: &[u8]) {
    let observer: Arc<dyn Observer> = Arc::new(NoObserver);
    if let Ok(configuration) = EncryptionConfiguration::parse(input)
        && !input.windows(3).any(|window| window == b"kms")
    {
        let validation = Validation {
            reloads: false,
            allows_kms_v1: true,
        };
        // Most are refused.
        let _ = Snapshot::new(&configuration, validation, &observer);
    }
    let Ok(plain) = SECRETS.open(KEY, input) else {
        return;
    };
    let sealed = SECRETS
        .seal(KEY, &plain.bytes, Reason::Update)
        .expect("the first provider has a key");
    if let Some(sealed) = sealed {
        let again = SECRETS.open(KEY, &sealed).expect("what was written is read");
        assert_eq!(again.bytes, plain.bytes);
        assert!(!again.is_stale);
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let sealed = SECRETS.seal(KEY, b"{\"kind\":\"Secret\"}", Reason::Update);
    let sealed = sealed.ok().flatten().unwrap_or_default();
    let kms = [&b"k8s:enc:kms:v2:p:\x0a\x02ab\x12\x03key\x1a\x04seed\x22\x09\x0a\x03a.b\x12\x02cd\x28\x01"[..]];
    let prefixes = [
        "k8s:enc:aescbc:v1:a:",
        "k8s:enc:secretbox:v1:a:",
        "k8s:enc:aesgcm:v1:b:",
    ];
    let others = prefixes.map(|prefix| [prefix.as_bytes(), &sealed].concat());
    let mut seeds = vec![sealed, CONFIGURATION.as_bytes().to_vec(), b"{}".to_vec()];
    seeds.extend(kms.map(<[u8]>::to_vec));
    seeds.extend(others);
    seeds
}
