use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic = true)]
struct Spec {
    #[field(keep = true)]
    size: i32,
    #[field(required("yes"))]
    other: i32,
}

fn main() {}
