use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    node_ip: String,
    #[field(name = "nodeIp")]
    other: String,
    #[field(name = "third")]
    a: String,
    third: String,
}

fn main() {}
