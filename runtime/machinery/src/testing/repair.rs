//! Repairs of an object: changes that correct a validation error.

use super::path::{Step, below, steps};
use super::random::Random;
use super::sample::{fill, fill_struct};
use crate::facts::{FieldFacts, TypeFacts};
use crate::field_error::{FieldError, FieldErrorKind};
use crate::resource::object::Object;
use crate::value::{Slot, Value};

/// Depth of structs below the field of an error that are filled again.
const DEPTH: u32 = 3;

/// Changes the value that `error` reports.
pub(super) fn repair(object: &mut dyn Object, error: &FieldError, random: &mut Random) {
    let mut steps = steps(&error.field);
    if steps.first() == Some(&Step::Name("metadata".to_owned())) {
        if error.field == "metadata.name" {
            // Some kinds have a special form of names; the message may contain an example.
            if let Some((value, _)) = below(object, &steps) {
                choose(value, &words(&error.detail), random);
            }
            return;
        }
        // Metadata is not random; an error in it comes from another repair or a default.
        if let Some((value, _)) = below(object, &steps[..steps.len().min(2)]) {
            value.reset();
        }
        return;
    }
    if error.detail.contains("`selector` does not match") {
        match_template_to_selector(object, &steps);
        return;
    }
    // Sometimes the cause is above the reported field.
    while steps.len() > 1 && random.one_in(8) {
        steps.pop();
    }
    if let Some(key) = entry_to_remove(&steps, error.kind) {
        let map = below(object, &steps[..steps.len() - 1]);
        if let Some(Slot::Map(map)) = map.map(|(value, _)| value.slot()) {
            map.remove(&key);
        }
        return;
    }
    while !steps.is_empty() {
        if let Some((value, field)) = below(object, &steps) {
            change(value, field, error, random);
            return;
        }
        steps.pop();
    }
    // The object as a whole.
    fill_struct(object, DEPTH, random);
}

/// Makes the labels of a template, at `steps`, match the selector beside the template.
fn match_template_to_selector(object: &mut dyn Object, steps: &[Step]) {
    let Some(end) = steps.iter().position(|step| *step == Step::Name("template".to_owned())) else {
        return;
    };
    let mut selector = steps[..end].to_vec();
    selector.push(Step::Name("selector".to_owned()));
    for place in [steps, &selector] {
        let Some((value, _)) = below(object, place) else {
            continue;
        };
        value.reset();
        label(value);
    }
}

/// Sets one label in labels, or in a selector.
fn label(value: &mut dyn Value) {
    match value.slot() {
        Slot::Map(labels) => {
            if let Slot::Str(value) = labels.entry("app").slot() {
                "sample".clone_into(value);
            }
        }
        Slot::Optional(optional) => label(optional.insert()),
        Slot::Struct(selector) => {
            if let Some(index) = selector
                .facts()
                .fields
                .iter()
                .position(|field| field.name == "matchLabels")
            {
                label(selector.field_mut(index));
            }
        }
        _ => {}
    }
}

fn change(value: &mut dyn Value, field: Option<&'static FieldFacts>, error: &FieldError, random: &mut Random) {
    match error.kind {
        // The message contains no example of a schedule.
        _ if error.detail.starts_with("expected exactly 5 fields") => choose(value, &["@daily"], random),
        FieldErrorKind::Forbidden | FieldErrorKind::Duplicate => value.reset(),
        FieldErrorKind::NotSupported => choose(value, &quoted(&error.detail), random),
        FieldErrorKind::Required | FieldErrorKind::TooShort | FieldErrorKind::TooFew => {
            fill(value, field, DEPTH, random)
        }
        // The message may contain an example of a valid value.
        _ if random.one_in(3) => choose(value, &words(&error.detail), random),
        _ if random.one_in(4) => value.reset(),
        _ => fill(value, field, DEPTH, random),
    }
}

/// Returns the key of a map entry that must be removed, because a key cannot be changed in place.
fn entry_to_remove(steps: &[Step], kind: FieldErrorKind) -> Option<String> {
    match steps.last() {
        Some(Step::Inside(key)) if kind == FieldErrorKind::Invalid && key.parse::<usize>().is_err() => {
            Some(key.clone())
        }
        _ => None,
    }
}

/// Returns the quoted parts of a message.
fn quoted(detail: &str) -> Vec<&str> {
    detail
        .split('"')
        .skip(1)
        .step_by(2)
        .filter(|text| !text.is_empty())
        .collect()
}

/// Returns all words that could be a value.
fn words(detail: &str) -> Vec<&str> {
    let between = |letter: char| !letter.is_ascii_alphanumeric() && !"./:-_".contains(letter);
    detail.split(between).filter(|word| !word.is_empty()).collect()
}

/// Sets a value to one of the texts; for a struct, one of its text fields.
fn choose(value: &mut dyn Value, texts: &[&str], random: &mut Random) {
    match value.slot() {
        Slot::Struct(inner) if !texts.is_empty() => {
            let plain = |index: &usize| matches!(inner.facts().fields[*index].ty, TypeFacts::String);
            let places: Vec<usize> = (0..inner.facts().fields.len()).filter(plain).collect();
            if !places.is_empty() {
                choose(inner.field_mut(*random.pick(&places)), texts, random);
            }
        }
        Slot::Str(text) if !texts.is_empty() => *text = (*random.pick(texts)).to_owned(),
        Slot::Optional(optional) if !texts.is_empty() => choose(optional.insert(), texts, random),
        // The texts are keys.
        Slot::Map(map) if !texts.is_empty() => {
            map.clear();
            let key: &str = random.pick::<&str>(texts);
            fill(map.entry(key), None, DEPTH, random);
        }
        _ => value.reset(),
    }
}
