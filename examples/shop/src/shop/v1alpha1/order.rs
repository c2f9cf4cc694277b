//! Orders in their first version.

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Convert;
use planesmith_machinery::{Resource, Struct};

use crate::shop::v1;

/// The annotation with the given name, if the full name cannot be split correctly without it.
const GIVEN_NAME: &str = "shop.example.com/given-name";

/// The annotation with the priority, which this version does not have.
const PRIORITY: &str = "shop.example.com/priority";

/// The annotation with the currency, which this version does not have.
const CURRENCY: &str = "shop.example.com/currency";

/// Things that a customer ordered.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "shop.example.com",
    version = "v1alpha1",
    short("ord"),
    categories("all", "shop"),
    generation
)]
#[resource(storage_version = v1::Order, convert)]
#[resource(deprecated = "shop.example.com/v1alpha1 Order is deprecated; use shop.example.com/v1 Order")]
#[resource(
    status,
    scale(spec = "spec.parcels", status = "status.parcels", selector = "status.selector"),
    selectable("status.phase")
)]
#[resource(
    column(name),
    column(
        name = "Customer",
        type = "string",
        doc = "Name of the customer.",
        path = "spec.customerName"
    ),
    column(
        name = "Phase",
        type = "string",
        doc = "Progress of the order.",
        path = "status.phase"
    ),
    column(age)
)]
pub struct Order {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The desired state: the ordered products, the customer and the shipment.
    #[field(proto = 2)]
    pub spec: OrderSpec,
    /// The observed state: the progress of the order.
    #[field(proto = 3)]
    pub status: OrderStatus,
}

/// The desired state of an order.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct OrderSpec {
    /// Name of the customer: given name, space, family name.
    #[field(proto = 1)]
    pub customer_name: String,
    /// The ordered products, each at most once.
    #[field(proto = 2, list_type = map, list_map_keys("product"), patch_strategy(merge), patch_merge_key = "product", max_length = 50)]
    pub items: Vec<OrderItem>,
    /// The number of parcels of the shipment.
    #[field(proto = 3, default = 1, minimum = 0, maximum = 100)]
    pub parcels: Option<i32>,
    /// Place to leave the parcels if nobody is at home.
    #[field(proto = 4, max_length = 200, moved_to = "spec.deliveryNote")]
    pub note: String,
}

/// A product and how many of it.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct OrderItem {
    /// Name of the Product.
    #[field(
        proto = 1,
        keep,
        required,
        max_length = 63,
        pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
    )]
    pub product: String,
    /// The number of pieces.
    #[field(proto = 2, default = 1, minimum = 1, maximum = 1000)]
    pub quantity: i32,
}

/// The observed state of an order.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct OrderStatus {
    /// Received, Packing, Sent or Delivered.
    #[field(proto = 1, one_of("", "Received", "Packing", "Sent", "Delivered"))]
    pub phase: String,
    /// The number of packed parcels.
    #[field(proto = 2)]
    pub parcels: i32,
    /// Selects the packers that work on the order, such as order=a-17.
    #[field(proto = 3)]
    pub selector: String,
    /// Generation of the order that this tells about.
    #[field(proto = 4)]
    pub observed_generation: i64,
}

/// Fields of the same name, and the moved note, are copied already. This adds the customer's name in one string, and stores the
/// fields that only v1 has in annotations unless they have their defaults.
impl Convert<v1::Order> for Order {
    fn finish_to_hub(&self, hub: &mut v1::Order) {
        let name = self.spec.customer_name.as_str();
        let mut take = |key: &str| hub.metadata.annotations.remove(key);
        let (given, priority, currency) = (take(GIVEN_NAME), take(PRIORITY), take(CURRENCY));
        // If a client changes the name, the remaining annotation no longer matches.
        let kept = given.and_then(|given| split_after(name, &given));
        hub.spec.customer = kept.unwrap_or_else(|| split(name));
        hub.spec.priority = priority.unwrap_or_else(|| v1::DEFAULT_PRIORITY.to_owned());
        hub.spec.currency = currency.unwrap_or_else(|| v1::DEFAULT_CURRENCY.to_owned());
    }

    fn finish_from_hub(&mut self, hub: &v1::Order) {
        let customer = &hub.spec.customer;
        self.spec.customer_name = join(customer);
        let kept = [
            (
                GIVEN_NAME,
                &customer.given_name,
                split(&self.spec.customer_name) != *customer,
            ),
            (PRIORITY, &hub.spec.priority, hub.spec.priority != v1::DEFAULT_PRIORITY),
            (CURRENCY, &hub.spec.currency, hub.spec.currency != v1::DEFAULT_CURRENCY),
        ];
        for (key, value, needed) in kept {
            match needed {
                true => self.metadata.annotations.insert(key.to_owned(), value.clone()),
                false => self.metadata.annotations.remove(key),
            };
        }
    }
}

/// Returns given name, space, family name.
fn join(customer: &v1::Customer) -> String {
    match customer.family_name.as_str() {
        "" => customer.given_name.clone(),
        family => format!("{} {family}", customer.given_name),
    }
}

/// Splits a name after its first word; a single word is the given name.
fn split(name: &str) -> v1::Customer {
    let (given, family) = match name.split_once(' ') {
        Some((given, family)) if !family.is_empty() => (given, family),
        _ => (name, ""),
    };
    v1::Customer {
        given_name: given.to_owned(),
        family_name: family.to_owned(),
    }
}

/// Splits `name` after `given`; `None` if it starts differently.
fn split_after(name: &str, given: &str) -> Option<v1::Customer> {
    let customer = match name.strip_prefix(given)? {
        "" => v1::Customer {
            given_name: given.to_owned(),
            family_name: String::new(),
        },
        rest => v1::Customer {
            given_name: given.to_owned(),
            family_name: rest.strip_prefix(' ')?.to_owned(),
        },
    };
    (join(&customer) == name).then_some(customer)
}

#[cfg(test)]
mod tests;
