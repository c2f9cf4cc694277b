use std::collections::BTreeMap;

use planesmith_wire::quantity::Quantity;
use planesmith_wire::time::Time;

use super::*;
use crate::field_error::FieldErrors;
use crate::meta::ObjectMeta;
use crate::resource::Convert;
use crate::resource::strategy::Strategy;
use crate::{Resource, Struct};

/// A kind whose strategy is stricter than its table.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "test.example.com", version = "v2", kind = "Order", strategy)]
struct Order {
    metadata: ObjectMeta,
    spec: Spec,
    #[field(max_length = 3)]
    labels: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Spec {
    #[field(required, one_of("Card", "Cash"))]
    kind: String,
    card: Option<Card>,
    #[field(minimum = 2, maximum = 5)]
    least: i32,
    most: i32,
    #[field(pattern = "^[A-Z]{3}$", min_length = 3, max_length = 3)]
    currency: String,
    price: Option<Quantity>,
    at: Option<Time>,
    lines: Vec<Card>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Card {
    #[field(required)]
    number: String,
}

impl Strategy for Order {
    fn validate(&self, errors: &mut FieldErrors) {
        if (self.spec.kind == "Card") != self.spec.card.is_some() {
            match self.spec.card {
                Some(_) => errors.forbidden("spec.card", "only with a card"),
                None => errors.required("spec.card", ""),
            }
        }
        if self.spec.most < self.spec.least {
            errors.invalid("spec.most", self.spec.most, "must not be below the least");
        }
    }
}

/// Loses the price.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "test.example.com", version = "v1", kind = "Order", storage_version = Order, convert)]
struct OldOrder {
    metadata: ObjectMeta,
    spec: OldSpec,
    labels: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct OldSpec {
    kind: String,
    card: Option<Card>,
    least: i32,
    most: i32,
    currency: String,
    at: Option<Time>,
    lines: Vec<Card>,
}

impl Convert<Order> for OldOrder {
    fn finish_to_hub(&self, _: &mut Order) {}
    fn finish_from_hub(&mut self, _: &Order) {}
}

fn register(scheme: &mut Scheme) {
    scheme.add::<Order>().add::<OldOrder>();
}

fn valid(facts: &ResourceFacts) -> Vec<Box<dyn Object>> {
    valid_objects(facts, &Samples::default()).expect("enough samples")
}

#[test]
fn samples_are_valid_filled_and_the_same_each_time() {
    let facts = <Order as crate::resource::object::Resource>::RESOURCE;
    let samples = valid(facts);
    let orders: Vec<&Order> = samples.iter().filter_map(|sample| sample.downcast_ref()).collect();
    assert!(
        orders
            .iter()
            .all(|order| ["Card", "Cash"].contains(&order.spec.kind.as_str()))
    );
    assert!(
        orders
            .iter()
            .any(|order| order.spec.card.is_some() && order.spec.lines.len() > 1)
    );
    assert!(
        orders
            .iter()
            .any(|order| order.spec.price.is_some() && order.spec.at.is_some())
    );
    assert!(
        orders
            .iter()
            .any(|order| !order.spec.currency.is_empty() && !order.labels.is_empty())
    );
    assert_eq!(valid(facts).len(), samples.len());
    assert!(
        valid(facts)
            .iter()
            .zip(&samples)
            .all(|(again, sample)| rendered(&**again) == rendered(&**sample))
    );
}

#[test]
fn every_kind_survives_json() {
    assert_json_loses_nothing(register, &Samples::default());
}

#[test]
#[should_panic(expected = "spec.price")]
fn a_version_that_loses_a_field_is_found() {
    assert_versions_lose_nothing(register, &Samples::default());
}

#[test]
fn a_version_that_keeps_everything_passes() {
    let facts = Order::default();
    let same = |object: &dyn Object| round_trip(object, facts.resource());
    assert!(valid(facts.resource()).iter().all(|object| same(&**object).is_ok()));
}
