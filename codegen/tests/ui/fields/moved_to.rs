use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(moved_to = "spec..size")]
    size: i32,
    #[field(moved_to = "")]
    other: i32,
}

fn main() {}
