//! The leaf types of machinery.

use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::facts::TypeFacts;
use planesmith_machinery::value::Shape;

/// A type of machinery that is not a struct.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// The Rust name.
    pub(crate) name: &'static str,
    /// What machinery says about it.
    #[allow(dead_code, reason = "the renderers of documents read it")]
    pub(crate) facts: TypeFacts,
}

impl PartialEq for Leaf {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// All leaf types that fields may have.
const LEAVES: &[Leaf] = &[Leaf {
    name: "ByteString",
    facts: ByteString::TYPE,
}];

/// The leaf called `name`.
pub(super) fn find(name: &str) -> Option<Leaf> {
    LEAVES.iter().find(|leaf| leaf.name == name).copied()
}
