use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(one_of("A", "B", "A"))]
    letter: String,
}

fn main() {}
