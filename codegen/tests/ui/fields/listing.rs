use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(required, expected)]
    redundant: String,
    #[field(optional, required)]
    refused: String,
    #[field(expected, optional)]
    undecided: String,
    #[field(inline, optional)]
    rest: Rest,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Rest {
    size: i32,
}

fn main() {}
