use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(list_type = map)]
    items: Vec<Item>,
    #[field(list_map_keys("name"))]
    others: Vec<Item>,
    #[field(list_type = set, list_map_keys("name"))]
    thirds: Vec<Item>,
    #[field(list_type = map, list_map_keys("name", "name"))]
    fourths: Vec<Item>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Item {
    name: String,
}

fn main() {}
