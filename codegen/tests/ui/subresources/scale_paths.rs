use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "shop.example.com",
    version = "v1",
    scale(spec = ".spec.replicas", status = "stats.replicas", selector = "size.selector")
)]
struct Order {
    metadata: ObjectMeta,
    size: i32,
    status: i32,
}

fn main() {}
