use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "my.Spec")]
struct Spec {
    #[field(name = "")]
    size: i32,
    #[field(name = "the size")]
    other: i32,
}

fn main() {}
