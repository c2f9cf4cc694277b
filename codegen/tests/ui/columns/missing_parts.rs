use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", column, column(name = "Size", path = "size"))]
#[resource(column(type = "integer"))]
struct Order {
    metadata: ObjectMeta,
    size: i32,
}

fn main() {}
