//! Writes a struct as a protobuf message by walking its table.

use planesmith_wire::protobuf::{WireType, write_bytes, write_int, write_message, write_tag};

use super::is_wrapped;
use crate::facts::FieldFacts;
use crate::value::{List, Map, Struct, View};

/// Appends the payload of `object`, fields in the order of their numbers.
pub(crate) fn write_struct(out: &mut Vec<u8>, object: &dyn Struct) {
    let fields = object.facts().fields;
    if fields.is_sorted_by_key(|field| field.proto) {
        for (index, field) in fields.iter().enumerate() {
            write_field(out, field, &object.field(index).view());
        }
    } else {
        let mut order: Vec<usize> = (0..fields.len()).collect();
        order.sort_unstable_by_key(|index| fields[*index].proto);
        for index in order {
            write_field(out, &fields[index], &object.field(index).view());
        }
    }
}

fn write_field(out: &mut Vec<u8>, field: &FieldFacts, view: &View<'_>) {
    let number = field.proto;
    if number == 0 {
        return;
    }
    match view {
        View::List(list) if is_wrapped(field) => write_wrapped(out, number, *list),
        View::List(list) => write_list(out, number, *list),
        View::Map(map) => write_map(out, number, *map),
        View::Bytes(bytes) if bytes.is_empty() && !field.is_optional() => {}
        other => write_single(out, number, other),
    }
}

/// Appends a value that is written even when it is zero; nothing when it is absent.
fn write_single(out: &mut Vec<u8>, number: u32, view: &View<'_>) {
    match view {
        View::Absent => {}
        View::Bool(value) => write_int(out, number, i64::from(*value)),
        View::Int(value) => write_int(out, number, *value),
        View::Double(value) => {
            write_tag(out, number, WireType::Fixed64);
            out.extend_from_slice(&value.to_le_bytes());
        }
        View::Str(value) => write_bytes(out, number, value.as_bytes()),
        View::Bytes(value) => write_bytes(out, number, value),
        View::Scalar(value) => write_message(out, number, |out| value.write_proto(out)),
        View::Struct(value) => write_message(out, number, |out| write_struct(out, *value)),
        View::List(list) => write_wrapped(out, number, *list),
        View::Map(map) => write_message(out, number, |out| write_map(out, 1, *map)),
    }
}

fn write_wrapped(out: &mut Vec<u8>, number: u32, list: &dyn List) {
    write_message(out, number, |out| write_list(out, 1, list));
}

fn write_list(out: &mut Vec<u8>, number: u32, list: &dyn List) {
    for index in 0..list.len() {
        if let Some(element) = list.get(index) {
            write_single(out, number, &element.view());
        }
    }
}

fn write_map(out: &mut Vec<u8>, number: u32, map: &dyn Map) {
    map.each(&mut |key, value| {
        write_message(out, number, |out| {
            write_bytes(out, 1, key.as_bytes());
            write_single(out, 2, &value.view());
        });
    });
}
