//! Case-insensitive field names.

use planesmith_machinery::facts::{StructFacts, TypeFacts};
use serde_json::{Map, Value};

/// Renames members of `value` at every depth that differ from the fields of `facts` in case only.
pub(super) fn adopt(value: &mut Value, facts: &StructFacts) {
    let Value::Object(members) = value else {
        return;
    };
    let mut adopted = Map::new();
    for (name, mut member) in std::mem::take(members) {
        let exact = facts.fields.iter().find(|field| field.name == name);
        let similar = || facts.fields.iter().find(|field| field.name.eq_ignore_ascii_case(&name));
        match exact.or_else(similar) {
            Some(field) => {
                adopt_type(&mut member, &field.ty);
                adopted.insert(field.name.to_owned(), member);
            }
            None => drop(adopted.insert(name, member)),
        }
    }
    *members = adopted;
}

fn adopt_type(value: &mut Value, ty: &TypeFacts) {
    match (ty, value) {
        (TypeFacts::Struct(facts), value) => adopt(value, facts()),
        (TypeFacts::Optional(inner), value) => adopt_type(value, inner),
        (TypeFacts::List(inner), Value::Array(items)) => items.iter_mut().for_each(|item| adopt_type(item, inner)),
        (TypeFacts::Map(inner), Value::Object(members)) => {
            members.values_mut().for_each(|member| adopt_type(member, inner));
        }
        _ => {}
    }
}
