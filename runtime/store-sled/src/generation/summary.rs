//! The content of a generation as counts and checksums.

use planesmith_store::Revision;
use ring::digest::{Context, SHA256};

/// The content of a generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// The last write that a generation of the first format includes; zero otherwise.
    pub(super) through: Revision,
    pub(super) keys: u64,
    /// Bytes of all records.
    pub(super) bytes: u64,
    /// SHA-256 of all records, in their order.
    pub(super) digest: [u8; 32],
}

impl Summary {
    /// The summary as the database stores it.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(56);
        for number in [self.through.0, self.keys, self.bytes] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.digest);
        bytes
    }
}

/// Computes the summary of written or read records.
#[derive(Clone)]
pub(super) struct Sum {
    keys: u64,
    bytes: u64,
    digest: Context,
}

impl Default for Sum {
    fn default() -> Self {
        Self {
            keys: 0,
            bytes: 0,
            digest: Context::new(&SHA256),
        }
    }
}

impl Sum {
    /// Adds the next record.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.keys += 1;
        self.bytes += bytes.len() as u64;
        self.digest.update(bytes);
    }

    /// Bytes of the records so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn summary(self) -> Summary {
        let mut digest = [0; 32];
        digest.copy_from_slice(self.digest.finish().as_ref());
        Summary {
            through: Revision::ZERO,
            keys: self.keys,
            bytes: self.bytes,
            digest,
        }
    }
}
