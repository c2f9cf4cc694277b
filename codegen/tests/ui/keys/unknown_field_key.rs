use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(listType = map, protobuf = 3)]
    items: Vec<Spec>,
}

fn main() {}
