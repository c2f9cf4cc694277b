//! Conversion of the older version of an order in both directions.

use std::collections::BTreeMap;

use planesmith_machinery::conversion::convert;
use planesmith_machinery::object::Resource;

use super::Order;
use crate::shop::v1;

/// Returns an order in the storage version.
fn stored(given_name: &str, family_name: &str) -> v1::Order {
    let mut order = v1::Order::default();
    order.spec.customer = v1::Customer {
        given_name: given_name.to_owned(),
        family_name: family_name.to_owned(),
    };
    v1::DEFAULT_PRIORITY.clone_into(&mut order.spec.priority);
    v1::DEFAULT_CURRENCY.clone_into(&mut order.spec.currency);
    order
}

fn older(order: &v1::Order) -> Order {
    let older = convert(order, Order::RESOURCE);
    older.downcast_ref::<Order>().expect("an older order").clone()
}

fn newer(order: &Order) -> v1::Order {
    let newer = convert(order, v1::Order::RESOURCE);
    newer.downcast_ref::<v1::Order>().expect("a newer order").clone()
}

#[test]
fn a_name_of_two_words_needs_no_annotation() {
    let mut order = stored("Ada", "Lovelace");
    "behind the shed".clone_into(&mut order.spec.delivery_note);
    let older = older(&order);
    assert_eq!(older.spec.customer_name, "Ada Lovelace");
    assert_eq!(older.spec.note, "behind the shed");
    assert_eq!(older.metadata.annotations, BTreeMap::new());
    assert_eq!(newer(&older), order);
}

#[test]
fn fields_unknown_to_the_older_version_survive() {
    let mut order = stored("Mary Jane", "Watson");
    "Express".clone_into(&mut order.spec.priority);
    let older = older(&order);
    assert_eq!(older.spec.customer_name, "Mary Jane Watson");
    let kept: Vec<(&str, &str)> = older
        .metadata
        .annotations
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect();
    assert_eq!(
        kept,
        [
            ("shop.example.com/given-name", "Mary Jane"),
            ("shop.example.com/priority", "Express"),
        ]
    );
    assert_eq!(newer(&older), order);
}

#[test]
fn a_name_that_an_old_client_changed_is_taken_apart_anew() {
    let mut older = older(&stored("Mary Jane", "Watson"));
    "Grace Hopper".clone_into(&mut older.spec.customer_name);
    assert_eq!(newer(&older), stored("Grace", "Hopper"));
}
