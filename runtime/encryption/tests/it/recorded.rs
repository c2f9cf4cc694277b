//! Values that kube-apiserver has written.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use planesmith_encryption::{Encryption, EncryptionConfiguration, Snapshot};
use planesmith_store::{Reason, Transformers as _};
use serde_json::Value;

use crate::{VALIDATION, names, observer};

#[test]
fn values_of_kube_apiserver_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/kubernetes/etcd");
    let Ok(configuration) = std::fs::read(folder.join("encryption.yaml")) else {
        println!("skipped: no reference data at ../shared/kubernetes/etcd");
        return;
    };
    let configuration = EncryptionConfiguration::parse(&configuration).unwrap();
    let snapshot = Snapshot::new(&configuration, VALIDATION, &observer()).unwrap();
    let encryption = Encryption::new(names(), snapshot, observer());
    let values = std::fs::read_to_string(folder.join("encrypted.jsonl")).unwrap();
    let mut count = 0;
    for line in values.lines() {
        let recorded: Value = serde_json::from_str(line).unwrap();
        let key = recorded["key"].as_str().unwrap();
        let stored = STANDARD.decode(recorded["value"].as_str().unwrap()).unwrap();
        let prefix = &key[..=key.find("/default/").unwrap()];
        let transformer = encryption.of(prefix);
        let plain = transformer.open(key, &stored).unwrap();
        assert!(
            plain.bytes.starts_with(b"k8s\0") || plain.bytes.starts_with(b"{"),
            "{key}"
        );
        assert!(
            String::from_utf8_lossy(&plain.bytes).contains(recorded["object"]["metadata"]["uid"].as_str().unwrap())
        );
        assert_eq!(plain.is_stale, !stored.starts_with(b"k8s:enc:aesgcm"), "{key}");
        let again = transformer.seal(key, &plain.bytes, Reason::Update).unwrap().unwrap();
        assert_eq!(transformer.open(key, &again).unwrap().bytes, plain.bytes);
        count += 1;
    }
    assert!(count > 0);
}
