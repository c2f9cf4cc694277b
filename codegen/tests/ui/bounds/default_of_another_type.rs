use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(default = "1")]
    number: i32,
    #[field(default = 1)]
    text: Option<String>,
    #[field(default = 3000000000)]
    small: i32,
    #[field(default = json("{}"))]
    list: Vec<String>,
    #[field(default = 1)]
    flag: bool,
}

fn main() {}
