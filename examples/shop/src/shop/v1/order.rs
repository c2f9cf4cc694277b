//! Orders.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

/// The default priority; the field declaration repeats it.
pub const DEFAULT_PRIORITY: &str = "Normal";

/// The default currency; the field declaration repeats it.
pub const DEFAULT_CURRENCY: &str = "EUR";

/// Things that a customer ordered.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "shop.example.com",
    version = "v1",
    short("ord"),
    categories("all", "shop"),
    generation,
    strategy
)]
#[resource(
    status,
    scale(spec = "spec.parcels", status = "status.parcels", selector = "status.selector"),
    selectable("spec.priority", "status.phase")
)]
#[resource(
    column(name),
    column(
        name = "Customer",
        type = "string",
        doc = "Family name of the customer.",
        path = "spec.customer.familyName"
    ),
    column(
        name = "Priority",
        type = "string",
        doc = "Urgency with which the order is packed.",
        path = "spec.priority"
    ),
    column(
        name = "Parcels",
        type = "integer",
        doc = "The number of parcels of the shipment.",
        path = "spec.parcels"
    ),
    column(
        name = "Phase",
        type = "string",
        doc = "Progress of the order.",
        path = "status.phase"
    ),
    column(
        name = "Note",
        type = "string",
        doc = "Place to leave the parcels.",
        priority = 1,
        path = "spec.deliveryNote"
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
    /// The person who ordered.
    #[field(proto = 1)]
    pub customer: Customer,
    /// The ordered products, each at most once.
    #[field(proto = 2, list_type = map, list_map_keys("product"), patch_strategy(merge), patch_merge_key = "product", max_length = 50)]
    pub items: Vec<OrderItem>,
    /// Urgency with which the order is packed.
    #[field(proto = 3, default = "Normal", one_of("Low", "Normal", "Express"))]
    pub priority: String,
    /// The number of parcels of the shipment.
    #[field(proto = 4, default = 1, minimum = 0, maximum = 100)]
    pub parcels: Option<i32>,
    /// Place to leave the parcels if nobody is at home.
    #[field(proto = 5, max_length = 200)]
    pub delivery_note: String,
    /// Currency of the bill: three capital letters.
    #[field(proto = 6, default = "EUR", pattern = "^[A-Z]{3}$", immutable)]
    pub currency: String,
}

/// A person.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Customer {
    /// Given name or names.
    #[field(proto = 1)]
    pub given_name: String,
    /// Family name.
    #[field(proto = 2)]
    pub family_name: String,
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

impl Strategy for Order {
    fn validate(&self, errors: &mut FieldErrors) {
        // Declared constraints apply to single fields; this one depends on two.
        if self.spec.priority == "Express" && self.spec.items.is_empty() {
            errors.required("spec.items", "an express order needs at least one item");
        }
    }

    fn warnings_on_create(&self) -> Vec<String> {
        match self.spec.customer.family_name.as_str() {
            "" => vec!["spec.customer.familyName: an order without a name cannot be delivered".to_owned()],
            _ => Vec::new(),
        }
    }
}
