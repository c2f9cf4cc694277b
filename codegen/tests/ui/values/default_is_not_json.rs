use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(default = json("[1,"))]
    sizes: Vec<i32>,
    #[field(default = None)]
    name: String,
}

fn main() {}
