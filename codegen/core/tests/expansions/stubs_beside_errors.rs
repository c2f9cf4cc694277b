#[resource(group = "Shop", version = "v1", rules)]
struct Order {
    metadata: ObjectMeta,
    #[field(proto = 0)]
    size: i32,
}
