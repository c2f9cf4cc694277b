use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(unique)]
    names: Vec<String>,
    #[field(list_type = atomic, unique)]
    others: Vec<String>,
    #[field(list_type = set, unique)]
    tags: Vec<String>,
}

fn main() {}
