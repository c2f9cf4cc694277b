//! Lists and maps that a request names without anything in them.

use planesmith_machinery::facts::{FieldFacts, Omit, StructFacts, TypeFacts};
use planesmith_machinery::field_error::holds_empty;
use planesmith_wire::json::{Malformed, Next, Reader};

use super::element::PathElement;
use super::field_search::FieldSearch;
use super::set::Set;

/// The depth to which fields are searched: deeper than any kind nests them, but for schemas, which have none of this sort.
const DEPTH: usize = 64;

/// The fields that the JSON in `body` sends as `[]` or `{}` although `facts` would write them as `null`.
///
/// Objects do not tell the two apart, but a client that sends an empty list means it, and manages the field. Elements of lists
/// are not looked into: no field in identified elements is of this sort.
#[must_use]
pub fn sent_empty(facts: &'static StructFacts, body: &[u8]) -> Set<'static> {
    if !EMPTY_AS_NULL.finds_in(facts) || !holds_empty(body) {
        return Set::new();
    }
    let mut walk = Walk {
        reader: Reader::new(body),
        path: Vec::new(),
        found: Set::new(),
    };
    match walk.reader.peek() {
        Ok(Next::Object) if walk.object(facts).is_ok() => walk.found,
        // A body that is no object is refused elsewhere.
        _ => Set::new(),
    }
}

/// Fields that are written as `null` and that a request may send empty; most kinds have none.
static EMPTY_AS_NULL: FieldSearch = FieldSearch::new(
    |field| field.omit == Omit::Never && matches!(field.ty.present(), TypeFacts::List(_) | TypeFacts::Map(_)),
    |field| match field.ty.present() {
        TypeFacts::Struct(inner) => field.inline || (!field.atomic && !inner().atomic),
        _ => false,
    },
);

/// Reads a document beside the facts of what it is to become.
struct Walk<'b> {
    reader: Reader<'b>,
    path: Vec<&'static str>,
    found: Set<'static>,
}

impl Walk<'_> {
    fn object(&mut self, facts: &'static StructFacts) -> Result<(), Malformed> {
        let mut more = self.reader.enter(b'}')?;
        while more {
            let key = self.reader.key()?;
            match facts.field_named(&key) {
                Some(field) => {
                    self.path.push(field.name);
                    self.value(field)?;
                    self.path.pop();
                }
                None => drop(self.reader.skip()?),
            }
            more = self.reader.another(b'}')?;
        }
        Ok(())
    }

    fn value(&mut self, field: &'static FieldFacts) -> Result<(), Malformed> {
        match (field.ty.present(), self.reader.peek()?) {
            (TypeFacts::Struct(inner), Next::Object)
                if !field.atomic && !inner().atomic && self.path.len() < DEPTH && EMPTY_AS_NULL.finds_in(inner()) =>
            {
                self.object(inner())?;
            }
            (TypeFacts::List(_), Next::Array) | (TypeFacts::Map(_), Next::Object) if field.omit == Omit::Never => {
                let value = self.reader.skip()?;
                match value[1..value.len() - 1].iter().all(u8::is_ascii_whitespace) {
                    true => self.found.insert(self.path.iter().copied().map(PathElement::field)),
                    false => self.forget(),
                }
            }
            (ty, Next::Null) => {
                self.reader.null()?;
                // It empties what is optional, and says nothing of a struct that is not.
                if field.is_optional() || !matches!(ty, TypeFacts::Struct(_)) {
                    self.forget();
                }
            }
            _ => drop(self.reader.skip()?),
        }
        Ok(())
    }

    /// Takes back what was found in the field and below: a field that is sent twice is what it was sent as last.
    fn forget(&mut self) {
        if !self.found.is_empty() {
            let path = self.path.iter().copied().map(PathElement::field);
            self.found.remove_below(&Set::of([path]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planesmith_machinery::facts::FieldFacts;

    const TEXTS: TypeFacts = TypeFacts::List(&TypeFacts::String);
    static INNER: StructFacts = StructFacts {
        fields: &[FieldFacts {
            name: "kept",
            ty: TEXTS,
            omit: Omit::Never,
            ..FieldFacts::NONE
        }],
        ..StructFacts::NONE
    };
    static OUTER: StructFacts = StructFacts {
        fields: &[
            FieldFacts {
                name: "omitted",
                ty: TEXTS,
                ..FieldFacts::NONE
            },
            FieldFacts {
                name: "spec",
                ty: TypeFacts::Struct(|| &INNER),
                ..FieldFacts::NONE
            },
        ],
        ..StructFacts::NONE
    };

    fn check(body: &str, expected: &[&[&'static str]]) {
        let expected = Set::of(expected.iter().map(|path| path.iter().copied().map(PathElement::field)));
        assert_eq!(sent_empty(&OUTER, body.as_bytes()), expected, "{body}");
    }

    #[test]
    fn kinds_without_such_fields_are_known() {
        static NONE: StructFacts = StructFacts {
            fields: &[FieldFacts {
                name: "omitted",
                ty: TEXTS,
                ..FieldFacts::NONE
            }],
            ..StructFacts::NONE
        };
        assert!(EMPTY_AS_NULL.finds_in(&OUTER) && EMPTY_AS_NULL.finds_in(&OUTER));
        assert!(!EMPTY_AS_NULL.finds_in(&NONE) && !EMPTY_AS_NULL.finds_in(&NONE));
    }

    #[test]
    fn only_fields_that_are_written_when_empty_count() {
        check(r#"{"omitted":[],"spec":{"kept":[ ]}}"#, &[&["spec", "kept"]]);
        check(r#"{"omitted":[],"spec":{"kept":["a"]}}"#, &[]);
        check(r#"{"spec":{"kept":null},"other":{}}"#, &[]);
        check(r#"{"spec":{}}"#, &[]);
        check(r#"{"spec":{"kept":[],"kept":["a"]}}"#, &[]);
        check(r#"{"spec":{"kept":[],"kept":null}}"#, &[]);
        check(r#"{"spec":{"kept":[]},"spec":null}"#, &[&["spec", "kept"]]);
        check(r#"{"spec":{"kept":["a"],"kept":[]}}"#, &[&["spec", "kept"]]);
        check("no JSON []", &[]);
    }
}
