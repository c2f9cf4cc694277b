use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1alpha1", storage_version = Newer, convert)]
struct Order {
    metadata: ObjectMeta,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", kind = "Order")]
struct Newer {
    metadata: ObjectMeta,
}

fn main() {}
