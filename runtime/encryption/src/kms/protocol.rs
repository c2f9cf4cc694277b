//! The messages of a plugin, version 2 of the interface. They are declared by hand, so that a build needs no compiler of protocol
//! files.

use std::collections::BTreeMap;
use std::fmt;

/// The path of the method that reports the plugin's state.
pub(crate) const STATUS: &str = "/v2.KeyManagementService/Status";
/// The path of the method that encrypts a seed.
pub(crate) const ENCRYPT: &str = "/v2.KeyManagementService/Encrypt";
/// The path of the method that decrypts a seed.
pub(crate) const DECRYPT: &str = "/v2.KeyManagementService/Decrypt";

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct StatusRequest {}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StatusResponse {
    /// The version of the interface.
    #[prost(string, tag = "1")]
    pub(crate) version: String,
    /// `ok`, or the problem.
    #[prost(string, tag = "2")]
    pub(crate) healthz: String,
    /// The key that encrypts now.
    #[prost(string, tag = "3")]
    pub(crate) key_id: String,
}

/// Its seed is not rendered.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(crate) struct EncryptRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) plaintext: Vec<u8>,
    /// Identifies the request in logs.
    #[prost(string, tag = "2")]
    pub(crate) uid: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct EncryptResponse {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) ciphertext: Vec<u8>,
    #[prost(string, tag = "2")]
    pub(crate) key_id: String,
    /// Bytes that the plugin needs to decrypt, in clear.
    #[prost(btree_map = "string, bytes", tag = "3")]
    pub(crate) annotations: BTreeMap<String, Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DecryptRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) ciphertext: Vec<u8>,
    /// Identifies the request in logs.
    #[prost(string, tag = "2")]
    pub(crate) uid: String,
    #[prost(string, tag = "3")]
    pub(crate) key_id: String,
    #[prost(btree_map = "string, bytes", tag = "4")]
    pub(crate) annotations: BTreeMap<String, Vec<u8>>,
}

/// Its seed is not rendered.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(crate) struct DecryptResponse {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) plaintext: Vec<u8>,
}

impl fmt::Debug for EncryptRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rendered = formatter.debug_struct("EncryptRequest");
        rendered.field("uid", &self.uid).finish_non_exhaustive()
    }
}

impl fmt::Debug for DecryptResponse {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DecryptResponse").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_debug_output_has_a_seed() {
        let plaintext = vec![151; 32];
        let request = EncryptRequest {
            plaintext: plaintext.clone(),
            uid: "one".to_owned(),
        };
        let debug = format!("{request:?} {:?}", DecryptResponse { plaintext });
        assert!(debug.contains("one"), "{debug}");
        assert!(!debug.contains("151"), "{debug}");
    }
}
