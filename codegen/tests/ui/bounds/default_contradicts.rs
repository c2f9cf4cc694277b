use planesmith_machinery::Struct;
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(one_of("Always", "Never"), default = "Sometimes")]
    policy: String,
    #[field(minimum = 1, default = 0)]
    low: i32,
    #[field(maximum = 9, default = 10)]
    high: i64,
    #[field(min_length = 2, default = "a")]
    short: String,
    #[field(max_length = 2, default = "abc")]
    long: String,
}

fn main() {}
