//! Finds fields by name, through inlined structs, and notices those that stand twice.

use std::collections::BTreeSet;

use crate::facts::{FieldFacts, StructFacts, TypeFacts};

/// Structs inlined in inlined structs: none goes deeper in Kubernetes.
const MAX_INLINE: usize = 4;

/// The place of a field: indexes through inlined structs, ending with its own.
pub(super) struct Place {
    indexes: [usize; MAX_INLINE],
    len: usize,
    /// Its number among all fields, inlined ones counted.
    pub(super) number: usize,
    pub(super) field: &'static FieldFacts,
}

impl Place {
    /// Looks for the field called `name`, first at index `hint`: documents mostly follow the order of the table.
    pub(super) fn of(facts: &'static StructFacts, name: &str, hint: usize) -> Option<Place> {
        if let Some(field) = facts.fields.get(hint)
            && field.name == name
            && !field.inline
        {
            return Some(Place {
                indexes: [hint, 0, 0, 0],
                len: 1,
                number: hint,
                field,
            });
        }
        Place::search(facts, name)
    }

    fn search(facts: &'static StructFacts, name: &str) -> Option<Place> {
        for (index, field) in facts.fields.iter().enumerate() {
            if !field.inline && field.name == name {
                return Some(Place {
                    indexes: [index, 0, 0, 0],
                    len: 1,
                    number: index,
                    field,
                });
            }
        }
        // Names of the outer struct win over inlined ones, so these come last.
        let mut base = facts.fields.len();
        for (index, field) in facts.fields.iter().enumerate() {
            if let (true, TypeFacts::Struct(inner)) = (field.inline, field.ty.present()) {
                let inner = inner();
                if let Some(mut place) = Place::search(inner, name)
                    && place.len < MAX_INLINE
                {
                    place.indexes.copy_within(0..MAX_INLINE - 1, 1);
                    place.indexes[0] = index;
                    place.len += 1;
                    place.number += base;
                    return Some(place);
                }
                base += inner.fields.len();
            }
        }
        None
    }

    /// The index in the outermost struct.
    pub(super) fn first(&self) -> usize {
        self.indexes[0]
    }

    /// The indexes of the inlined structs on the way.
    pub(super) fn outer(&self) -> &[usize] {
        &self.indexes[..self.len - 1]
    }

    /// The index in the innermost struct.
    pub(super) fn last(&self) -> usize {
        self.indexes[self.len - 1]
    }
}

/// Go's names for the inlined structs on the way to the field called `name`, outermost first: they are named after their types.
pub(super) fn embedded(facts: &'static StructFacts, name: &str) -> Vec<&'static str> {
    let mut names = Vec::new();
    match Place::search(facts, name) {
        Some(place) => {
            let mut facts = facts;
            for index in place.outer() {
                // Only structs are searched.
                let TypeFacts::Struct(inner) = facts.fields[*index].ty.present() else {
                    break;
                };
                facts = inner();
                names.push(facts.name);
            }
        }
        None if facts.type_meta.is_some() && matches!(name, "kind" | "apiVersion") => names.push("TypeMeta"),
        None => {}
    }
    names
}

/// The fields of one object that were read.
#[derive(Default)]
pub(super) struct Seen {
    bits: u128,
    /// Those whose number does not fit.
    more: BTreeSet<usize>,
}

impl Seen {
    /// Notes a field; whether it was noted before.
    pub(super) fn twice(&mut self, number: usize) -> bool {
        if number >= 128 {
            return !self.more.insert(number);
        }
        let bit = 1 << number;
        let twice = self.bits & bit != 0;
        self.bits |= bit;
        twice
    }
}
