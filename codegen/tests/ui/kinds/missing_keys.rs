use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(kind = "Order")]
struct Order {
    metadata: ObjectMeta,
}

fn main() {}
