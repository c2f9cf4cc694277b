use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
#[resource(column(name = "Size", type = "integer", path = "size", with = size))]
struct Order {
    metadata: ObjectMeta,
    size: i32,
}

fn main() {}
