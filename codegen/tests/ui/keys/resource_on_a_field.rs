use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
struct Order {
    metadata: ObjectMeta,
    #[resource(selectable("size"))]
    size: i32,
}

fn main() {}
