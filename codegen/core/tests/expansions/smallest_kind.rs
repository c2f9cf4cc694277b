#[resource(group = "", version = "v1")]
struct Thing {
    metadata: ObjectMeta,
}
