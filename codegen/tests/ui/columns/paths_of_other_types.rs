use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::{Resource, Struct};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1")]
#[resource(column(name = "Customer", type = "integer", path = "spec.customer"))]
#[resource(column(name = "Parcels", type = "boolean", path = "spec.parcels"))]
#[resource(column(name = "Since", type = "date", path = "spec.parcels"))]
#[resource(column(name = "Note", type = "string", path = "spec.note"))]
#[resource(column(name = "Tags", type = "string", path = "spec.tags"))]
struct Order {
    metadata: ObjectMeta,
    spec: OrderSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct OrderSpec {
    customer: String,
    parcels: i32,
    tags: Vec<String>,
}

fn main() {}
