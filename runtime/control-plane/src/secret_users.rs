//! Objects that use secrets by their names.

use std::collections::BTreeSet;

/// Objects of a component that use secrets by their names, such as pods.
pub trait SecretUsers: Send + Sync {
    /// Returns the names of the secrets in `namespace` that any object there uses.
    fn used_secrets(&self, namespace: &str) -> BTreeSet<String>;
}
