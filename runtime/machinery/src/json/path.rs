//! The position of the reader, as a chain on the stack: it costs nothing until an error names it.

use std::fmt;

use super::go_type::declared;
use super::place::{Place, embedded};
use crate::facts::StructFacts;

/// One step from the root of a document.
#[derive(Clone, Copy, Debug)]
pub struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    Root,
    Field {
        owner: &'static StructFacts,
        name: &'static str,
    },
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    /// The root of a document.
    pub const ROOT: Path<'static> = Path {
        parent: None,
        step: Step::Root,
    };

    /// The field `name` of a struct, its own or that of an inlined one.
    #[must_use]
    pub fn field(&'p self, owner: &'static StructFacts, name: &'static str) -> Path<'p> {
        Path {
            parent: Some(self),
            step: Step::Field { owner, name },
        }
    }

    /// The entry `key` of a map.
    #[must_use]
    pub fn key(&'p self, key: &'p str) -> Path<'p> {
        Path {
            parent: Some(self),
            step: Step::Key(key),
        }
    }

    /// The element at `index` of a list.
    #[must_use]
    pub fn index(&'p self, index: usize) -> Path<'p> {
        Path {
            parent: Some(self),
            step: Step::Index(index),
        }
    }

    fn steps(&'p self) -> Vec<Step<'p>> {
        let mut steps: Vec<Step<'p>> = std::iter::successors(Some(self), |path| path.parent)
            .map(|path| path.step)
            .collect();
        steps.reverse();
        steps
    }

    /// The Go type that is declared for the value here: that of the nearest field, or of the elements in it. `None` when the
    /// type follows from the shape of the field.
    pub(crate) fn declared_type(&self) -> Option<String> {
        let mut depth = 0;
        for path in std::iter::successors(Some(self), |path| path.parent) {
            match path.step {
                Step::Key(_) | Step::Index(_) => depth += 1,
                Step::Field { owner, name } => {
                    let field = Place::of(owner, name, 0)?.field;
                    return match field.go_type {
                        "" => None,
                        text => declared(owner, text, depth),
                    };
                }
                Step::Root => return None,
            }
        }
        None
    }

    /// The position in the words of Go's type errors: the struct that holds the nearest field, and the names of fields on the
    /// way, without indexes and keys, but with those of inlined structs. At the root there is no field to name.
    pub(crate) fn for_type_error(&self) -> String {
        let mut nearest = None;
        let mut fields = Vec::new();
        for step in self.steps() {
            if let Step::Field { owner, name } = step {
                nearest = Some(owner.name);
                fields.extend(embedded(owner, name));
                fields.push(name);
            }
        }
        match nearest {
            Some(owner) => format!("Go struct field {owner}.{}", fields.join(".")),
            None => "Go value".to_owned(),
        }
    }
}

/// E.g. `spec.containers[0].name`, with keys of maps as fields.
impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for step in self.steps() {
            let name = match step {
                Step::Root => continue,
                Step::Index(index) => {
                    text.push_str(&format!("[{index}]"));
                    continue;
                }
                Step::Field { name, .. } => name,
                Step::Key(key) => key,
            };
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(name);
        }
        f.write_str(&text)
    }
}
