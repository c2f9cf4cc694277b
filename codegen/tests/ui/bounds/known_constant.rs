use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(known = NUMBERS)]
    letter: String,
    #[field(known = self::missing::LETTERS)]
    other: String,
}

const NUMBERS: [i32; 2] = [1, 2];

mod missing {}

fn main() {}
