use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions};

#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", strategy)]
struct Order {
    metadata: ObjectMeta,
}

impl Strategy for Order {}

impl StrategyExtensions for Order {}

fn main() {}
