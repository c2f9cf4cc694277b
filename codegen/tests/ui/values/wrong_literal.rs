use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = Spec)]
struct Spec {
    #[field(proto = "1", name = 2, minimum = 1.5, max_length = -1)]
    size: i32,
    #[field(proto = 1u32)]
    other: i32,
}

fn main() {}
