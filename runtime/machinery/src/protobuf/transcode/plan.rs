//! Plans: tables prepared for transcoding.
//!
//! The tables of a struct are made for many readers, and are spread over many cache lines. A plan has no more than the
//! transcoder reads: for each field the tag and the operation, the bytes of absent fields, and a table of names without
//! collisions.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::AtomicU16;
use std::sync::{OnceLock, PoisonError, RwLock};

use planesmith_wire::duration::Duration;
use planesmith_wire::int_or_string::IntOrString;
use planesmith_wire::json::Name;
use planesmith_wire::micro_time::MicroTime;
use planesmith_wire::protobuf::{WireType, write_bytes, write_int, write_tag};
use planesmith_wire::quantity::Quantity;
use planesmith_wire::raw::{AnyJson, FieldsV1, RawExtension};
use planesmith_wire::scalar::ScalarCodec;
use planesmith_wire::sorting::sort_by_key;
use planesmith_wire::time::Time;

use super::names::Names;
use super::output::SHORT;
use crate::facts::{FieldFacts, ScalarFacts, StructFacts, TypeFacts, TypeMetaFacts};
use crate::json;
use crate::protobuf::is_wrapped;
use crate::value::Shape;

/// The plan of a struct.
pub(super) struct StructPlan {
    /// The JSON before the fields, for types that write their kind and version: `{"kind":"Pod","apiVersion":"v1"`.
    pub(super) head: Option<Box<[u8]>>,
    /// The fields, in the order of the JSON.
    pub(super) fields: Box<[FieldPlan]>,
    /// The index of each field by its name. The names of an inlined struct lead to the field with the struct.
    pub(super) names: Names,
    /// The bytes of all fields when they are absent, in the order of the JSON, and some room behind.
    absent: Box<[u8]>,
    /// The message without any field in the JSON.
    pub(super) empty: Box<[u8]>,
    /// The position of the first field in the object that was transcoded last.
    pub(super) first: AtomicU16,
    /// True if the numbers of the fields increase.
    pub(super) is_sorted: bool,
    /// True if messages usually take more than 127 bytes.
    pub(super) is_wide: bool,
}

/// The plan of a field.
pub(super) struct FieldPlan {
    pub(super) name: Name<'static>,
    /// The number; 0 if the field is not written.
    pub(super) number: u32,
    /// The position of the field that followed this one in the object that was transcoded last.
    pub(super) next: AtomicU16,
    /// The part of [`StructPlan::absent`].
    absent: Range<u32>,
    pub(super) value: ValuePlan,
}

/// A value and its tag.
pub(super) struct ValuePlan {
    pub(super) tag: u32,
    pub(super) operation: Operation,
}

/// The conversion of a value.
pub(super) enum Operation {
    /// The value is not written.
    Skip,
    Bool,
    Int32,
    Int64,
    Double,
    Text,
    /// Bytes; `is_optional` if an empty value is written.
    Bytes {
        is_optional: bool,
    },
    /// JSON that is copied.
    Raw,
    Quantity,
    Time,
    IntOrString,
    MicroTime,
    Duration,
    Struct(Link),
    /// A struct whose fields are fields of the outer one in JSON, and a nested message in protobuf.
    Inline(Link),
    /// The elements of a list, one after another.
    Repeated(Box<ValuePlan>),
    /// The entries of a map; the value is field 2 of an entry.
    Entries(Box<ValuePlan>),
    /// A message around a list or a map.
    Wrapped(Box<ValuePlan>),
    /// A type that needs a decoded object.
    Unsupported,
}

/// The plan of a nested struct, created on first use: structs may contain themselves.
pub(super) struct Link {
    facts: fn() -> &'static StructFacts,
    plan: OnceLock<Option<&'static StructPlan>>,
}

impl Link {
    /// Returns the plan; `None` if the struct needs a decoded object.
    #[inline]
    pub(super) fn plan(&self) -> Option<&'static StructPlan> {
        *self.plan.get_or_init(|| plan_of((self.facts)()))
    }
}

/// Returns the plan of the struct with these facts, which all users share. Tables are static, so the plans, which are
/// never dropped, are bounded. `None` if the struct has a type that needs a decoded object.
pub(super) fn plan_of(facts: &'static StructFacts) -> Option<&'static StructPlan> {
    static PLANS: RwLock<Option<HashMap<usize, Option<&'static StructPlan>>>> = RwLock::new(None);
    let key = std::ptr::from_ref(facts).addr();
    let known = PLANS.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(plan) = known.as_ref().and_then(|plans| plans.get(&key)) {
        return *plan;
    }
    drop(known);
    // Without the lock, because the plans of nested structs are needed.
    let plan = StructPlan::new(facts);
    let mut plans = PLANS.write().unwrap_or_else(PoisonError::into_inner);
    let plans = plans.get_or_insert_default();
    *plans
        .entry(key)
        .or_insert_with(|| plan.map(|plan| -> &'static StructPlan { Box::leak(Box::new(plan)) }))
}

impl StructPlan {
    fn new(facts: &'static StructFacts) -> Option<Self> {
        let (mut fields, mut names, mut absent) = (Vec::new(), Vec::new(), Vec::new());
        for (index, field) in facts.fields.iter().enumerate() {
            let start = absent.len();
            absent.extend_from_slice(&absent_bytes(field)?);
            let operation = match (field.inline, &field.ty) {
                (true, TypeFacts::Struct(inner)) => {
                    let inlined = plan_of(inner())?.names.iter().map(|(name, _)| (name, index));
                    names.extend(inlined);
                    Operation::Inline(Link::new(*inner))
                }
                (true, _) => return None,
                (false, _) => {
                    names.push((Name::new(field.name.as_bytes()), index));
                    of_field(field)
                }
            };
            fields.push(FieldPlan {
                name: Name::new(field.name.as_bytes()),
                number: field.proto,
                next: AtomicU16::new(0),
                absent: u32::try_from(start).ok()?..u32::try_from(absent.len()).ok()?,
                value: ValuePlan::new(field.proto, operation),
            });
        }
        let numbers = fields.iter().map(|field| field.number).filter(|number| *number > 0);
        absent.extend_from_slice(&[0; SHORT]);
        let mut order: Vec<&FieldPlan> = fields.iter().collect();
        sort_by_key(&mut order, |field| field.number);
        let empty: Box<[u8]> = order
            .iter()
            .flat_map(|field| &absent[field.absent()])
            .copied()
            .collect();
        Some(Self {
            head: facts.type_meta.and_then(head),
            names: Names::new(names)?,
            is_sorted: numbers.is_sorted_by(|one, next| one < next),
            is_wide: facts.fields.len() >= 7,
            fields: fields.into(),
            first: AtomicU16::new(0),
            absent: absent.into(),
            empty,
        })
    }

    /// Returns the place of the bytes of the fields in `range` when they are absent.
    #[inline]
    pub(super) fn place_of_absent(&self, range: Range<usize>) -> Range<usize> {
        match self.fields.get(range) {
            Some([first, .., last]) => first.absent.start as usize..last.absent.end as usize,
            Some([only]) => only.absent(),
            _ => 0..0,
        }
    }

    /// Returns the bytes of absent fields at `place`, and some more bytes.
    #[inline]
    pub(super) fn absent(&self, place: usize) -> &[u8] {
        self.absent.get(place..).unwrap_or_default()
    }
}

impl FieldPlan {
    #[inline]
    fn absent(&self) -> Range<usize> {
        self.absent.start as usize..self.absent.end as usize
    }
}

impl ValuePlan {
    fn new(number: u32, operation: Operation) -> Self {
        let wire_type = match operation {
            Operation::Bool | Operation::Int32 | Operation::Int64 => WireType::Varint,
            Operation::Double => WireType::Fixed64,
            _ => WireType::Bytes,
        };
        Self {
            tag: number << 3 | wire_type as u32,
            operation,
        }
    }

    /// The plan of a value that is not the value of a field.
    fn from_type(number: u32, ty: &'static TypeFacts) -> Self {
        Self::new(number, of_single(ty))
    }
}

impl Link {
    fn new(facts: fn() -> &'static StructFacts) -> Self {
        Self {
            facts,
            plan: OnceLock::new(),
        }
    }
}

/// The operation on the value of a field.
fn of_field(field: &'static FieldFacts) -> Operation {
    let number = field.proto;
    if number == 0 {
        return Operation::Skip;
    }
    match field.ty.present() {
        TypeFacts::List(_) if is_wrapped(field) => of_single(field.ty.present()),
        TypeFacts::List(element) => Operation::Repeated(Box::new(ValuePlan::from_type(number, element))),
        TypeFacts::Map(value) => Operation::Entries(Box::new(ValuePlan::from_type(2, value))),
        TypeFacts::Bytes => Operation::Bytes {
            is_optional: field.is_optional(),
        },
        other => of_single(other),
    }
}

/// The operation on a value that is written in one piece.
fn of_single(ty: &'static TypeFacts) -> Operation {
    match ty {
        TypeFacts::Bool => Operation::Bool,
        TypeFacts::Int32 => Operation::Int32,
        TypeFacts::Int64 => Operation::Int64,
        TypeFacts::Double => Operation::Double,
        TypeFacts::String => Operation::Text,
        TypeFacts::Bytes => Operation::Bytes { is_optional: true },
        TypeFacts::Scalar(facts) => of_scalar(facts),
        TypeFacts::Struct(inner) => Operation::Struct(Link::new(*inner)),
        TypeFacts::List(element) => wrapped(Operation::Repeated(Box::new(ValuePlan::from_type(1, element)))),
        TypeFacts::Map(value) => wrapped(Operation::Entries(Box::new(ValuePlan::from_type(2, value)))),
        TypeFacts::Optional(_) => Operation::Unsupported,
    }
}

fn wrapped(operation: Operation) -> Operation {
    Operation::Wrapped(Box::new(ValuePlan::new(1, operation)))
}

fn of_scalar(facts: &'static ScalarFacts) -> Operation {
    match facts {
        _ if is_raw(facts) => Operation::Raw,
        _ if is::<Quantity>(facts) => Operation::Quantity,
        _ if is::<Time>(facts) => Operation::Time,
        _ if is::<IntOrString>(facts) => Operation::IntOrString,
        _ if is::<MicroTime>(facts) => Operation::MicroTime,
        _ if is::<Duration>(facts) => Operation::Duration,
        _ => Operation::Unsupported,
    }
}

/// The bytes of an absent field: plain values and structs are written nevertheless. `None` if they are unknown.
fn absent_bytes(field: &FieldFacts) -> Option<Vec<u8>> {
    let (number, mut out) = (field.proto, Vec::new());
    if number == 0 {
        return Some(out);
    }
    match &field.ty {
        TypeFacts::Bool | TypeFacts::Int32 | TypeFacts::Int64 => write_int(&mut out, number, 0),
        TypeFacts::Double => {
            write_tag(&mut out, number, WireType::Fixed64);
            out.extend_from_slice(&0_f64.to_le_bytes());
        }
        TypeFacts::String => write_bytes(&mut out, number, b""),
        TypeFacts::Scalar(facts) => write_bytes(&mut out, number, &zero_of(facts)?),
        TypeFacts::Struct(inner) => write_bytes(&mut out, number, &plan_of(inner())?.empty),
        TypeFacts::Optional(_) | TypeFacts::List(_) | TypeFacts::Map(_) | TypeFacts::Bytes => {}
    }
    Some(out)
}

/// The payload of a zero leaf.
fn zero_of(facts: &'static ScalarFacts) -> Option<Vec<u8>> {
    fn zero<T: ScalarCodec + Default>() -> Vec<u8> {
        let mut out = Vec::new();
        T::default().write_proto(&mut out);
        out
    }
    match of_scalar(facts) {
        Operation::Raw => Some(Vec::new()),
        Operation::Quantity => Some(zero::<Quantity>()),
        Operation::Time => Some(zero::<Time>()),
        Operation::IntOrString => Some(zero::<IntOrString>()),
        Operation::MicroTime => Some(zero::<MicroTime>()),
        Operation::Duration => Some(zero::<Duration>()),
        _ => None,
    }
}

/// The JSON of the type before the fields; `None` if it has none.
fn head(meta: TypeMetaFacts) -> Option<Box<[u8]>> {
    let mut head = Vec::new();
    for (name, value) in [("kind", meta.kind), ("apiVersion", meta.api_version)] {
        if !value.is_empty() {
            head.push(if head.is_empty() { b'{' } else { b',' });
            json::encode_text(name, &mut head);
            head.push(b':');
            json::encode_text(value, &mut head);
        }
    }
    (!head.is_empty()).then(|| head.into())
}

fn is<T: Shape>(facts: &'static ScalarFacts) -> bool {
    matches!(T::TYPE, TypeFacts::Scalar(known) if std::ptr::eq(known, facts))
}

fn is_raw(facts: &'static ScalarFacts) -> bool {
    is::<FieldsV1>(facts) || is::<RawExtension>(facts) || is::<AnyJson>(facts)
}
