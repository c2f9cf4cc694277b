use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", scale)]
struct Order {
    metadata: ObjectMeta,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", scale(selector = "selector"))]
struct Cart {
    metadata: ObjectMeta,
    selector: String,
}

fn main() {}
