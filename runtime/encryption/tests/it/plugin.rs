//! Keys of a plugin, which is killed and restarted.

use std::time::{Duration, Instant};

use planesmith_encryption::testing::Plugin;
use planesmith_encryption::{Encryption, KmsProvider};
use planesmith_store::{Reason, Transformers as _};

use crate::{encryption, open, reload};

const SECRETS: &str = "/registry/secrets/";
const KEY: &str = "/registry/secrets/default/one";

fn configuration(plugin: &str) -> String {
    let kms = format!("{{kms: {{apiVersion: v2, name: plugin, endpoint: '{plugin}', timeout: 500ms}}}}");
    format!("[{{resources: [secrets], providers: [{kms}, {{identity: {{}}}}]}}]")
}

/// Waits until the plugin was called, and has the state.
fn wait(encryption: &Encryption, is_expected: impl Fn(&KmsProvider) -> bool) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let begin = Instant::now();
    let current = encryption.current();
    let plugin = current.plugins().next().unwrap();
    while !is_expected(plugin) {
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", plugin.health());
        runtime.block_on(plugin.probe());
    }
}

fn is_healthy(plugin: &KmsProvider) -> bool {
    plugin.health().problem.is_none()
}

fn seal(encryption: &Encryption) -> Result<Vec<u8>, String> {
    let sealed = encryption.of(SECRETS).seal(KEY, b"plain", Reason::Update);
    sealed.map(Option::unwrap).map_err(|error| error.to_string())
}

fn prepare(encryption: &Encryption, stored: &[u8]) {
    if let Some(preparation) = encryption.prepare(&mut std::iter::once(stored)) {
        preparation.wait();
    }
}

#[test]
fn one_seed_encrypts_all_values_and_is_decrypted_once() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::start(&folder.path().join("kms.sock"), "first");
    let writing = encryption(&configuration(&plugin.endpoint()));
    wait(&writing, is_healthy);
    let stored: Vec<Vec<u8>> = (0..20).map(|_| seal(&writing).unwrap()).collect();
    assert_eq!(plugin.calls(), 1);
    assert!(stored[0].starts_with(b"k8s:enc:kms:v2:plugin:"));
    assert_ne!(stored[0], stored[1]);
    assert!(!stored[0].windows(5).any(|window| window == b"plain"));

    let reading = encryption(&configuration(&plugin.endpoint()));
    wait(&reading, is_healthy);
    let before = plugin.calls();
    let preparation = reading.prepare(&mut stored.iter().map(Vec::as_slice)).unwrap();
    preparation.wait();
    for value in &stored {
        assert_eq!(open(&reading, SECRETS, value), Ok((b"plain".to_vec(), false)));
    }
    assert_eq!(plugin.calls(), before + 1);
    assert!(reading.prepare(&mut stored.iter().map(Vec::as_slice)).is_none());
    assert!(
        reading
            .of(SECRETS)
            .open("/registry/secrets/default/two", &stored[0])
            .is_err()
    );
}

#[test]
fn values_of_another_key_are_stale() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::start(&folder.path().join("kms.sock"), "first");
    let encryption = encryption(&configuration(&plugin.endpoint()));
    wait(&encryption, is_healthy);
    let stored = seal(&encryption).unwrap();
    let (writer, changes) = (encryption.of(SECRETS).writer(), encryption.changes());
    plugin.rotate("second");
    wait(&encryption, |_| encryption.of(SECRETS).writer() != writer);
    assert!(changes.has_changed().unwrap());
    assert_eq!(open(&encryption, SECRETS, &stored), Ok((b"plain".to_vec(), true)));
    let again = seal(&encryption).unwrap();
    assert_eq!(open(&encryption, SECRETS, &again), Ok((b"plain".to_vec(), false)));
}

#[test]
fn a_killed_plugin_is_used_again_after_its_restart() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("kms.sock");
    let plugin = Plugin::start(&socket, "first");
    let writing = encryption(&configuration(&plugin.endpoint()));
    wait(&writing, is_healthy);
    let stored = seal(&writing).unwrap();
    let endpoint = plugin.endpoint();
    drop(plugin);
    wait(&writing, |plugin| !is_healthy(plugin));
    // The seed is known, and the last good status is recent.
    assert_eq!(open(&writing, SECRETS, &stored), Ok((b"plain".to_vec(), false)));
    seal(&writing).unwrap();

    let reading = encryption(&configuration(&endpoint));
    prepare(&reading, &stored);
    let problem = open(&reading, SECRETS, &stored).unwrap_err();
    assert!(
        problem.starts_with("failed to decrypt DEK, error: the KMS provider plugin did not"),
        "{problem}"
    );
    let problem = seal(&reading).unwrap_err();
    assert!(problem.ends_with("has no key yet"), "{problem}");

    let changes = reading.changes();
    let plugin = Plugin::start(&socket, "first");
    wait(&reading, is_healthy);
    assert!(changes.has_changed().unwrap());
    prepare(&reading, &stored);
    assert_eq!(open(&reading, SECRETS, &stored), Ok((b"plain".to_vec(), false)));
    plugin.report("broken");
    wait(&reading, |plugin| !is_healthy(plugin));
    let current = reading.current();
    let problem = current.plugins().next().unwrap().health().problem.unwrap();
    assert!(problem.contains("got unexpected healthz status: broken"), "{problem}");
}

#[test]
fn a_reload_keeps_the_keys_of_an_unchanged_plugin() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::start(&folder.path().join("kms.sock"), "first");
    let encryption = encryption(&configuration(&plugin.endpoint()));
    wait(&encryption, is_healthy);
    let stored = seal(&encryption).unwrap();
    let endpoint = plugin.endpoint();
    drop(plugin);
    reload(&encryption, &configuration(&endpoint));
    assert!(encryption.prepare(&mut std::iter::once(&stored[..])).is_none());
    assert_eq!(open(&encryption, SECRETS, &stored), Ok((b"plain".to_vec(), false)));
    seal(&encryption).unwrap();
    // Another socket is another plugin.
    reload(&encryption, &configuration(&format!("{endpoint}.other")));
    prepare(&encryption, &stored);
    open(&encryption, SECRETS, &stored).unwrap_err();
}

#[test]
fn a_key_that_was_not_decrypted_is_requested_again() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::start(&folder.path().join("kms.sock"), "first");
    let writing = encryption(&configuration(&plugin.endpoint()));
    wait(&writing, is_healthy);
    let stored = seal(&writing).unwrap();
    let reading = encryption(&configuration(&plugin.endpoint()));
    wait(&reading, is_healthy);
    let mut changes = reading.changes();
    changes.mark_unchanged();
    plugin.refuse(1);
    prepare(&reading, &stored);
    let problem = open(&reading, SECRETS, &stored).unwrap_err();
    assert_eq!(
        problem,
        "failed to decrypt DEK, error: the KMS provider plugin did not decrypt the key"
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let changed = tokio::time::timeout(Duration::from_secs(20), changes.changed());
        changed.await.expect("the key is decrypted in time").unwrap();
    });
    assert_eq!(open(&reading, SECRETS, &stored), Ok((b"plain".to_vec(), false)));
}

#[test]
fn errors_for_clients_have_no_text_of_the_plugin() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = Plugin::start(&folder.path().join("kms.sock"), "first");
    plugin.report("vault.internal is sealed");
    let encryption = encryption(&configuration(&plugin.endpoint()));
    let has_answered = |plugin: &KmsProvider| {
        plugin
            .health()
            .problem
            .is_some_and(|problem| problem.contains("sealed"))
    };
    wait(&encryption, has_answered);
    let problem = seal(&encryption).unwrap_err();
    assert_eq!(problem, "the KMS provider plugin has no key yet");
}
