//! The validated facts of a struct; the textual form of machinery's `StructFacts`.

use syn::{Ident, Path, Type};

use crate::type_ref::TypeRef;

/// One struct.
#[derive(Clone, Debug)]
pub struct StructModel {
    /// The Rust name.
    pub ident: Ident,
    /// The name in error messages and OpenAPI.
    pub name: String,
    /// The description; paragraphs are separated by an empty line.
    pub doc: String,
    /// `kind` and `apiVersion`, written before the fields; `None` if the struct does not write them.
    pub type_meta: Option<TypeMeta>,
    /// True if apply owns and replaces the struct as a whole.
    pub atomic: bool,
    /// The path of the `InternalLayout`, the fields inside kube-apiserver; `None` if they are those of the wire.
    pub internal: Option<Path>,
    /// True if at most one of the fields besides the discriminator can be set.
    pub union: bool,
    /// The fields, in wire order.
    pub fields: Vec<FieldModel>,
}

/// `kind` and `apiVersion` of a type that writes them itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeMeta {
    /// `v1` or `group/version`.
    pub api_version: String,
    /// The kind, e.g. `ConfigMap`.
    pub kind: String,
}

/// A field.
#[derive(Clone, Debug)]
pub struct FieldModel {
    /// The Rust name.
    pub ident: Ident,
    /// The Rust type, as written.
    pub ty: Type,
    /// The shape of the type, as far as its tokens reveal.
    pub shape: TypeRef,
    /// The JSON name; empty for an inlined struct.
    pub name: String,
    /// The condition under which the field is omitted from JSON.
    pub omit: Omit,
    /// The protobuf field number; 0 for none.
    pub proto: u32,
    /// The description; paragraphs are separated by an empty line.
    pub doc: String,
    /// True if the fields of this struct are written at the level of the enclosing struct.
    pub inline: bool,
    /// True if an empty value is refused.
    pub required: bool,
    /// The listing of the field under `required` in OpenAPI.
    pub listing: Listing,
    /// The JSON literal that replaces an absent value; `None` for no default.
    pub default: Option<String>,
    /// The declared constraints, without that of `known_at`.
    pub rules: Vec<RuleModel>,
    /// The path of a constant with the usual values; `None` if they are among the constraints, or there are none.
    pub known_at: Option<Path>,
    /// The list type, which identifies the elements of a list in apply.
    pub list: ListType,
    /// True for a map or struct field that apply replaces as a whole.
    pub atomic: bool,
    /// True for a map or struct field that apply never replaces as a whole, whatever its type declares.
    pub granular: bool,
    /// The strategic merge patch behaviour; `None` for the default.
    pub patch: Option<PatchModel>,
    /// The dotted path of the value in the storage version; `None` for the same path.
    pub moved_to: Option<String>,
    /// True if the field names the member of the union that is set.
    pub discriminator: bool,
    /// The Go name of the field; empty if it follows from the JSON name.
    pub go_name: String,
    /// The Go name of the field's type; empty if it follows from the shape.
    pub go_type: String,
}

/// The condition under which a field is omitted from JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omit {
    /// The field is always written.
    Never,
    /// The field is omitted if it is empty; an embedded struct is always written.
    Empty,
    /// The field is omitted if it is empty or a struct without content.
    Zero,
}

/// The listing of a field under `required` in OpenAPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Listed if it is refused when empty, or always written.
    AsWritten,
    /// Listed, although it is not refused when empty.
    Required,
    /// Not listed, even if it is always written.
    Optional,
}

/// The list type, which identifies the elements of a list in apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListType {
    /// Not declared.
    Unspecified,
    /// The list is replaced as a whole.
    Atomic,
    /// Values are unique and identify themselves.
    Set,
    /// The values of these fields identify an element.
    Map(Vec<String>),
}

/// The strategic merge patch behaviour of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchModel {
    /// True if elements are merged instead of replaced.
    pub merge: bool,
    /// True if keys that are absent from the patch are dropped.
    pub retain_keys: bool,
    /// True if the whole value is replaced.
    pub replace: bool,
    /// The field that identifies elements; empty for none.
    pub merge_key: String,
}

/// A declared constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleModel {
    /// The value is one of these strings.
    Enum(Vec<String>),
    /// The value is usually one of these strings; others are accepted.
    KnownValues(Vec<String>),
    /// The value is at least this number.
    Minimum(i64),
    /// The value is at most this number.
    Maximum(i64),
    /// The value has at least this number of characters, elements or entries.
    MinLength(u64),
    /// The value has at most this number of characters, elements or entries.
    MaxLength(u64),
    /// The string matches this regular expression.
    Pattern(String),
    /// All these constraints apply to each element of a list or value of a map.
    Each(Vec<RuleModel>),
    /// Elements of a list are unique by the values of these fields, or by their whole value if there are none.
    Unique(Vec<String>),
    /// The value cannot change once it is set.
    Immutable,
}
