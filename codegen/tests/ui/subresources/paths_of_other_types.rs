use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::{Resource, Struct};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
#[resource(scale(spec = "spec.parcels", status = "spec.sent", selector = "spec.weight"))]
#[resource(selectable("spec.tags", "spec.parcels", "spec.none"))]
#[resource(rows_by = "spec.parcels")]
struct Order {
    metadata: ObjectMeta,
    spec: OrderSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct OrderSpec {
    parcels: String,
    sent: f64,
    weight: i32,
    tags: Vec<String>,
}

fn main() {}
