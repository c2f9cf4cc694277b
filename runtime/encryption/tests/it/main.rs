//! Configurations, and the values that they read and write.

#![allow(clippy::unwrap_used, reason = "a panic is how a test reports")]

mod configuration;
mod plugin;
mod recorded;
mod values;

use std::sync::Arc;

use planesmith_encryption::{
    ConfigurationError, Encryption, EncryptionConfiguration, NoObserver, Observer, ResourceNames, Snapshot, Validation,
};
use planesmith_store::Transformers as _;

const VALIDATION: Validation = Validation {
    reloads: true,
    allows_kms_v1: false,
};

fn observer() -> Arc<dyn Observer> {
    Arc::new(NoObserver)
}

fn parsed(resources: &str) -> Result<EncryptionConfiguration, String> {
    let head = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:";
    EncryptionConfiguration::parse(format!("{head} {resources}\n").as_bytes())
}

fn snapshot_with(resources: &str, validation: Validation) -> Result<Snapshot, String> {
    let configuration = parsed(resources)?;
    Snapshot::new(&configuration, validation, &observer()).map_err(|ConfigurationError(problem)| problem)
}

fn snapshot(resources: &str) -> Result<Snapshot, String> {
    snapshot_with(resources, VALIDATION)
}

/// Uses the configuration from now on.
fn reload(encryption: &Encryption, resources: &str) {
    let configuration = parsed(resources).unwrap();
    let current = encryption.current();
    let successor = current.successor(&configuration, VALIDATION, &observer());
    encryption.replace(successor.unwrap());
}

fn names() -> ResourceNames {
    let name = |prefix: &str, group: &str, resource: &str| (prefix.to_owned(), group.to_owned(), resource.to_owned());
    ResourceNames::new([
        name("/registry/secrets/", "", "secrets"),
        name("/registry/services/specs/", "", "services"),
        name("/registry/deployments/", "apps", "deployments"),
    ])
}

fn encryption(resources: &str) -> Encryption {
    Encryption::new(names(), snapshot(resources).unwrap(), observer())
}

fn seal(encryption: &Encryption, prefix: &str, plain: &[u8]) -> Option<Vec<u8>> {
    let key = format!("{prefix}default/one");
    encryption
        .of(prefix)
        .seal(&key, plain, planesmith_store::Reason::Update)
        .unwrap()
}

/// The plain bytes, and true if they are stale; or the error.
fn open(encryption: &Encryption, prefix: &str, stored: &[u8]) -> Result<(Vec<u8>, bool), String> {
    let key = format!("{prefix}default/one");
    let transformer = encryption.of(prefix);
    let opened = transformer.open(&key, stored);
    opened
        .map(|plain| (plain.bytes.into_owned(), plain.is_stale))
        .map_err(|error| error.to_string())
}
