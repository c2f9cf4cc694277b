//! Encryption of stored objects: an EncryptionConfiguration, and values in the envelopes of kube-apiserver.
//!
//! Reading order: `configuration` (the file) and `validation` (its rules), `aes_gcm`, `aes_cbc` and `secretbox` (ciphers with
//! keys of the file), `keyring` (several keys of one provider), `kms` (keys of a plugin), `provider`, `chain` (the providers of
//! one resource), `encryption` (the providers of all resources, which a reload replaces) and `observer` (what metrics count).

mod aes_cbc;
mod aes_gcm;
mod chain;
mod configuration;
mod encryption;
mod keyring;
mod kms;
mod observer;
mod provider;
mod random;
mod secretbox;
#[cfg(feature = "testing")]
pub mod testing;
mod validation;

pub use configuration::{EncryptionConfiguration, KmsApiVersion};
pub use encryption::{Encryption, ResourceNames, Snapshot};
pub use kms::{KmsHealth, KmsProvider};
pub use observer::{EncryptionEvent, NoObserver, Observer};
pub use validation::{ConfigurationError, Validation};
