use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", rows_by = "sice")]
struct Order {
    metadata: ObjectMeta,
    size: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", rows_by)]
struct Cart {
    metadata: ObjectMeta,
}

fn main() {}
