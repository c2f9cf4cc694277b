use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[allow(non_camel_case_types)]
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
struct Purchase_Order {
    metadata: ObjectMeta,
}

fn main() {}
