use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(list_type = atomic)]
    labels: std::collections::BTreeMap<String, String>,
    #[field(list_type = set)]
    size: i32,
    #[field(list_type = map, list_map_keys("name"))]
    names: Vec<String>,
}

fn main() {}
