use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(list_type = mapp, list_map_keys("name"))]
    items: Vec<Item>,
    #[field(list_type = "set")]
    names: Vec<String>,
    #[field(patch_strategy(merge, retainKeys))]
    sizes: Vec<i32>,
    #[field(patch_strategy(replace))]
    others: Vec<i32>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Item {
    name: String,
}

fn main() {}
