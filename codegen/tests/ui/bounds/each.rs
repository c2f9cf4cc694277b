use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(each(max_length = 3))]
    name: String,
    #[field(each)]
    names: Vec<String>,
    #[field(each(minimum = 3, known("a"), pattern = "["))]
    words: Vec<String>,
    #[field(one_of("a"), each(each(max_length = 3), min_length = 2, max_length = 1))]
    texts: std::collections::BTreeMap<String, String>,
}

fn main() {}
