use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(atomic)]
    size: i32,
    #[field(atomic)]
    items: Vec<String>,
}

fn main() {}
