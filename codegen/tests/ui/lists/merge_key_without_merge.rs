use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(patch_merge_key = "name")]
    items: Vec<Item>,
    #[field(patch_strategy(retain_keys), patch_merge_key = "name")]
    others: Vec<Item>,
    #[field(patch_strategy(merge), patch_merge_key = "name")]
    name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Item {
    name: String,
}

fn main() {}
