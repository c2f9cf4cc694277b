use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1alpha1", convert)]
struct Order {
    metadata: ObjectMeta,
    #[field(moved_to = "spec.size")]
    size: i32,
}

fn main() {}
