//! Finds fields by name, through inlined structs, and detects duplicates.

use std::collections::BTreeSet;

use crate::facts::{FieldFacts, StructFacts, TypeFacts};

/// Maximum nesting of inlined structs; Kubernetes has no deeper one.
const MAX_INLINE: usize = 4;

/// The location of a field: indexes through inlined structs, ending with its own.
pub(super) struct FieldLocation {
    indexes: [usize; MAX_INLINE],
    len: usize,
    /// Its number among all fields, including inlined ones.
    pub(super) number: usize,
    pub(super) field: &'static FieldFacts,
}

impl FieldLocation {
    /// Finds the field `name`, first at index `hint`: documents mostly follow the order of the table.
    pub(super) fn find(facts: &'static StructFacts, name: &str, hint: usize) -> Option<FieldLocation> {
        if let Some(field) = facts.fields.get(hint)
            && field.name == name
            && !field.inline
        {
            return Some(FieldLocation {
                indexes: [hint, 0, 0, 0],
                len: 1,
                number: hint,
                field,
            });
        }
        FieldLocation::search(facts, name)
    }

    fn search(facts: &'static StructFacts, name: &str) -> Option<FieldLocation> {
        for (index, field) in facts.fields.iter().enumerate() {
            if !field.inline && field.name == name {
                return Some(FieldLocation {
                    indexes: [index, 0, 0, 0],
                    len: 1,
                    number: index,
                    field,
                });
            }
        }
        // Names of the outer struct take precedence over inlined ones, so these come last.
        let mut base = facts.fields.len();
        for (index, field) in facts.fields.iter().enumerate() {
            if let (true, TypeFacts::Struct(inner)) = (field.inline, field.ty.present()) {
                let inner = inner();
                if let Some(mut location) = FieldLocation::search(inner, name)
                    && location.len < MAX_INLINE
                {
                    location.indexes.copy_within(0..MAX_INLINE - 1, 1);
                    location.indexes[0] = index;
                    location.len += 1;
                    location.number += base;
                    return Some(location);
                }
                base += inner.fields.len();
            }
        }
        None
    }

    /// Returns the index in the outermost struct.
    pub(super) fn first(&self) -> usize {
        self.indexes[0]
    }

    /// Returns the indexes of the inlined structs on the path.
    pub(super) fn outer(&self) -> &[usize] {
        &self.indexes[..self.len - 1]
    }

    /// Returns the index in the innermost struct.
    pub(super) fn last(&self) -> usize {
        self.indexes[self.len - 1]
    }
}

/// Returns the Go names of the inlined structs on the path to the field `name`, outermost first; these are the names of
/// their types.
pub(super) fn embedded(facts: &'static StructFacts, name: &str) -> Vec<&'static str> {
    let mut names = Vec::new();
    match FieldLocation::search(facts, name) {
        Some(location) => {
            let mut facts = facts;
            for index in location.outer() {
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

/// The fields of one object that the decoder has seen.
#[derive(Default)]
pub(super) struct Seen {
    bits: u128,
    /// Fields whose number does not fit into `bits`.
    more: BTreeSet<usize>,
}

impl Seen {
    /// Records a field; returns true if it was recorded before.
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
