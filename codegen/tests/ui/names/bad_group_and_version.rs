use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "Shop.Example.Com", version = "1.0")]
struct Order {
    metadata: ObjectMeta,
}

fn main() {}
