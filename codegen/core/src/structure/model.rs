//! The checked facts of a struct; the text form of what machinery's `StructFacts` will hold.

use syn::{Ident, Path, Type};

use crate::type_ref::TypeRef;

/// One struct.
#[derive(Clone, Debug)]
pub struct StructModel {
    /// The Rust name.
    pub ident: Ident,
    /// The name that error messages and OpenAPI show.
    pub name: String,
    /// Description; paragraphs are separated by an empty line.
    pub doc: String,
    /// What is written in front of the fields.
    pub type_meta: Option<TypeMeta>,
    /// Owned and replaced as a whole.
    pub atomic: bool,
    /// Path of the `InternalLayout`: where the fields stand inside kube-apiserver.
    pub internal: Option<Path>,
    /// At most one of the fields besides the discriminator is set.
    pub union: bool,
    /// The fields, in wire order.
    pub fields: Vec<FieldModel>,
}

/// `kind` and `apiVersion` of a type that writes them itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeMeta {
    /// `v1` or `group/version`.
    pub api_version: String,
    /// E.g. `ConfigMap`.
    pub kind: String,
}

/// One field.
#[derive(Clone, Debug)]
pub struct FieldModel {
    /// The Rust name.
    pub ident: Ident,
    /// The Rust type, as written.
    pub ty: Type,
    /// The shape of the type as far as its tokens tell.
    pub shape: TypeRef,
    /// JSON name; empty for an inlined struct.
    pub name: String,
    /// When the field is left out of JSON.
    pub omit: Omit,
    /// Protobuf field number; 0 when the field has none.
    pub proto: u32,
    /// Description; paragraphs are separated by an empty line.
    pub doc: String,
    /// The fields of this struct are written as if they stood in the outer one.
    pub inline: bool,
    /// Refused when empty.
    pub required: bool,
    /// Whether OpenAPI lists the field as required.
    pub listing: Listing,
    /// JSON literal taken when the field is absent.
    pub default: Option<String>,
    /// Declared constraints.
    pub rules: Vec<RuleModel>,
    /// How apply tells elements of a list apart.
    pub list: ListType,
    /// A map or struct field that is replaced as a whole.
    pub atomic: bool,
    /// A map or struct field that is never replaced as a whole, whatever its type says.
    pub granular: bool,
    /// How a strategic merge patch treats the field.
    pub patch: Option<PatchModel>,
    /// Dotted path of the value in the storage version.
    pub moved_to: Option<String>,
    /// Says which member of a union is set.
    pub discriminator: bool,
    /// The name that Go gives to the type of the field; empty when it follows from the shape.
    pub go_type: String,
}

/// When a field is left out of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omit {
    /// Always written.
    Never,
    /// Left out when empty; an embedded struct is always written.
    Empty,
    /// Left out when empty or a struct that holds nothing.
    Zero,
}

/// Whether OpenAPI lists a field under `required`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// When it is refused when empty, or always written.
    AsWritten,
    /// Listed, and yet not refused when empty.
    Required,
    /// Not listed, even if it is always written.
    Optional,
}

/// How apply tells the elements of a list apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListType {
    /// Not declared.
    Unspecified,
    /// Replaced as a whole.
    Atomic,
    /// Each value stands once.
    Set,
    /// Elements are told apart by these fields.
    Map(Vec<String>),
}

/// How a strategic merge patch treats a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchModel {
    /// Elements are merged instead of replaced.
    pub merge: bool,
    /// Keys that the patch does not retain are dropped.
    pub retain_keys: bool,
    /// The whole value is replaced.
    pub replace: bool,
    /// The field that tells elements apart; may be empty.
    pub merge_key: String,
}

/// A declared constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleModel {
    /// One of these texts.
    Enum(Vec<String>),
    /// Usually one of these texts; others are not refused.
    Known(Vec<String>),
    /// At least this number.
    Minimum(i64),
    /// At most this number.
    Maximum(i64),
    /// At least so many characters, elements or entries.
    MinLength(u64),
    /// At most so many characters, elements or entries.
    MaxLength(u64),
    /// Text matches this regular expression.
    Pattern(String),
    /// All of these hold of each element of a list or entry of a map.
    Each(Vec<RuleModel>),
    /// No element of a list stands twice: none with the same values of these fields, or of all of it when there are none.
    Unique(Vec<String>),
    /// Cannot change once it is set.
    Immutable,
}
