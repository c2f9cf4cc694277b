//! Admission plugins of the shop's server.
//!
//! A module `admission` declares the plugins of a crate's server; without it, the server has the generic ones. Flags enable and
//! disable plugins by name, as in kube-apiserver.

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_control_plane::admission::{NAMESPACE_LIFECYCLE, Registration};
use planesmith_machinery::status::ApiResult;

use crate::shop::v1::{Order, Product};

/// The tag of products that are sold out.
const SOLD_OUT: &str = "sold-out";

/// The plugins, in call order.
pub const PLUGINS: &[Registration] = &[
    NAMESPACE_LIFECYCLE,
    Registration::on("ProductsInStock", |setup| {
        let objects = Arc::clone(&setup.objects);
        Ok(Some(Arc::new(ProductsInStock { objects })))
    }),
];

/// Refuses orders of sold-out products. Validation by the kind could not do that, because it has access only to the order.
struct ProductsInStock {
    objects: Arc<dyn Lister>,
}

impl ProductsInStock {
    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let Some(order) = objects.new_as::<Order>() else {
            return Ok(());
        };
        let mut missing = Vec::new();
        for item in &order.spec.items {
            let product = self.objects.find::<Product>("", &item.product)?;
            if product.is_some_and(|product| product.spec.tags.iter().any(|tag| tag == SOLD_OUT)) {
                missing.push(format!("{} is sold out", item.product));
            }
        }
        attributes.forbid_all(objects.new.as_deref(), &missing)
    }
}

impl Plugin for ProductsInStock {
    fn name(&self) -> &'static str {
        "ProductsInStock"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Create && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.check(attributes, objects))
    }
}

#[cfg(test)]
mod tests {
    use planesmith_access::user::UserInfo;
    use planesmith_machinery::object::{Object, Resource as _};
    use planesmith_machinery::resource::ResourceFacts;

    use super::*;
    use crate::shop::v1::OrderItem;

    /// A lister in which the product `engine` is sold out and all others are in stock.
    struct Shelf;

    impl Lister for Shelf {
        fn get(&self, _: &ResourceFacts, _: &str, name: &str) -> ApiResult<Option<Arc<dyn Object>>> {
            let mut product = Product::default();
            if name == "engine" {
                product.spec.tags.push(SOLD_OUT.to_owned());
            }
            Ok(Some(Arc::new(product)))
        }

        fn list(&self, _: &ResourceFacts, _: &str) -> ApiResult<Vec<Arc<dyn Object>>> {
            Ok(Vec::new())
        }
    }

    fn order(product: &str) -> ApiResult<()> {
        let plugin = ProductsInStock {
            objects: Arc::new(Shelf),
        };
        let mut order = Order::default();
        order.metadata.name = "first".to_owned();
        order.spec.items.push(OrderItem {
            product: product.to_owned(),
            quantity: 1,
        });
        let user = UserInfo::default();
        let attributes = Attributes::new(Operation::Create, Order::RESOURCE, &user);
        let objects = Objects {
            new: Some(&mut order),
            old: None,
        };
        plugin.check(&attributes, &objects)
    }

    #[test]
    fn a_product_that_is_sold_out_cannot_be_ordered() {
        assert_eq!(order("wheel"), Ok(()));
        let refused = order("engine").expect_err("sold out");
        assert_eq!(
            refused.message(),
            "orders.shop.example.com \"first\" is forbidden: engine is sold out"
        );
    }
}
