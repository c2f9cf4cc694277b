#[resource(group = "Shop", version = "v1", strategy)]
struct Order {
    metadata: ObjectMeta,
    #[field(proto = 0)]
    size: i32,
}
