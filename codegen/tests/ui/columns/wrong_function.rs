use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
#[resource(column(name = "Size", type = "integer", with = size))]
struct Order {
    metadata: ObjectMeta,
}

fn size(order: &Order) -> usize {
    0
}

fn main() {}
