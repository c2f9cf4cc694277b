use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", partitioned_by = "customer")]
struct Order {
    metadata: ObjectMeta,
    customer: String,
}

fn main() {}
