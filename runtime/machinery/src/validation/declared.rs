//! The validation of declared rules by a walk over the tables.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, PoisonError, RwLock};

use regex::Regex;

use crate::facts::{FieldFacts, Rule, TypeFacts};
use crate::field_error::{FieldErrors, Json};
use crate::json;
use crate::resource::object::Object;
use crate::value::equal;
use crate::value::{List, Struct, Value, View};

/// Checks the declared rules of all fields but metadata.
///
/// A required field must be present in the JSON form, so a field that is always written is never missing. Rules apply
/// only to fields that are present.
pub fn check_declared(object: &dyn Object, errors: &mut FieldErrors) {
    each_field(object, &mut |field, value| {
        if field.name != "metadata" {
            check_field(field, value, errors);
        }
    });
}

/// Checks the fields that are declared immutable and are set in `old`.
pub(super) fn check_immutable(new: &dyn Object, old: &dyn Object, errors: &mut FieldErrors) {
    compare_structs(new, old, errors);
}

fn check_struct(object: &dyn Struct, errors: &mut FieldErrors) {
    each_field(object, &mut |field, value| check_field(field, value, errors));
}

/// Visits the fields of a struct, including those of inlined structs.
fn each_field(object: &dyn Struct, visit: &mut dyn FnMut(&'static FieldFacts, &dyn Value)) {
    for (index, field) in object.facts().fields.iter().enumerate() {
        let value = object.field(index);
        match (field.inline, value.view()) {
            (true, View::Struct(inner)) => each_field(inner, visit),
            _ => visit(field, value),
        }
    }
}

fn check_field(field: &'static FieldFacts, value: &dyn Value, errors: &mut FieldErrors) {
    let view = value.view();
    if view.is_omitted(field) || matches!(view, View::Absent) {
        if field.required {
            errors.required(field.name, "");
        }
        return;
    }
    for rule in field.rules {
        check_rule(rule, field.name, &view, errors);
    }
    if holds_structs(&field.ty) {
        check_parts(field.name, &view, errors);
    }
}

/// True if the type contains structs to descend into.
fn holds_structs(ty: &TypeFacts) -> bool {
    match ty {
        TypeFacts::Struct(_) => true,
        TypeFacts::List(inner) | TypeFacts::Map(inner) | TypeFacts::Optional(inner) => holds_structs(inner),
        _ => false,
    }
}

fn check_parts(field: &str, view: &View<'_>, errors: &mut FieldErrors) {
    match view {
        View::Struct(inner) => check_struct(*inner, &mut errors.at(field)),
        View::List(list) => {
            for index in 0..list.len() {
                if let Some(element) = list.get(index) {
                    check_parts("", &element.view(), &mut errors.at_index(field, index));
                }
            }
        }
        View::Map(map) => map.each(&mut |key, value| check_parts("", &value.view(), &mut errors.at_key(field, key))),
        _ => {}
    }
}

fn check_rule(rule: &Rule, field: &str, view: &View<'_>, errors: &mut FieldErrors) {
    match (rule, view) {
        (Rule::Enum(values), View::Str(text)) if !values.contains(text) => errors.not_supported(field, *text, values),
        // For a list, each element must be one of the texts.
        (Rule::Enum(_) | Rule::Pattern(_), View::List(list)) => {
            for index in 0..list.len() {
                if let Some(element) = list.get(index) {
                    check_rule(rule, "", &element.view(), &mut errors.at_index(field, index));
                }
            }
        }
        (Rule::Each(rules), View::List(list)) => {
            for (index, element) in (0..list.len()).filter_map(|index| Some((index, list.get(index)?))) {
                check_rules(rules, &element.view(), &mut errors.at_index(field, index));
            }
        }
        (Rule::Each(rules), View::Map(map)) => {
            map.each(&mut |key, value| check_rules(rules, &value.view(), &mut errors.at_key(field, key)));
        }
        (Rule::Unique(keys), View::List(list)) => check_unique(keys, field, *list, errors),
        (Rule::Minimum(minimum), View::Int(value)) if value < minimum => {
            errors.invalid(field, *value, format!("must be greater than or equal to {minimum}"));
        }
        (Rule::Maximum(maximum), View::Int(value)) if value > maximum => {
            errors.invalid(field, *value, format!("must be less than or equal to {maximum}"));
        }
        #[expect(clippy::cast_precision_loss, reason = "bounds are declared as small whole numbers")]
        (Rule::Minimum(minimum), View::Double(value)) if *value < *minimum as f64 => {
            errors.invalid(field, *value, format!("must be greater than or equal to {minimum}"));
        }
        #[expect(clippy::cast_precision_loss, reason = "bounds are declared as small whole numbers")]
        (Rule::Maximum(maximum), View::Double(value)) if *value > *maximum as f64 => {
            errors.invalid(field, *value, format!("must be less than or equal to {maximum}"));
        }
        (Rule::MinLength(minimum), view) => match length(view) {
            Some(Length::Text(length)) if length < *minimum => errors.too_short(field, *minimum),
            Some(Length::Items(length)) if (length as u64) < *minimum => errors.too_few(field, length, *minimum),
            _ => {}
        },
        (Rule::MaxLength(maximum), view) => match length(view) {
            Some(Length::Text(length)) if length > *maximum => errors.too_many_characters(field, *maximum),
            Some(Length::Items(length)) if (length as u64) > *maximum => errors.too_many(field, length, *maximum),
            _ => {}
        },
        (Rule::Pattern(pattern), View::Str(text)) if compiled(pattern).is_some_and(|regex| !regex.is_match(text)) => {
            errors.invalid(field, *text, format!("must match the regular expression {pattern}"));
        }
        _ => {}
    }
}

/// Reports duplicate elements, by their keys or as a whole, as for custom kinds.
fn check_unique(keys: &[&str], field: &str, list: &dyn List, errors: &mut FieldErrors) {
    let mut seen = HashSet::new();
    for (index, element) in (0..list.len()).filter_map(|index| Some((index, list.get(index)?))) {
        let mut identity = Vec::new();
        match element.view() {
            View::Struct(element) if !keys.is_empty() => {
                let values = keys.iter().filter_map(|&key| Some((key, value_of(element, key)?)));
                json::encode_object(values, &mut identity, json::encode_part);
            }
            _ => json::encode_part(element, &mut identity),
        }
        if !seen.insert(identity.clone()) {
            let shown = String::from_utf8_lossy(&identity);
            errors.at_index(field, index).duplicate("", Json(&shown));
        }
    }
}

fn value_of<'a>(object: &'a dyn Struct, name: &str) -> Option<&'a dyn Value> {
    let index = object.facts().fields.iter().position(|field| field.name == name)?;
    Some(object.field(index))
}

/// Checks the rules for the elements of a list or map on one element.
fn check_rules(rules: &[Rule], view: &View<'_>, errors: &mut FieldErrors) {
    for rule in rules {
        check_rule(rule, "", view, errors);
    }
}

enum Length {
    Text(u64),
    Items(usize),
}

fn length(view: &View<'_>) -> Option<Length> {
    match view {
        View::Str(text) => Some(Length::Text(text.chars().count() as u64)),
        View::Bytes(bytes) => Some(Length::Items(bytes.len())),
        View::List(list) => Some(Length::Items(list.len())),
        View::Map(map) => Some(Length::Items(map.len())),
        _ => None,
    }
}

/// Returns the compiled form of a declared pattern; `None` if it does not compile, which the derive rejects.
fn compiled(pattern: &'static str) -> Option<Regex> {
    static COMPILED: LazyLock<RwLock<HashMap<&'static str, Option<Regex>>>> = LazyLock::new(RwLock::default);
    // A poisoned lock still contains a consistent map.
    if let Some(regex) = COMPILED.read().unwrap_or_else(PoisonError::into_inner).get(pattern) {
        return regex.clone();
    }
    let regex = Regex::new(pattern).ok();
    COMPILED
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(pattern, regex.clone());
    regex
}

/// Descends into structs that both objects have; elements of lists have no identity to compare by.
fn compare_structs(new: &dyn Struct, old: &dyn Struct, errors: &mut FieldErrors) {
    for (index, field) in new.facts().fields.iter().enumerate() {
        let (value, new, old) = (new.field(index), new.field(index).view(), old.field(index).view());
        if field.rules.contains(&Rule::Immutable) && !old.is_omitted(field) && !equal(&new, &old) {
            errors.invalid(field.name, value, "field is immutable");
        } else if let (View::Struct(new), View::Struct(old)) = (&new, &old) {
            compare_structs(*new, *old, &mut errors.at(field.name));
        }
    }
}
