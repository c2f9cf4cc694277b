use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
struct Order {
    metadata: ObjectMeta,
}

fn main() {}
