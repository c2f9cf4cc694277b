/// An order.
#[resource(group = "shop.example.com", version = "v1alpha1", kind = "Order", plural = "orders", singular = "order", storage_name = "purchases")]
#[resource(list = "OrderList", short("ord", "o"), categories("all"), cluster, unserved)]
#[resource(storage_version = super::v1::Order, convert, deprecated = "use v1")]
#[resource(feature = features::ORDERS)]
#[resource(status, scale(spec = "spec.lines", status = "status.lines", selector = "status.selector"))]
#[resource(subresource = "log", selectable("spec.customer"), name_rule = dns_label_1035, strategy, strategy_extensions)]
#[resource(generation, create_on_update, conditional_update, returns_deleted, no_delete_collection, status_on_create)]
#[resource(partitioned_by = "spec.customer", is_namespace, expires, deleted_first)]
#[resource(column(name), column(name = "Lines", type = "integer", format = "int32", doc = "How many.", path = "spec.lines"))]
#[resource(column(name = "Ready", type = "string", path = "status.conditions[?(@.type=='Ready')].status"))]
#[resource(column(name = "State", type = "string", priority = 1, with = columns::state), column(age))]
struct Order {
    /// Standard metadata.
    #[field(proto = 1)]
    metadata: ObjectMeta,
    #[field(proto = 2)]
    spec: OrderSpec,
    #[field(proto = 3)]
    status: OrderStatus,
}
