use planesmith_machinery::Resource;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
struct Order {
    size: i32,
}

fn main() {}
