//! The kind and version that a document names.

/// Kind and API version of a document; empty where it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeMeta {
    /// `v1` or `group/version`.
    pub api_version: String,
    /// E.g. `ConfigMap`.
    pub kind: String,
}
