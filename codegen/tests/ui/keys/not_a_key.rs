use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema("Spec", name "Spec", atomic atomic)]
struct Spec {
    #[field(= 3, proto = 1 2)]
    size: i32,
}

fn main() {}
