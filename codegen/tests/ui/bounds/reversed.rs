use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(minimum = 9, maximum = 1)]
    size: i32,
    #[field(min_length = 5, max_length = 4)]
    name: String,
}

fn main() {}
