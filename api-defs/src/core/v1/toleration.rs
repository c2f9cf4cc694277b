//! Taints that pods tolerate.

use planesmith_machinery::Struct;

/// Toleration.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Toleration {
    /// The key.
    #[field(proto = 1)]
    pub key: String,
    /// The operator.
    #[field(proto = 2)]
    pub operator: String,
    /// The value.
    #[field(proto = 3)]
    pub value: String,
    /// The effect.
    #[field(proto = 4)]
    pub effect: String,
    /// The toleration seconds.
    #[field(proto = 5)]
    pub toleration_seconds: Option<i64>,
}
