//! The messages of a signer, version 1 of the interface `ExternalJWTSigner`. They are declared by hand, so that a build needs no
//! compiler of protocol files.

/// The path of the method that signs a token.
pub(crate) const SIGN: &str = "/v1.ExternalJWTSigner/Sign";
/// The path of the method that returns the verification keys.
pub(crate) const FETCH_KEYS: &str = "/v1.ExternalJWTSigner/FetchKeys";
/// The path of the method that returns the limits of the signer.
pub(crate) const METADATA: &str = "/v1.ExternalJWTSigner/Metadata";

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct SignRequest {
    /// The second part of the token.
    #[prost(string, tag = "1")]
    pub(crate) claims: String,
}

/// The parts of the token that the signer adds. Its debug output has no signature.
#[derive(Clone, PartialEq, prost::Message)]
#[prost(skip_debug)]
pub(crate) struct SignResponse {
    /// The first part of the token.
    #[prost(string, tag = "1")]
    pub(crate) header: String,
    /// The third part of the token.
    #[prost(string, tag = "2")]
    pub(crate) signature: String,
}

impl std::fmt::Debug for SignResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut rendered = f.debug_struct("SignResponse");
        rendered.field("header", &self.header).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct FetchKeysRequest {}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FetchKeysResponse {
    #[prost(message, repeated, tag = "1")]
    pub(crate) keys: Vec<Key>,
    /// The time at which the signer read the keys.
    #[prost(message, optional, tag = "2")]
    pub(crate) data_timestamp: Option<Timestamp>,
    /// Seconds until the keys should be read again.
    #[prost(int64, tag = "3")]
    pub(crate) refresh_hint_seconds: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Key {
    #[prost(string, tag = "1")]
    pub(crate) key_id: String,
    /// A `SubjectPublicKeyInfo` in DER.
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) key: Vec<u8>,
    /// True for a key that verifies tokens and signs none.
    #[prost(bool, tag = "3")]
    pub(crate) exclude_from_oidc_discovery: bool,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Timestamp {
    #[prost(int64, tag = "1")]
    pub(crate) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(crate) nanos: i32,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct MetadataRequest {}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct MetadataResponse {
    #[prost(int64, tag = "1")]
    pub(crate) max_token_expiration_seconds: i64,
}
