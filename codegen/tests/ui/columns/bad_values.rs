use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
#[resource(column(name = "", type = "int", priority = -1, path = "sice"))]
#[resource(column(name = "Size", type = "integer", path = "size"))]
#[resource(column(name = "Size", type = "integer", path = "size", width = 3))]
struct Order {
    metadata: ObjectMeta,
    size: i32,
}

fn main() {}
