//! Protobuf as Kubernetes generates it, at the level of fields: proto2 without surprises, in an envelope that names the type.

mod envelope;
mod fields;

pub use envelope::{Envelope, MAGIC, close_envelope, open, open_envelope, wrap};
pub use fields::{Fields, Wire, WireType, read_varint, write_bytes, write_int, write_message, write_tag, write_varint};

/// The reason why bytes could not be read; the message is kube-apiserver's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(String);

impl DecodeError {
    /// An error with this message.
    #[must_use]
    pub fn new(message: String) -> Self {
        DecodeError(message)
    }

    pub(crate) fn truncated() -> Self {
        DecodeError::new("unexpected EOF".to_owned())
    }
}
