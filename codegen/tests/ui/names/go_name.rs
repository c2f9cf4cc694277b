use planesmith_machinery::Struct;

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Address {
    #[field(go_name = "zipCode")]
    post_code: String,
}

fn main() {}
