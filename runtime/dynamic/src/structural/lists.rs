//! Lists whose elements have identities: no two may be the same.

use std::collections::HashMap;
use std::hash::Hash;

use planesmith_machinery::field_error::FieldErrors;
use serde_json::{Map, Value};

use super::value_path::ValuePath;
use super::{ListKind, Structural};

impl Structural {
    /// Reports elements of sets and keyed lists that stand there more than once.
    pub fn check_lists(&self, document: &Value, errors: &mut FieldErrors) {
        self.check_lists_at(document, &ValuePath::Root, errors);
    }

    fn check_lists_at(&self, value: &Value, location: &ValuePath<'_>, errors: &mut FieldErrors) {
        if !self.has_keyed_lists {
            return;
        }
        match value {
            Value::Object(entries) => {
                for (name, value) in entries {
                    match self.entry(name) {
                        Some((schema, true)) => schema.check_lists_at(value, &ValuePath::Key(location, name), errors),
                        Some((schema, false)) => {
                            schema.check_lists_at(value, &ValuePath::Field(location, name), errors)
                        }
                        None => {}
                    }
                }
            }
            Value::Array(elements) => {
                match &self.list {
                    ListKind::Atomic => {}
                    ListKind::Set => {
                        for index in repeated(elements.iter()) {
                            report(&elements[index], index, location, errors);
                        }
                    }
                    ListKind::Map(keys) => check_keys(elements, keys, location, errors),
                }
                if let Some(items) = &self.items {
                    for (index, element) in elements.iter().enumerate() {
                        items.check_lists_at(element, &ValuePath::Element(location, index), errors);
                    }
                }
            }
            _ => {}
        }
    }
}

fn check_keys(elements: &[Value], keys: &[Box<str>], location: &ValuePath<'_>, errors: &mut FieldErrors) {
    let is_object = |element: &Value| element.is_object() || element.is_null();
    if let Some(index) = elements.iter().position(|element| !is_object(element)) {
        let complaint = "must be an object for an array of list-type map";
        errors.invalid(
            &ValuePath::Element(location, index).to_string(),
            &elements[index],
            complaint,
        );
        return;
    }
    let key = |element: &Value, name: &str| element.get(name).cloned();
    let all: Vec<Value> = elements
        .iter()
        .map(|element| {
            let entries = keys.iter();
            let entries = entries.filter_map(|name| Some((name.to_string(), key(element, name)?)));
            Value::Object(entries.collect::<Map<_, _>>())
        })
        .collect();
    for index in repeated(all.iter()) {
        report(&all[index], index, location, errors);
    }
}

/// The indexes at which something stands for the second time.
fn repeated<T: Eq + Hash>(elements: impl Iterator<Item = T>) -> Vec<usize> {
    let mut seen: HashMap<T, usize> = HashMap::new();
    let mut second = Vec::new();
    for (index, element) in elements.enumerate() {
        let times = seen.entry(element).or_default();
        *times += 1;
        if *times == 2 {
            second.push(index);
        }
    }
    second
}

fn report(element: &Value, index: usize, location: &ValuePath<'_>, errors: &mut FieldErrors) {
    errors.duplicate(&ValuePath::Element(location, index).to_string(), element);
}
