use planesmith_machinery::Resource;
use planesmith_machinery::object::Resource as _;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::scheme::Scheme;

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "Shop", version = "one", statuss, short("SO"), strategy)]
#[resource(selectable("spec.name"), column(name = "Size"))]
struct Order {
    #[field(proto = 0, minimun = 3)]
    size: i32,
    #[field(keep, omit_zero)]
    name: String,
}

// Uses of the kind are not reported again.
impl Strategy for Order {}

fn main() {
    Scheme::new().add::<Order>();
    let _ = Order::RESOURCE.kind;
}
