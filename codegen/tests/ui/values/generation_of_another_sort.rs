use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", generation = exact)]
struct Order {
    metadata: ObjectMeta,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", generation = true)]
struct Invoice {
    metadata: ObjectMeta,
}

fn main() {}
