use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(inline, name = "inner", required, immutable, keep, omit_zero)]
    inner: Inner,
    #[field(inline)]
    size: i32,
    #[field(inline, moved_to = "spec.other", default = json("{}"))]
    other: Option<Inner>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Inner {
    size: i32,
}

fn main() {}
