//! The names that field selectors of a kind take besides its paths.

/// The names that field selectors of a kind take besides its selectable paths, and the way in which others are refused.
#[derive(Clone, Copy, Debug)]
pub struct FieldLabels {
    /// Names that are no paths of the stored object.
    pub aliases: &'static [FieldAlias],
    /// The wording of a refusal.
    pub refusal: FieldRefusal,
    /// True if the namespace counts among the fields, of a kind that declares some and is namespaced.
    pub namespace: bool,
}

impl FieldLabels {
    /// The labels of most kinds.
    pub const NONE: Self = Self {
        aliases: &[],
        refusal: FieldRefusal::Field,
        namespace: true,
    };
}

/// A name in field selectors that is no path of the stored object.
#[derive(Clone, Copy, Debug)]
pub struct FieldAlias {
    /// The name.
    pub name: &'static str,
    /// Dotted paths of the stored object; the first that is not empty has the value. Without any the value is empty.
    pub paths: &'static [&'static str],
}

/// The way in which a kind that declares selectable fields refuses another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldRefusal {
    /// With the field.
    Field,
    /// With the group, version and kind, and the field.
    KindAndField,
    /// With the field in quotes and what the kind is called here.
    Quoted(&'static str),
}
