use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(one_of = "A")]
    letter: String,
    #[field(one_of())]
    other: String,
    #[field(one_of(A, B))]
    third: String,
}

fn main() {}
