use planesmith_machinery::Struct;
use planesmith_machinery::scheme::Scheme;

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    size: i32,
}

fn main() {
    Scheme::new().add::<Spec>();
}
