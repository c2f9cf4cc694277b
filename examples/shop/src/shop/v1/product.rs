//! Products.

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::quantity::Quantity;
use planesmith_machinery::{Resource, Struct};

/// Something that is sold, in all namespaces alike.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "shop.example.com", version = "v1", short("prod"), categories("shop"), cluster, name_rule = dns_label)]
#[resource(
    column(name),
    column(
        name = "Title",
        type = "string",
        doc = "Title that customers see.",
        path = "spec.title"
    ),
    column(name = "Price", type = "string", doc = "Price of a piece.", path = "spec.price"),
    column(age)
)]
pub struct Product {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The description of the product.
    #[field(proto = 2)]
    pub spec: ProductSpec,
}

/// The description of a product.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ProductSpec {
    /// Title that customers see.
    #[field(proto = 1, keep, required, max_length = 120)]
    pub title: String,
    /// Price of a piece.
    #[field(proto = 2, omit_zero)]
    pub price: Quantity,
    /// Words that it is found by.
    #[field(proto = 3, list_type = set)]
    pub tags: Vec<String>,
}
