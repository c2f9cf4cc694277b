use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1alpha1", storage_version = ObjectMeta)]
struct Order {
    metadata: ObjectMeta,
}

fn main() {}
