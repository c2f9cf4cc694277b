//! The hashes of flows.

use std::hash::{BuildHasher as _, RandomState};

/// Hashes flows with a random key: clients cannot choose names whose flows have the queues of others.
#[derive(Clone, Debug, Default)]
pub struct FlowHasher(RandomState);

impl FlowHasher {
    /// Returns the hash of the flow of requests that a flow schema matched and that have the same distinguisher, such as the name
    /// of their user. It selects the queues of the flow.
    #[must_use]
    pub fn hash(&self, schema: &str, distinguisher: &str) -> u64 {
        self.0.hash_one((schema, distinguisher))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_differ_by_their_schema_and_their_distinguisher() {
        let hasher = FlowHasher::default();
        let hash = hasher.hash("catch-all", "ann");
        assert_eq!(hasher.clone().hash("catch-all", "ann"), hash);
        for (schema, distinguisher) in [("catch-all", "bob"), ("catch-al", "lann"), ("catch-allann", "")] {
            assert_ne!(hasher.hash(schema, distinguisher), hash);
        }
        assert_ne!(FlowHasher::default().hash("catch-all", "ann"), hash, "keys are random");
    }
}
