use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", column(name, type = "string"), column(age, path = "size"))]
struct Order {
    metadata: ObjectMeta,
    size: i32,
}

fn main() {}
