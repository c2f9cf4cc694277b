//! Creates the default service account of every namespace.

use serde_json::{Value, json};

use super::in_each_namespace::EachNamespace;

/// The account `default`.
pub(super) struct DefaultServiceAccount;

impl EachNamespace for DefaultServiceAccount {
    const NAME: &'static str = "default";
    const PLURAL: &'static str = "serviceaccounts";
    const WORK: &'static str = "default service account";

    fn object_for(&self, namespace: &str) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": Self::NAME, "namespace": namespace},
        })
    }
}
