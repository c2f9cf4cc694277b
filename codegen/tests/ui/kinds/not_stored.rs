use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", create_only, read_only, hashed_version = "first")]
struct Quote {
    metadata: ObjectMeta,
}

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", read_only, status)]
struct Price {
    metadata: ObjectMeta,
    status: String,
}

fn main() {}
