use planesmith_machinery::Struct;

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(required, default = "Normal")]
    priority: String,
}

fn main() {}
