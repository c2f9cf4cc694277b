use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(proto = 0)]
    a: i32,
    #[field(proto = 3)]
    b: i32,
    #[field(proto = 3)]
    c: i32,
    #[field(proto = 19000)]
    d: i32,
    #[field(proto = 536870912)]
    e: i32,
    #[field(proto = 4294967296)]
    f: i32,
}

fn main() {}
