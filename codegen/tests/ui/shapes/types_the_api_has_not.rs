use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    count: u32,
    ratio: Vec<f32>,
    pair: (i32, i32),
    text: &'static str,
    bytes: Option<Vec<u8>>,
}

fn main() {}
