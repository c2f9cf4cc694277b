use planesmith_machinery::Struct;

#[derive(Clone, Debug, Default, PartialEq, Struct)]
enum Color {
    #[default]
    Red,
    Green,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Pair(i32, i32);

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Nothing;

// The stub impls keep these quiet.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct User {
    color: Color,
    pair: Option<Pair>,
    nothing: Vec<Nothing>,
}

fn main() {}
