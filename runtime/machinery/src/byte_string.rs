//! Bytes that are base64 text in JSON.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::facts::TypeFacts;
use crate::value::{Shape, Slot, Value, View};

/// Bytes; base64 text in JSON, plain bytes in protobuf.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteString(pub Vec<u8>);

/// The content is often secret, so only its length is printed.
impl fmt::Debug for ByteString {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ByteString({} bytes)", self.0.len())
    }
}

impl From<Vec<u8>> for ByteString {
    fn from(bytes: Vec<u8>) -> Self {
        ByteString(bytes)
    }
}

impl From<&[u8]> for ByteString {
    fn from(bytes: &[u8]) -> Self {
        ByteString(bytes.to_vec())
    }
}

impl Deref for ByteString {
    type Target = Vec<u8>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for ByteString {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Shape for ByteString {
    const TYPE: TypeFacts = TypeFacts::Bytes;
}

impl Value for ByteString {
    fn view(&self) -> View<'_> {
        View::Bytes(&self.0)
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::Bytes(&mut self.0)
    }

    fn reset(&mut self) {
        self.0.clear();
    }
}
