use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(keep, omit_zero)]
    size: i32,
}

fn main() {}
