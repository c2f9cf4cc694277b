//! Decodes a protobuf message into a struct by walking its table.

use planesmith_wire::protobuf::{Fields, Wire, read_varint};

use super::{DecodeError, is_wrapped};
use crate::decode_budget;
use crate::facts::FieldFacts;
use crate::value::{List, Map, Slot, Struct, Value};

/// Maximum nesting depth of messages: the walk recurses, so this bounds the stack.
const MAX_DEPTH: usize = 256;

/// The depth of a walk and its remaining budget.
pub(crate) struct Walk {
    /// Number of enclosing messages.
    pub(crate) depth: usize,
    /// Remaining bytes for the elements of lists and maps.
    pub(crate) budget: usize,
}

impl Walk {
    fn take(&mut self, element: &dyn Value) -> Result<(), DecodeError> {
        decode_budget::take(&mut self.budget, element).map_err(DecodeError::new)
    }
}

/// Decodes a payload into `target`; fields that are not in the payload are unchanged, unknown ones are skipped.
pub(crate) fn read_struct(payload: &[u8], target: &mut dyn Struct, walk: &mut Walk) -> Result<(), DecodeError> {
    if walk.depth > MAX_DEPTH {
        return Err(DecodeError::new("proto: message is nested too deep".to_owned()));
    }
    let facts = target.facts();
    let mut fields = Fields::new(payload, facts.name);
    let mut hint = 0;
    while let Some((number, wire)) = fields.next()? {
        let Some(index) = position(facts.fields, number, hint) else {
            continue;
        };
        hint = index;
        read_field(wire, target.field_mut(index).slot(), &facts.fields[index], walk)?;
    }
    Ok(())
}

/// Returns the index of the field with this number. Fields mostly come in order, so the search starts at `hint`, the
/// previous field.
fn position(fields: &[FieldFacts], number: u32, hint: usize) -> Option<usize> {
    let matches = |index: &usize| fields[*index].proto == number;
    (hint..fields.len()).find(matches).or_else(|| (0..hint).find(matches))
}

fn read_field(wire: Wire<'_>, slot: Slot<'_>, field: &FieldFacts, walk: &mut Walk) -> Result<(), DecodeError> {
    match slot {
        Slot::Optional(optional) if !is_wrapped(field) => match optional.insert().slot() {
            Slot::List(list) => read_element(wire, list, field.name, walk),
            Slot::Map(map) => read_entry(wire, map, field.name, walk),
            other => read_single(wire, other, field.name, walk),
        },
        Slot::List(list) => read_element(wire, list, field.name, walk),
        Slot::Map(map) => read_entry(wire, map, field.name, walk),
        other => read_single(wire, other, field.name, walk),
    }
}

/// Decodes a single value; a list or map is wrapped in a message in this position.
fn read_single(wire: Wire<'_>, slot: Slot<'_>, name: &str, walk: &mut Walk) -> Result<(), DecodeError> {
    match slot {
        Slot::Bool(target) => *target = wire.int(name)? != 0,
        // Go truncates larger numbers to the low bits.
        Slot::Int32(target) => *target = wire.int(name)? as i32,
        Slot::Int64(target) => *target = wire.int(name)?,
        Slot::Double(target) => match wire {
            Wire::Fixed64(bits) if f64::from_bits(bits).is_finite() => *target = f64::from_bits(bits),
            // The store has JSON.
            Wire::Fixed64(bits) => {
                let value = f64::from_bits(bits);
                return Err(DecodeError::new(format!("{name} is {value}, which JSON cannot hold")));
            }
            other => return Err(other.wrong(name)),
        },
        Slot::Str(target) => {
            target.clear();
            push_text(target, wire.bytes(name)?);
        }
        Slot::Bytes(target) => {
            target.clear();
            target.extend_from_slice(wire.bytes(name)?);
        }
        Slot::Scalar(target) => {
            let payload = wire.bytes(name)?;
            target
                .read_proto_within(payload, walk.depth)
                .map_err(|error| DecodeError::new(error.to_string()))?;
        }
        Slot::Struct(target) => {
            walk.depth += 1;
            read_struct(wire.bytes(name)?, target, walk)?;
            walk.depth -= 1;
        }
        Slot::Optional(target) => read_single(wire, target.insert().slot(), name, walk)?,
        Slot::List(list) => {
            let mut fields = Fields::new(wire.bytes(name)?, "items");
            while let Some((number, wire)) = fields.next()? {
                if number == 1 {
                    read_element(wire, list, name, walk)?;
                }
            }
        }
        Slot::Map(map) => {
            let mut fields = Fields::new(wire.bytes(name)?, "entries");
            while let Some((number, wire)) = fields.next()? {
                if number == 1 {
                    read_entry(wire, map, name, walk)?;
                }
            }
        }
    }
    Ok(())
}

/// Appends text; each byte that is not part of valid UTF-8 becomes one U+FFFD.
fn push_text(target: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        target.push_str(chunk.valid());
        for _ in chunk.invalid() {
            target.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

fn read_element(wire: Wire<'_>, list: &mut dyn List, name: &str, walk: &mut Walk) -> Result<(), DecodeError> {
    let element = list.push();
    walk.take(element)?;
    let element = element.slot();
    let numeric = matches!(element, Slot::Bool(_) | Slot::Int32(_) | Slot::Int64(_));
    match wire {
        // Numbers may be packed, as other encoders do.
        Wire::Bytes(mut packed) if numeric => {
            list.truncate(list.len() - 1);
            while !packed.is_empty() {
                let value = read_varint(&mut packed)?;
                read_single(Wire::Varint(value), list.push().slot(), name, walk)?;
            }
            Ok(())
        }
        _ => read_single(wire, element, name, walk),
    }
}

fn read_entry(wire: Wire<'_>, map: &mut dyn Map, name: &str, walk: &mut Walk) -> Result<(), DecodeError> {
    let mut key = String::new();
    let mut value = None;
    let mut fields = Fields::new(wire.bytes(name)?, "entry");
    while let Some((number, wire)) = fields.next()? {
        match number {
            1 => {
                key.clear();
                push_text(&mut key, wire.bytes(name)?);
            }
            2 => value = Some(wire),
            _ => {}
        }
    }
    let entry = map.entry(&key);
    entry.reset();
    walk.take(entry)?;
    match value {
        Some(wire) => read_single(wire, entry.slot(), name, walk),
        None => Ok(()),
    }
}
