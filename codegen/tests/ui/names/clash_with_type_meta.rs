use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("v1", "Thing"))]
struct Thing {
    kind: String,
    api_version: String,
}

fn main() {}
