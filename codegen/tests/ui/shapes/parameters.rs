use planesmith_machinery::Struct;

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Page<T> {
    items: Vec<T>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Name<'a> {
    name: &'a str,
}

fn main() {}
