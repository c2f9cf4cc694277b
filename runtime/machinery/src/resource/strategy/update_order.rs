//! Validation orders for the replacement of an object.

use UpdateStep::{Change, Declared, Metadata, MetadataChange, Object};

/// One step of the validation of a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateStep {
    /// The metadata, as on create.
    Metadata,
    /// Immutability of metadata.
    MetadataChange,
    /// The declared rules, without [`Strategy::validate`](super::Strategy::validate).
    Declared,
    /// The declared rules and [`StrategyExtensions::validate_replacement`](super::StrategyExtensions::validate_replacement).
    Object,
    /// Immutability: declared rules and [`Strategy::validate_update`](super::Strategy::validate_update).
    Change,
}

/// Immutability first, then the new object.
pub const CHANGE_FIRST: &[UpdateStep] = &[MetadataChange, Change, Metadata, Object];
/// The new object first, then immutability.
pub const OBJECT_FIRST: &[UpdateStep] = &[Metadata, Object, MetadataChange, Change];
/// Immutability of metadata, the declared rules, then immutability of the rest. The kind calls
/// [`Strategy::validate`](super::Strategy::validate) from there as needed.
pub const CHANGE_ONLY: &[UpdateStep] = &[MetadataChange, Declared, Change];
/// Immutability of metadata, the new object, then immutability of the rest; the metadata itself is not checked
/// again.
pub const METADATA_FIRST: &[UpdateStep] = &[MetadataChange, Object, Change];
/// The new object, then immutability; changes of metadata are not checked again.
pub const OBJECT_ONLY: &[UpdateStep] = &[Metadata, Object, Change];
