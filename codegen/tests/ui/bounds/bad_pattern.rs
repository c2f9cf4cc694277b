use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(pattern = "^[a-z$")]
    open: String,
    #[field(pattern = "^(?=a)b$")]
    ahead: String,
}

fn main() {}
