//! Values while an expression is evaluated.

mod compare;
mod effort;
mod view;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;

use planesmith_dynamic::structural::{ListKind, Structural};
use planesmith_machinery::quantity::Quantity;
use serde_json::Value as Json;

use crate::authorization::{AuthorizerDecision, Check, ServiceAccount};
use crate::library::format::Format;
use crate::library::instant::Instant;
use crate::library::semver::Semver;
use crate::library::url::Url;
use crate::types::Type;
use crate::types::{ANY_OBJECT, JSON_PATCH};

pub(crate) use compare::{compare, contains_all, equal_or_false, equals, includes, order};
pub(crate) use effort::{Effort, MAX_STEPS};
pub(crate) use view::{field_of, from_json, from_plain_json, unescaped};

/// A value. Values from documents are borrowed from the document.
#[derive(Clone, Debug)]
pub enum Value<'d> {
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A floating-point number.
    Double(f64),
    /// A string.
    String(Text<'d>),
    /// Bytes.
    Bytes(Rc<[u8]>),
    /// A duration, in nanoseconds.
    Duration(i64),
    /// A point in time.
    Timestamp(Instant),
    /// A list.
    List(List<'d>),
    /// A map or an object.
    Map(Map<'d>),
    /// An object that the expression constructs.
    Object(Rc<Constructed<'d>>),
    /// A type.
    Type(Type),
    /// An optional value.
    Optional(Option<Box<Value<'d>>>),
    /// A value of unknown type that the schema preserves; it supports only comparison.
    Unknown(&'d Json),
    /// A value of a Kubernetes library.
    Library(Library),
}

/// A string.
#[derive(Clone, Debug)]
pub enum Text<'d> {
    /// Part of a document or of the expression.
    Borrowed(&'d str),
    /// Created during evaluation.
    Owned(Rc<str>),
}

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Text::Borrowed(text) => text,
            Text::Owned(text) => text,
        }
    }
}

/// A list.
#[derive(Clone, Debug)]
pub enum List<'d> {
    /// Created during evaluation.
    Owned(Rc<Vec<Value<'d>>>),
    /// Part of a document.
    View {
        /// The elements.
        elements: &'d [Json],
        /// Their schema; without it, types follow from the JSON values.
        items: Option<&'d Structural>,
        /// The list type, which identifies elements in comparisons.
        kind: &'d ListKind,
    },
}

/// A map or an object.
#[derive(Clone, Debug)]
pub enum Map<'d> {
    /// Created during evaluation.
    Owned(Rc<BTreeMap<Key, Value<'d>>>),
    /// Part of a document.
    View {
        /// The entries.
        entries: &'d serde_json::Map<String, Json>,
        /// Their schema; without it, types follow from the JSON values.
        schema: Option<&'d Structural>,
        /// True for an API object, which has a kind and metadata.
        is_root: bool,
    },
}

/// An object that an expression constructs, as `Object.spec{replicas: 1}`.
#[derive(Clone, Debug)]
pub struct Constructed<'d> {
    /// The name of the type, such as `Object.spec`.
    pub name: &'d str,
    /// The fields.
    pub fields: BTreeMap<&'d str, Value<'d>>,
}

/// A key of a map.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// A string.
    String(Rc<str>),
}

/// A value of a Kubernetes library.
#[derive(Clone, Debug)]
pub enum Library {
    /// `kubernetes.URL`.
    Url(Rc<Url>),
    /// `net.IP`.
    Ip(IpAddr),
    /// `net.CIDR`: the address as written, and the prefix length in bits.
    Cidr(IpAddr, u8),
    /// `kubernetes.Quantity`.
    Quantity(Rc<Quantity>),
    /// A sum or difference of quantities, to which kube-apiserver compares no value.
    ComputedQuantity(Rc<Quantity>),
    /// `kubernetes.Semver`.
    Semver(Rc<Semver>),
    /// `kubernetes.NamedFormat`.
    Format(&'static Format),
    /// `kubernetes.authorization.Authorizer`: answers for a service account, or for the user of the request.
    Authorizer(Option<Rc<ServiceAccount>>),
    /// `kubernetes.authorization.PathCheck`, `GroupCheck` and `ResourceCheck`, with the subject.
    Check(Rc<Check>, Option<Rc<ServiceAccount>>),
    /// `kubernetes.authorization.Decision`.
    Decision(Rc<AuthorizerDecision>),
}

/// The reason for a missing value.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The error message, for example about a missing key.
    Failed(String),
    /// The cost limit was exceeded.
    TooExpensive,
    /// The expression needs a decision that the authorizer has not made yet.
    Suspended,
}

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Fault::Failed(message.into())
    }

    /// True if no operator or macro may continue after the fault.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self, Fault::TooExpensive | Fault::Suspended)
    }

    /// Returns the message, worded as kube-apiserver words it.
    #[must_use]
    pub fn message(&self) -> &str {
        match self {
            Fault::Failed(message) => message,
            Fault::TooExpensive => "operation cancelled: actual cost limit exceeded",
            Fault::Suspended => "the authorizer has not decided yet",
        }
    }
}

/// A value, or the fault that prevented it.
pub type Evaluated<'d> = Result<Value<'d>, Fault>;

impl<'d> Value<'d> {
    /// Returns the value of a document without a schema: types follow from the JSON values.
    #[must_use]
    pub fn of_document(document: &'d Json) -> Self {
        view::from_plain_json(document)
    }

    pub(crate) fn text(text: impl Into<Rc<str>>) -> Self {
        Value::String(Text::Owned(text.into()))
    }

    pub(crate) fn list(elements: Vec<Value<'d>>) -> Self {
        Value::List(List::Owned(Rc::new(elements)))
    }

    pub(crate) fn some(self) -> Self {
        Value::Optional(Some(Box::new(self)))
    }

    /// Creates a list of strings.
    pub(crate) fn texts<'t>(effort: &mut Effort, texts: impl IntoIterator<Item = &'t str>) -> Evaluated<'d> {
        let mut elements = Vec::new();
        for text in texts {
            effort.takes_elements(1)?;
            effort.takes(text.len())?;
            elements.push(Value::text(text));
        }
        Ok(Value::list(elements))
    }

    /// Returns the run-time type name used in messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::String(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            Value::List(_) => "list",
            Value::Map(_) => "map",
            Value::Object(object) if object.name == JSON_PATCH => JSON_PATCH,
            Value::Object(_) => ANY_OBJECT,
            Value::Type(_) => "type",
            Value::Optional(_) => "optional_type",
            Value::Unknown(_) => "unknown",
            Value::Library(library) => library.type_name(),
        }
    }

    /// Returns the name of the type that implements such values in cel-go.
    pub(crate) fn go_type_name(&self) -> &'static str {
        match self {
            Value::Null => "types.Null",
            Value::Bool(_) => "types.Bool",
            Value::Int(_) => "types.Int",
            Value::Uint(_) => "types.Uint",
            Value::Double(_) => "types.Double",
            Value::String(_) => "types.String",
            Value::Bytes(_) => "types.Bytes",
            Value::Duration(_) => "types.Duration",
            Value::Timestamp(_) => "types.Timestamp",
            Value::Type(_) => "*types.Type",
            Value::Optional(_) => "*types.Optional",
            other => other.type_name(),
        }
    }

    /// Returns the run-time type, without element types.
    pub(crate) fn type_of(&self) -> Type {
        match self {
            Value::Object(object) => Type::object(object.name, BTreeMap::new()),
            other => Type::named(other.type_name()).unwrap_or(Type::Dyn),
        }
    }

    /// Returns the size that cost counts: characters, bytes, elements or entries, and 1 for anything else.
    pub(crate) fn size(&self) -> u64 {
        let size = match self {
            Value::String(text) => text.chars().count(),
            Value::Bytes(bytes) => bytes.len(),
            Value::List(list) => list.len(),
            Value::Map(map) => map.len(),
            Value::Optional(Some(value)) => return value.size(),
            Value::Library(Library::Ip(address)) => {
                if address.is_ipv4() {
                    4
                } else {
                    16
                }
            }
            Value::Library(Library::Cidr(_, bits)) => usize::from(*bits).div_ceil(8),
            _ => 1,
        };
        size as u64
    }

    /// True if the value matches type `ty` in overload resolution.
    pub(crate) fn is_a(&self, ty: &Type) -> bool {
        match ty {
            Type::Dyn | Type::Error | Type::Param(_) => true,
            Type::Null => matches!(self, Value::Null),
            Type::Bool => matches!(self, Value::Bool(_)),
            Type::Int => matches!(self, Value::Int(_)),
            Type::Uint => matches!(self, Value::Uint(_)),
            Type::Double => matches!(self, Value::Double(_)),
            Type::String => matches!(self, Value::String(_)),
            Type::Bytes => matches!(self, Value::Bytes(_)),
            Type::Duration => matches!(self, Value::Duration(_)),
            Type::Timestamp => matches!(self, Value::Timestamp(_)),
            Type::List(_) => matches!(self, Value::List(_)),
            Type::Map(..) => matches!(self, Value::Map(_)),
            Type::Struct(_) => matches!(self, Value::Map(_) | Value::Object(_)),
            Type::Type(_) => matches!(self, Value::Type(_)),
            Type::Optional(_) => matches!(self, Value::Optional(_)),
            Type::Library(name) => self.type_name() == *name,
        }
    }

    /// True if the value is empty, zero, false or absent.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Value::Null | Value::Bool(false) | Value::Int(0) | Value::Uint(0) | Value::Duration(0) => true,
            Value::Double(number) => *number == 0.0,
            Value::String(text) => text.is_empty(),
            Value::Bytes(bytes) => bytes.is_empty(),
            Value::List(list) => list.len() == 0,
            Value::Map(map) => map.len() == 0,
            Value::Object(object) => object.fields.is_empty(),
            Value::Optional(value) => value.as_ref().is_none_or(|value| value.is_zero()),
            _ => false,
        }
    }
}

impl<'d> Constructed<'d> {
    /// Returns the field `name`; `None` if it is absent. Absent texts of a patch operation are empty.
    pub(crate) fn field(&self, name: &str) -> Option<Value<'d>> {
        match self.fields.get(name) {
            Some(value) => Some(value.clone()),
            None if self.name == JSON_PATCH && name != "value" => Some(Value::text("")),
            None => None,
        }
    }

    /// True if the field `name` is set.
    pub(crate) fn has(&self, name: &str) -> bool {
        match self.fields.get(name) {
            Some(Value::String(text)) if self.name == JSON_PATCH && name != "value" => !text.is_empty(),
            found => found.is_some(),
        }
    }
}

impl Library {
    fn type_name(&self) -> &'static str {
        match self {
            Library::Url(_) => "kubernetes.URL",
            Library::Ip(_) => "net.IP",
            Library::Cidr(..) => "net.CIDR",
            Library::Quantity(_) | Library::ComputedQuantity(_) => "kubernetes.Quantity",
            Library::Semver(_) => "kubernetes.Semver",
            Library::Format(_) => "kubernetes.NamedFormat",
            Library::Authorizer(_) => "kubernetes.authorization.Authorizer",
            Library::Check(check, _) => match &**check {
                Check::Path(_) => "kubernetes.authorization.PathCheck",
                Check::Group(_) => "kubernetes.authorization.GroupCheck",
                Check::Resource(_) => "kubernetes.authorization.ResourceCheck",
            },
            Library::Decision(_) => "kubernetes.authorization.Decision",
        }
    }
}

impl Key {
    /// Converts a value to a map key. Equal integers of all types are the same key.
    pub(crate) fn from_value(value: &Value<'_>) -> Option<Key> {
        Some(match value {
            Value::Bool(value) => Key::Bool(*value),
            Value::Int(value) => Key::Int(i128::from(*value)),
            Value::Uint(value) => Key::Int(i128::from(*value)),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "it is whole, and saturates where it is too large"
            )]
            Value::Double(value) if value.fract() == 0.0 => Key::Int(*value as i128),
            Value::String(text) => Key::String((&**text).into()),
            _ => return None,
        })
    }

    /// Converts the key back to a value.
    pub(crate) fn value<'d>(&self) -> Value<'d> {
        match self {
            Key::Bool(value) => Value::Bool(*value),
            Key::Int(value) => match i64::try_from(*value) {
                Ok(value) => Value::Int(value),
                Err(_) => Value::Uint(u64::try_from(*value).unwrap_or(u64::MAX)),
            },
            Key::String(text) => Value::String(Text::Owned(text.clone())),
        }
    }
}
