//! Field selectors of a kind beyond its selectable paths.

/// Fields that selectors of a kind accept besides its selectable paths, and the wording of a rejection.
#[derive(Clone, Copy, Debug)]
pub struct FieldLabels {
    /// Names that are not paths of the stored object.
    pub aliases: &'static [FieldAlias],
    /// Wording of a rejection.
    pub refusal: FieldRefusal,
    /// True if a namespaced kind with selectable fields also accepts `metadata.namespace`.
    pub namespace: bool,
    /// True if the kind counts as one with selectable fields even if it declares none.
    pub declared: bool,
}

impl FieldLabels {
    /// The value for most kinds.
    pub const NONE: Self = Self {
        aliases: &[],
        refusal: FieldRefusal::Field,
        namespace: true,
        declared: false,
    };
}

/// A name in field selectors that is not a path of the stored object.
#[derive(Clone, Copy, Debug)]
pub struct FieldAlias {
    /// The name.
    pub name: &'static str,
    /// Dotted paths of the stored object; the first non-empty value counts. Without paths the value is empty.
    pub paths: &'static [&'static str],
}

/// The wording in which a kind with selectable fields rejects another field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldRefusal {
    /// Contains the field.
    Field,
    /// Contains the group, version and kind, and the field.
    KindAndField,
    /// Contains the field in quotes and this name of the kind.
    Quoted(&'static str),
}
