use planesmith_machinery::Struct;

#[derive(Clone, Debug, Default, PartialEq)]
struct Inner {
    size: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Outer {
    inner: Inner,
}

fn main() {}
