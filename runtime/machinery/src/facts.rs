//! The facts that the derives record about a type, as static tables.
//!
//! A table is data: codecs, defaulting, validation, field ownership, patches, OpenAPI and tables all walk it with
//! generic code, so that a struct costs a few hundred bytes instead of a copy of each algorithm.

mod field_paths;

pub use field_paths::{PathError, PathUse, StructTable, check_path, check_whole_path};

/// One struct: its name and its fields in the order in which they are written.
#[derive(Debug)]
pub struct StructFacts {
    /// Name of the type in error messages and OpenAPI, e.g. `ConfigMap`.
    pub name: &'static str,
    /// Path of the Rust module that defines the type. Its last part that is a version (`v1`, `v2beta1`) is the package
    /// that decoding errors name the type by.
    pub module: &'static str,
    /// Description shown by `kubectl explain`; paragraphs are separated by an empty line.
    pub doc: &'static str,
    /// Set for types that write `kind` and `apiVersion` in front of their fields.
    pub type_meta: Option<TypeMetaFacts<'static>>,
    /// The struct is owned and replaced as a whole (`x-kubernetes-map-type: atomic`).
    pub atomic: bool,
    /// Layout of kube-apiserver's internal type, for errors that print a whole value; `None` if it is that of the wire.
    pub internal: Option<&'static InternalLayout>,
    /// Irregular Go names of fields, by JSON name; the others follow from their JSON names.
    pub go_names: &'static [(&'static str, &'static str)],
    /// The fields, in wire order.
    pub fields: &'static [FieldFacts],
}

impl StructFacts {
    /// A struct without fields and declared facts, for struct update syntax in tables.
    pub const NONE: StructFacts = StructFacts {
        name: "",
        module: "",
        doc: "",
        type_meta: None,
        atomic: false,
        internal: None,
        go_names: &[],
        fields: &[],
    };

    /// Returns the field with the JSON name `name`, of the struct itself or of an inlined struct.
    #[must_use]
    pub fn field_named(&self, name: &str) -> Option<&'static FieldFacts> {
        let own = self.fields.iter().find(|field| !field.inline && field.name == name);
        own.or_else(|| {
            let inlined = self.fields.iter().filter(|field| field.inline);
            inlined
                .filter_map(|field| match field.ty.present() {
                    TypeFacts::Struct(inner) => Some(inner()),
                    _ => None,
                })
                .find_map(|inner| inner.field_named(name))
        })
    }
}

/// The field layout of kube-apiserver's internal type. Fields are identified by their JSON names.
#[derive(Debug, PartialEq, Eq)]
pub struct InternalLayout {
    /// The fields in internal order. Fields of the type that are not listed in this layout follow them.
    pub fields: &'static [&'static str],
    /// A field, and its siblings on the wire that are internally the first fields of its value.
    pub lent: Option<(&'static str, &'static [&'static str])>,
    /// Fields that exist only on the wire.
    pub left_out: &'static [&'static str],
    /// Optional numbers that are not optional internally: absent ones are printed as 0.
    pub zeros: &'static [&'static str],
}

impl InternalLayout {
    /// The layout of the wire, for struct update syntax.
    pub const SAME: InternalLayout = InternalLayout {
        fields: &[],
        lent: None,
        left_out: &[],
        zeros: &[],
    };
}

/// The `kind` and `apiVersion` that a type writes in front of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeMetaFacts<'t> {
    /// `v1` or `group/version`.
    pub api_version: &'t str,
    /// E.g. `ConfigMap`.
    pub kind: &'t str,
}

/// One field of a struct.
#[derive(Debug)]
pub struct FieldFacts {
    /// JSON name; empty for an inlined struct.
    pub name: &'static str,
    /// Type of the field.
    pub ty: TypeFacts,
    /// Condition under which the field is omitted from JSON.
    pub omit: Omit,
    /// Protobuf field number; 0 when the field has none.
    pub proto: u32,
    /// Description; paragraphs are separated by an empty line.
    pub doc: &'static str,
    /// True if the fields of this struct are written as fields of the outer one.
    pub inline: bool,
    /// True if the field is listed under `required` in OpenAPI and an empty value is rejected.
    pub required: bool,
    /// Override of the listing under `required` in OpenAPI.
    pub listing: Listing,
    /// Default as a JSON literal; `None` if there is no default.
    pub default: Option<&'static str>,
    /// Declared constraints, checked in order.
    pub rules: &'static [Rule],
    /// Identity of list elements for apply; ignored for other types.
    pub list: ListType,
    /// True for a map or struct field that is owned and replaced as a whole.
    pub atomic: bool,
    /// True for a map or struct field that is owned field by field even if its type is atomic.
    pub granular: bool,
    /// Directives for strategic merge patches; `None` means the default for the type.
    pub patch: Option<PatchFacts>,
    /// Dotted path of the value in the storage version, from the root; `None` if the field has the same path there.
    pub moved_to: Option<&'static str>,
    /// Name of the Go type for decoding errors: `PullPolicy`, `[]Capability`, `types.UID`. A name without a package is
    /// in the package of the struct. Empty if the name follows from `ty`.
    pub go_type: &'static str,
}

impl FieldFacts {
    /// A field without declared facts, for struct update syntax in derived tables.
    pub const NONE: FieldFacts = FieldFacts {
        name: "",
        ty: TypeFacts::Bool,
        omit: Omit::Empty,
        proto: 0,
        doc: "",
        inline: false,
        required: false,
        listing: Listing::AsWritten,
        default: None,
        rules: &[],
        list: ListType::Unspecified,
        atomic: false,
        granular: false,
        patch: None,
        moved_to: None,
        go_type: "",
    };

    /// True if an absent value differs from an empty one.
    #[must_use]
    pub fn is_optional(&self) -> bool {
        matches!(self.ty, TypeFacts::Optional(_))
    }

    /// True if OpenAPI lists the field under `required`.
    #[must_use]
    pub fn is_listed_as_required(&self) -> bool {
        match self.listing {
            Listing::Required => true,
            Listing::Optional => false,
            Listing::AsWritten => self.required || (self.omit == Omit::Never && self.default.is_none()),
        }
    }
}

/// The shape of a value.
#[derive(Clone, Copy, Debug)]
pub enum TypeFacts {
    /// `true` or `false`.
    Bool,
    /// Signed 32-bit integer.
    Int32,
    /// Signed 64-bit integer.
    Int64,
    /// 64-bit floating point number.
    Double,
    /// UTF-8 text.
    String,
    /// Bytes; base64 text in JSON.
    Bytes,
    /// A leaf with its own text form.
    Scalar(&'static ScalarFacts),
    /// A struct; a function because structs may contain themselves.
    Struct(fn() -> &'static StructFacts),
    /// Zero or more values in order.
    List(&'static TypeFacts),
    /// Values by text key, sorted by key.
    Map(&'static TypeFacts),
    /// A value that can be absent, as distinct from empty.
    Optional(&'static TypeFacts),
}

impl TypeFacts {
    /// Returns the shape of the value if it is present: strips [`TypeFacts::Optional`].
    #[must_use]
    pub const fn present(&self) -> &TypeFacts {
        match self {
            TypeFacts::Optional(inner) => inner.present(),
            other => other,
        }
    }
}

/// A leaf type such as a quantity or a time.
#[derive(Debug)]
pub struct ScalarFacts {
    /// Name of the Go type in decoding errors, e.g. `v1.Time`.
    pub go_name: &'static str,
    /// Full OpenAPI definition name, e.g. `io.k8s.apimachinery.pkg.apis.meta.v1.Time`; empty if the schema is written
    /// inline.
    pub definition: &'static str,
    /// OpenAPI type; empty for a value of any type.
    pub openapi_type: &'static str,
    /// OpenAPI format; may be empty.
    pub format: &'static str,
}

/// Conditions under which a field is omitted from JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omit {
    /// Always written; an empty list or map as `null`.
    Never,
    /// Omitted if false, zero, empty or absent; an embedded struct is always written.
    Empty,
    /// As `Empty`; an embedded struct or time is also omitted if it is zero.
    Zero,
}

/// The rule by which OpenAPI lists a field under `required`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Listed if an empty value is rejected, or if the field is always written and has no default.
    AsWritten,
    /// Listed, although an empty value is not rejected in general: the kind has a rule of its own.
    Required,
    /// Not listed, even if the field is always written.
    Optional,
}

/// The identity of list elements for apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListType {
    /// Not declared: treated as atomic.
    Unspecified,
    /// Replaced as a whole.
    Atomic,
    /// Elements are identified by their value, which is unique.
    Set,
    /// Elements are identified by these fields.
    Map(&'static [&'static str]),
}

impl FieldFacts {
    /// Returns the identity of the elements of this list for managers. A list that declares only a merge key for
    /// patches is identified by that key.
    #[must_use]
    pub fn element_identity(&'static self) -> ListType {
        match (self.list, &self.patch) {
            (ListType::Unspecified, Some(patch)) if patch.merge => match patch.merge_key {
                "" => ListType::Set,
                _ => ListType::Map(std::slice::from_ref(&patch.merge_key)),
            },
            (declared, _) => declared,
        }
    }
}

/// Directives of a field for strategic merge patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatchFacts {
    /// True if elements are merged instead of replaced.
    pub merge: bool,
    /// True if keys that the patch does not retain are removed (`retainKeys`).
    pub retain_keys: bool,
    /// True if the whole value is replaced although its type is merged by default.
    pub replace: bool,
    /// The field that identifies elements; empty for lists of plain values.
    pub merge_key: &'static str,
}

/// A declared constraint on one field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// One of these texts.
    Enum(&'static [&'static str]),
    /// Usually one of these texts, or a list or map of them. OpenAPI lists them; other values are accepted.
    KnownValues(&'static [&'static str]),
    /// At least this number.
    Minimum(i64),
    /// At most this number.
    Maximum(i64),
    /// At least so many characters, elements or entries.
    MinLength(u64),
    /// At most so many characters, elements or entries.
    MaxLength(u64),
    /// Text matches this regular expression.
    Pattern(&'static str),
    /// All of these rules apply to each element of a list or value of a map.
    Each(&'static [Rule]),
    /// List elements are unique by the values of these fields, or as a whole if no fields are given.
    Unique(&'static [&'static str]),
    /// The value cannot change once it is set.
    Immutable,
}
