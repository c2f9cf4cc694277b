use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(known("A", "B", "A"))]
    repeated: String,
    #[field(known("A", "B"), default = "C")]
    default: String,
    #[field(one_of("A"), known("A", "B"))]
    both: String,
    #[field(known("1"))]
    number: i32,
    #[field(known("1"))]
    numbers: Vec<i64>,
    #[field(known("A", "B"))]
    fine: std::collections::BTreeMap<String, String>,
    #[field(known = "A")]
    text: String,
    #[field(known =)]
    nothing: String,
    #[field(known = LETTERS)]
    constant: i32,
    #[field(known = LETTERS, one_of("A"))]
    twice: String,
}

const LETTERS: [&str; 2] = ["A", "B"];

fn main() {}
