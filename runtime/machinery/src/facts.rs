//! The facts that the derives emit about a type, as static tables.
//!
//! A table is data: codecs, defaulting, validation, field ownership, patches, OpenAPI and tables all walk it with
//! generic code, so that a struct costs a few hundred bytes instead of a copy of each algorithm.

mod leads;

pub use leads::{Misfit, PathUse, StructTable, check_path, check_whole_path};

/// One struct: its name and its fields in the order in which they are written.
#[derive(Debug)]
pub struct StructFacts {
    /// Name of the type as error messages and OpenAPI show it, e.g. `ConfigMap`.
    pub name: &'static str,
    /// Path of the Rust module that defines the type. Its last part that is a version (`v1`, `v2beta1`) is the package
    /// that decoding errors name the type by.
    pub module: &'static str,
    /// Description shown by `kubectl explain`; paragraphs are separated by an empty line.
    pub doc: &'static str,
    /// Set for types that write `kind` and `apiVersion` in front of their fields.
    pub type_meta: Option<TypeMetaFacts>,
    /// The struct is owned and replaced as a whole (`x-kubernetes-map-type: atomic`).
    pub atomic: bool,
    /// The order of the fields inside kube-apiserver, where that is not the wire order; errors that show a whole value use it.
    pub internal: Option<&'static InternalLayout>,
    /// The fields, in wire order.
    pub fields: &'static [FieldFacts],
}

impl StructFacts {
    /// A struct without fields and any declared fact, for struct update syntax in tables.
    pub const NONE: StructFacts = StructFacts {
        name: "",
        module: "",
        doc: "",
        type_meta: None,
        atomic: false,
        internal: None,
        fields: &[],
    };

    /// The field that is written as `name`, of the struct itself or else of one that is written inline.
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

/// The places of the fields of a type inside kube-apiserver. Fields go by their JSON names.
#[derive(Debug, PartialEq, Eq)]
pub struct InternalLayout {
    /// The fields in their order inside. Those of the type that are named nowhere here come after them.
    pub fields: &'static [&'static str],
    /// A field, and those that it has inside, in front of its own, and that stand beside it on the wire.
    pub lent: Option<(&'static str, &'static [&'static str])>,
    /// Fields that there are only on the wire.
    pub left_out: &'static [&'static str],
}

/// The `kind` and `apiVersion` that a type writes in front of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeMetaFacts {
    /// `v1` or `group/version`.
    pub api_version: &'static str,
    /// E.g. `ConfigMap`.
    pub kind: &'static str,
}

/// One field of a struct.
#[derive(Debug)]
pub struct FieldFacts {
    /// JSON name; empty for an inlined struct.
    pub name: &'static str,
    /// The type of the value.
    pub ty: TypeFacts,
    /// When the field is left out of JSON.
    pub omit: Omit,
    /// Protobuf field number; 0 when the field has none.
    pub proto: u32,
    /// Description; paragraphs are separated by an empty line.
    pub doc: &'static str,
    /// The fields of this struct are written as if they stood in the outer one.
    pub inline: bool,
    /// Listed under `required` in OpenAPI, and refused when empty.
    pub required: bool,
    /// The reason why OpenAPI lists the field under `required`, or does not.
    pub listing: Listing,
    /// JSON literal taken when the field is absent.
    pub default: Option<&'static str>,
    /// Declared constraints, checked in order.
    pub rules: &'static [Rule],
    /// The way in which apply tells elements of a list apart; ignored for other types.
    pub list: ListType,
    /// A map or struct field that is owned and replaced as a whole.
    pub atomic: bool,
    /// A map or struct field that is owned field by field, even if its type is atomic elsewhere.
    pub granular: bool,
    /// The treatment of the field by a strategic merge patch.
    pub patch: Option<PatchFacts>,
    /// The place of the value in the storage version when not under the same name: a dotted path from the root.
    pub moved_to: Option<&'static str>,
    /// The name that Go gives to the type, for decoding errors: `PullPolicy`, `[]Capability`, `types.UID`. A type without a
    /// package is of that of the struct. Empty when the name follows from `ty`.
    pub go_type: &'static str,
}

impl FieldFacts {
    /// A field without any declared fact, for struct update syntax in derived tables.
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

    /// True if the field tells absence apart from emptiness.
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
    /// A value that can be absent, told apart from its empty form.
    Optional(&'static TypeFacts),
}

impl TypeFacts {
    /// The shape without the possibility of absence.
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
    /// Name of the Go type, as decoding errors show it, e.g. `v1.Time`.
    pub go_name: &'static str,
    /// Full OpenAPI definition name, e.g. `io.k8s.apimachinery.pkg.apis.meta.v1.Time`; empty when written in place.
    pub definition: &'static str,
    /// OpenAPI type; empty for a value of any type.
    pub openapi_type: &'static str,
    /// OpenAPI format; may be empty.
    pub format: &'static str,
}

/// When a field is left out of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omit {
    /// Always written; an empty list or map as `null`.
    Never,
    /// Left out when false, zero, empty or absent; an embedded struct is always written.
    Empty,
    /// As `Empty`, and an embedded struct or time is left out too when it holds nothing.
    Zero,
}

/// The reason why OpenAPI lists a field under `required`, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// When it is refused when empty, or always written with nothing that stands in for it.
    AsWritten,
    /// Listed, and yet not refused when empty: a rule of its own says when it may be.
    Required,
    /// Not listed, even if it is always written.
    Optional,
}

/// The way in which apply tells the elements of a list apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListType {
    /// Not declared: treated as atomic.
    Unspecified,
    /// Replaced as a whole.
    Atomic,
    /// Each value stands once.
    Set,
    /// Elements are told apart by these fields.
    Map(&'static [&'static str]),
}

impl FieldFacts {
    /// The way in which managers tell the elements of this field, a list, apart: a list that declares only how patches merge
    /// it is told apart the same way.
    #[must_use]
    pub fn told_apart(&'static self) -> ListType {
        match (self.list, &self.patch) {
            (ListType::Unspecified, Some(patch)) if patch.merge => match patch.merge_key {
                "" => ListType::Set,
                _ => ListType::Map(std::slice::from_ref(&patch.merge_key)),
            },
            (declared, _) => declared,
        }
    }
}

/// The treatment of a field by a strategic merge patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatchFacts {
    /// Elements are merged instead of replaced.
    pub merge: bool,
    /// Keys that the patch does not retain are dropped (`retainKeys`).
    pub retain_keys: bool,
    /// The whole value is replaced, although values of its kind are merged.
    pub replace: bool,
    /// The field that tells elements apart; empty for lists of plain values.
    pub merge_key: &'static str,
}

/// A declared constraint on one field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// One of these texts.
    Enum(&'static [&'static str]),
    /// Usually one of these texts, or a list or map of them; OpenAPI lists them, others are not refused.
    Known(&'static [&'static str]),
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
    /// All of these hold of each element of a list or value of a map.
    Each(&'static [Rule]),
    /// No element of a list stands twice: none with the same values of these fields, or of all of it when there are none.
    Unique(&'static [&'static str]),
    /// The value cannot change once it is set.
    Immutable,
}
