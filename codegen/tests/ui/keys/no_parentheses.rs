use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema = "Spec"]
struct Spec {
    #[field]
    size: i32,
}

fn main() {}
