//! The place of a value in a tree that is being read, as a chain on the stack: it costs nothing until a message needs it.

use std::fmt;

/// One step from the root of a document.
#[derive(Clone, Copy)]
pub(super) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    /// The place of the tree in an object, in its written form.
    Below(&'p dyn fmt::Display),
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    pub(super) const ROOT: Path<'static> = Path {
        parent: None,
        step: Step::Root,
    };

    /// The root of a tree that lies at `place` in an object.
    pub(super) fn below(place: &'p dyn fmt::Display) -> Path<'p> {
        Path {
            parent: None,
            step: Step::Below(place),
        }
    }

    pub(super) fn key(&'p self, key: &'p str) -> Path<'p> {
        Path {
            parent: Some(self),
            step: Step::Key(key),
        }
    }

    pub(super) fn index(&'p self, index: usize) -> Path<'p> {
        Path {
            parent: Some(self),
            step: Step::Index(index),
        }
    }
}

/// E.g. `spec.containers[0].name`.
impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut steps: Vec<Step<'_>> = std::iter::successors(Some(self), |path| path.parent)
            .map(|path| path.step)
            .collect();
        steps.reverse();
        let mut text = String::new();
        for step in steps {
            match step {
                Step::Root => {}
                Step::Below(place) => text = place.to_string(),
                Step::Index(index) => text.push_str(&format!("[{index}]")),
                Step::Key(key) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(key);
                }
            }
        }
        f.write_str(&text)
    }
}
