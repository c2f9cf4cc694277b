//! Types of expressions.

mod unify;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub(crate) use unify::{Bindings, is_at_most_as_specific};

/// The type name of objects with arbitrary fields.
pub(crate) const ANY_OBJECT: &str = "Object";

/// The type name of the operations of a JSON patch.
pub(crate) const JSON_PATCH: &str = "JSONPatch";

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Any value; type checks happen during evaluation.
    Dyn,
    /// The type of an expression with a type error.
    Error,
    /// `null_type`.
    Null,
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `uint`.
    Uint,
    /// `double`.
    Double,
    /// `string`.
    String,
    /// `bytes`.
    Bytes,
    /// `google.protobuf.Duration`.
    Duration,
    /// `google.protobuf.Timestamp`.
    Timestamp,
    /// `list(T)`.
    List(Arc<Type>),
    /// `map(K, V)`.
    Map(Arc<Type>, Arc<Type>),
    /// The type of a type.
    Type(Arc<Type>),
    /// `optional_type(T)`.
    Optional(Arc<Type>),
    /// A type of a library, such as `kubernetes.Quantity`.
    Library(&'static str),
    /// An object with fields.
    Struct(Arc<StructType>),
    /// A type parameter, resolved during checking.
    Param(u32),
}

/// An object type.
#[derive(Debug)]
pub struct StructType {
    /// The name in messages.
    pub name: String,
    /// Field types, by their names in expressions.
    pub fields: BTreeMap<String, Type>,
}

impl PartialEq for StructType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Type {
    /// A list of `element`.
    #[must_use]
    pub fn list(element: Type) -> Self {
        Type::List(Arc::new(element))
    }

    /// A map from strings to `value`.
    #[must_use]
    pub fn map(value: Type) -> Self {
        Type::Map(Arc::new(Type::String), Arc::new(value))
    }

    /// An optional `value`.
    #[must_use]
    pub fn optional(value: Type) -> Self {
        Type::Optional(Arc::new(value))
    }

    /// An object called `name`.
    #[must_use]
    pub fn object(name: impl Into<String>, fields: BTreeMap<String, Type>) -> Self {
        Type::Struct(Arc::new(StructType {
            name: name.into(),
            fields,
        }))
    }

    pub(crate) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Type::Dyn | Type::Error)
    }

    /// True if all values have the same size.
    pub(crate) fn is_scalar(&self) -> bool {
        match self {
            Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
            Type::Optional(inner) => inner.is_scalar(),
            _ => false,
        }
    }

    /// Returns the type inside an optional and true, or the type itself and false.
    pub(crate) fn unwrapped(&self) -> (&Type, bool) {
        match self {
            Type::Optional(inner) => (inner, true),
            other => (other, false),
        }
    }

    /// Returns the name that values of the type have: that of the type without its parameters.
    pub(crate) fn value_name(&self) -> String {
        let mut name = match self {
            Type::Null => "null_type".to_owned(),
            Type::Duration => "google.protobuf.Duration".to_owned(),
            Type::Timestamp => "google.protobuf.Timestamp".to_owned(),
            other => other.to_string(),
        };
        name.truncate(name.find('(').unwrap_or(name.len()));
        name
    }

    /// Returns the name with its parameters, as messages about the result of an expression have it.
    pub(crate) fn result_name(&self) -> String {
        let parameters = match self {
            Type::List(inner) | Type::Optional(inner) | Type::Type(inner) => inner.result_name(),
            Type::Map(key, value) => format!("{}, {}", key.result_name(), value.result_name()),
            _ => return self.value_name(),
        };
        format!("{}({parameters})", self.value_name())
    }

    /// Returns the type called `name` in expressions.
    pub(crate) fn named(name: &str) -> Option<Type> {
        Some(match name {
            "bool" => Type::Bool,
            "bytes" => Type::Bytes,
            "double" => Type::Double,
            "google.protobuf.Duration" => Type::Duration,
            "google.protobuf.Timestamp" => Type::Timestamp,
            "int" => Type::Int,
            "list" => Type::list(Type::Dyn),
            "map" => Type::Map(Arc::new(Type::Dyn), Arc::new(Type::Dyn)),
            "null_type" => Type::Null,
            "string" => Type::String,
            "type" => Type::Type(Arc::new(Type::Dyn)),
            "uint" => Type::Uint,
            "optional_type" => Type::optional(Type::Dyn),
            _ => Type::Library(LIBRARY_TYPES.iter().copied().find(|library| *library == name)?),
        })
    }
}

/// Types of the Kubernetes libraries.
pub(crate) const LIBRARY_TYPES: [&str; 11] = [
    "kubernetes.URL",
    "net.IP",
    "net.CIDR",
    "kubernetes.Quantity",
    "kubernetes.Semver",
    "kubernetes.NamedFormat",
    "kubernetes.authorization.Authorizer",
    "kubernetes.authorization.PathCheck",
    "kubernetes.authorization.GroupCheck",
    "kubernetes.authorization.ResourceCheck",
    "kubernetes.authorization.Decision",
];

/// The form used in messages.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Dyn => f.write_str("dyn"),
            Type::Error => f.write_str("!error!"),
            Type::Null => f.write_str("null"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Uint => f.write_str("uint"),
            Type::Double => f.write_str("double"),
            Type::String => f.write_str("string"),
            Type::Bytes => f.write_str("bytes"),
            Type::Duration => f.write_str("duration"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::List(element) => write!(f, "list({element})"),
            Type::Map(key, value) => write!(f, "map({key}, {value})"),
            Type::Type(of) => write!(f, "type({of})"),
            Type::Optional(value) => write!(f, "optional_type({value})"),
            Type::Library(name) => f.write_str(name),
            Type::Struct(object) => f.write_str(&object.name),
            Type::Param(number) => write!(f, "_var{number}"),
        }
    }
}
