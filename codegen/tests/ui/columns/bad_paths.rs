use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
#[resource(column(name = "A", type = "string", path = ".lines[0]"))]
#[resource(column(name = "B", type = "string", path = "lynes[*].sku"))]
struct Order {
    metadata: ObjectMeta,
    lines: Vec<String>,
}

fn main() {}
