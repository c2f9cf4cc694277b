use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", selectable())]
struct Order {
    metadata: ObjectMeta,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "shop.example.com",
    version = "v1",
    selectable("metadata.name", "customr", "address.city", "customer", "customer")
)]
struct Cart {
    metadata: ObjectMeta,
    customer: String,
}

fn main() {}
