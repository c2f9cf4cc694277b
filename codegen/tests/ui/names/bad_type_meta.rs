use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1"))]
struct Thing {
    name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "other-thing"))]
struct Other {
    name: String,
}

fn main() {}
