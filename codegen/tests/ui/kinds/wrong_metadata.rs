use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
struct Order {
    metadata: Option<ObjectMeta>,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
struct Cart {
    #[field(name = "meta")]
    metadata: ObjectMeta,
}

fn main() {}
