//! The fields that generic copying loses, for the generator and for tests.

use super::copy::fits;
use super::moved_fields;
use crate::facts::{FieldFacts, StructFacts, TypeFacts};
use crate::resource::ResourceFacts;

/// Returns the dotted paths of the fields of `from` that generic copying does not carry to `to`, another version of the
/// kind.
///
/// The conversion functions of the kind must carry these, or the data is lost.
#[must_use]
pub fn lost_fields(from: &ResourceFacts, to: &ResourceFacts) -> Vec<String> {
    let moved = match (from.is_hub(), to.is_hub()) {
        (false, true) => moved_fields(from.fields())
            .into_iter()
            .map(|moved| (moved.from, moved.to))
            .collect(),
        (true, false) => moved_fields(to.fields())
            .into_iter()
            .map(|moved| (moved.to, moved.from))
            .collect(),
        _ => Vec::new(),
    };
    let mut search = Search {
        moved,
        path: Vec::new(),
        open: Vec::new(),
        lost: Vec::new(),
    };
    search.structs(from.fields(), to.fields());
    search.lost
}

struct Search {
    /// Source and target paths of moved fields.
    moved: Vec<(Vec<&'static str>, Vec<&'static str>)>,
    path: Vec<&'static str>,
    /// Pairs of types under comparison; types can be recursive.
    open: Vec<(*const StructFacts, *const StructFacts)>,
    lost: Vec<String>,
}

impl Search {
    fn structs(&mut self, from: &'static StructFacts, to: &'static StructFacts) {
        let pair = (std::ptr::from_ref(from), std::ptr::from_ref(to));
        if self.open.contains(&pair) {
            return;
        }
        self.open.push(pair);
        for field in fields_of(from) {
            self.path.push(field.name);
            self.field(field, to);
            self.path.pop();
        }
        self.open.pop();
    }

    fn field(&mut self, field: &'static FieldFacts, to: &'static StructFacts) {
        if self.moved.iter().any(|(from, _)| *from == self.path) || self.path == ["metadata"] {
            return;
        }
        // A field that is the target of a move does not receive the value under its own name.
        let is_taken = self.moved.iter().any(|(_, target)| *target == self.path);
        match fields_of(to)
            .into_iter()
            .find(|other| other.name == field.name && !is_taken)
        {
            Some(other) if fits(&field.ty, &other.ty) => self.types(&field.ty, &other.ty),
            // The fields of a struct may have moved individually.
            _ => match field.ty.present() {
                TypeFacts::Struct(inner) if self.moved.iter().any(|(from, _)| from.starts_with(&self.path)) => {
                    for part in fields_of(inner()) {
                        self.path.push(part.name);
                        if !self.moved.iter().any(|(from, _)| *from == self.path) {
                            self.lost.push(self.path.join("."));
                        }
                        self.path.pop();
                    }
                }
                _ => self.lost.push(self.path.join(".")),
            },
        }
    }

    fn types(&mut self, from: &'static TypeFacts, to: &'static TypeFacts) {
        match (from.present(), to.present()) {
            (TypeFacts::Struct(from), TypeFacts::Struct(to)) => self.structs(from(), to()),
            (TypeFacts::List(from), TypeFacts::List(to)) | (TypeFacts::Map(from), TypeFacts::Map(to)) => {
                self.types(from, to);
            }
            _ => {}
        }
    }
}

/// Returns the fields of a struct, including those of its inlined structs.
fn fields_of(facts: &'static StructFacts) -> Vec<&'static FieldFacts> {
    let mut fields = Vec::new();
    for field in facts.fields {
        match field.ty {
            TypeFacts::Struct(inner) if field.inline => fields.extend(fields_of(inner())),
            _ => fields.push(field),
        }
    }
    fields
}
