use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(minimum = 1, maximum = 9)]
    name: String,
    #[field(max_length = 3)]
    size: Option<i64>,
    #[field(pattern = "^a$", one_of("1", "2"))]
    number: i32,
    #[field(min_length = 1)]
    flag: bool,
    #[field(pattern = "^a$")]
    names: Vec<String>,
}

fn main() {}
