//! The position of the decoder as a linked list on the stack; it is formatted only for errors.

use std::fmt;

use super::field_location::{FieldLocation, embedded};
use super::go_type::declared;
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

    /// Returns the declared Go type of the value at this position: that of the nearest field, or of its elements.
    /// `None` if the type follows from the shape of the field.
    pub(crate) fn declared_type(&self) -> Option<String> {
        let mut depth = 0;
        for path in std::iter::successors(Some(self), |path| path.parent) {
            match path.step {
                Step::Key(_) | Step::Index(_) => depth += 1,
                Step::Field { owner, name } => {
                    let field = FieldLocation::find(owner, name, 0)?.field;
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

    /// Returns the position as Go's type errors print it: the struct of the nearest field, and the names of the fields
    /// on the path, without indexes and keys, but with the names of inlined structs. The root has no field.
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
