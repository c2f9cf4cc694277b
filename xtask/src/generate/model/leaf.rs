//! The leaf types of machinery.

use planesmith_machinery::byte_string::ByteString;
use planesmith_machinery::duration::Duration;
use planesmith_machinery::facts::TypeFacts;
use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::meta::ListMeta;
use planesmith_machinery::micro_time::MicroTime;
use planesmith_machinery::quantity::Quantity;
use planesmith_machinery::raw::{AnyJson, FieldsV1, RawExtension};
use planesmith_machinery::schema_or::{SchemaOrArray, SchemaOrBool, SchemaOrStrings};
use planesmith_machinery::time::Time;
use planesmith_machinery::value::Shape;

/// A type of machinery that is not a struct.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// The Rust name.
    pub(crate) name: &'static str,
    /// The facts declared by machinery.
    #[allow(dead_code, reason = "the renderers of documents read it")]
    pub(crate) facts: TypeFacts,
}

impl PartialEq for Leaf {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// All leaf types of fields.
const LEAVES: &[Leaf] = &[
    Leaf::of::<AnyJson>("AnyJson"),
    Leaf::of::<ByteString>("ByteString"),
    Leaf::of::<Duration>("Duration"),
    Leaf::of::<FieldsV1>("FieldsV1"),
    Leaf::of::<IntOrString>("IntOrString"),
    Leaf::of::<MicroTime>("MicroTime"),
    Leaf::of::<Quantity>("Quantity"),
    Leaf::of::<RawExtension>("RawExtension"),
    // The documents do not depend on the type argument; any struct works.
    Leaf::of::<SchemaOrArray<ListMeta>>("SchemaOrArray"),
    Leaf::of::<SchemaOrBool<ListMeta>>("SchemaOrBool"),
    Leaf::of::<SchemaOrStrings<ListMeta>>("SchemaOrStrings"),
    Leaf::of::<Time>("Time"),
];

impl Leaf {
    const fn of<T: Shape>(name: &'static str) -> Self {
        Self { name, facts: T::TYPE }
    }
}

/// Returns the leaf called `name`.
pub(super) fn find(name: &str) -> Option<Leaf> {
    LEAVES.iter().find(|leaf| leaf.name == name).copied()
}
