use std::collections::BTreeMap;

use planesmith_machinery::Struct;

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    size: Option<Option<i32>>,
    sizes: BTreeMap<String, Option<Box<Option<i32>>>>,
}

fn main() {}
