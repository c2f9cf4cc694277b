use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
#[schema(type_meta("v1", "Order"))]
struct Order {
    api_version: String,
    kind: String,
    metadata: ObjectMeta,
}

fn main() {}
