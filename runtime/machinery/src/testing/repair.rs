//! Makes an object a little more valid: does what an error asks for.

use super::path::{Step, below, steps};
use super::random::Random;
use super::sample::{fill, fill_struct};
use crate::field_error::{FieldError, FieldErrorKind};
use crate::object::Object;
use crate::value::{Slot, Value};

/// Structs below the place of an error that are filled anew.
const DEPTH: u32 = 3;

/// Changes what `error` complains about.
pub(super) fn repair(object: &mut dyn Object, error: &FieldError, random: &mut Random) {
    let mut steps = steps(&error.field);
    // Now and then the mistake is above the place where it shows.
    while steps.len() > 1 && random.one_in(6) {
        steps.pop();
    }
    if let Some(key) = entry_to_remove(&steps, error.kind) {
        let place = below(object, &steps[..steps.len() - 1]);
        if let Some((Slot::Map(map), key)) = place.map(|(value, _)| (value.slot(), key)) {
            map.remove(&key);
        }
        return;
    }
    while !steps.is_empty() {
        if let Some((value, field)) = below(object, &steps) {
            match error.kind {
                FieldErrorKind::Forbidden | FieldErrorKind::Duplicate => value.reset(),
                FieldErrorKind::NotSupported => choose(value, &error.detail, random),
                FieldErrorKind::Required | FieldErrorKind::TooShort | FieldErrorKind::TooFew => {
                    fill(value, field, DEPTH, random);
                }
                _ if random.one_in(4) => value.reset(),
                _ => fill(value, field, DEPTH, random),
            }
            return;
        }
        steps.pop();
    }
    // The object as a whole.
    fill_struct(object, DEPTH, random);
}

/// The key of a map entry that must go: a key cannot be changed in place.
fn entry_to_remove(steps: &[Step], kind: FieldErrorKind) -> Option<String> {
    match steps.last() {
        Some(Step::Inside(key)) if kind == FieldErrorKind::Invalid && key.parse::<usize>().is_err() => {
            Some(key.clone())
        }
        _ => None,
    }
}

/// Takes one of the texts that the error lists in quotes.
fn choose(value: &mut dyn Value, detail: &str, random: &mut Random) {
    let supported: Vec<&str> = detail
        .split('"')
        .skip(1)
        .step_by(2)
        .filter(|text| !text.is_empty())
        .collect();
    match value.slot() {
        Slot::Str(text) if !supported.is_empty() => *text = (*random.pick(&supported)).to_owned(),
        Slot::Optional(optional) if !supported.is_empty() => choose(optional.insert(), detail, random),
        _ => value.reset(),
    }
}
