use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "shop.example.com",
    version = "v1",
    plural = "Orders",
    singular = "an order",
    short("o_", "ord", "ord", "order"),
    categories("All")
)]
struct Order {
    metadata: ObjectMeta,
}

fn main() {}
