use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
#[resource(version = "v2")]
struct Order {
    #[field(proto = 1, keep, proto = 2)]
    metadata: ObjectMeta,
}

fn main() {}
