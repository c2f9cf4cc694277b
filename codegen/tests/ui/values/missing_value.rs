use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(proto, name =, default = , pattern())]
    size: i32,
}

fn main() {}
