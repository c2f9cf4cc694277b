use planesmith_machinery::Struct;

#[derive(Debug, Struct)]
struct Spec {
    size: i32,
}

fn main() {}
