use planesmith_machinery::Struct;

#[derive(Clone, Copy, Struct)]
union Either {
    left: i32,
    right: i64,
}

fn main() {}
