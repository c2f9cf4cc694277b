//! Subresources that kinds declare: each has a handler before anything is served, because OpenAPI documents it.

use anyhow::{Result, bail};
use planesmith_server::stores::Stores;

use crate::server_routes::ServerRoutes;

/// Checks that `stores` have a handler for every subresource that a kind in `routes` declares.
///
/// # Errors
///
/// If some have none; names all of them.
pub(crate) fn check(stores: &Stores, routes: &ServerRoutes) -> Result<()> {
    let kinds = stores.scheme().iter();
    let served = kinds.filter(|facts| facts.served && routes.serves(&facts.group, &facts.version));
    let mut problems = Vec::new();
    for facts in served {
        for name in stores.unhandled(facts) {
            problems.push(format!(
                "the subresource {name:?} of {} has no handler; add one with `Stores::handle({:?}, {:?}, {name:?}, ...)`, or remove \
                 `subresource = {name:?}` from its `#[resource(...)]`",
                facts.group_version_kind(),
                facts.group,
                facts.plural
            ));
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => bail!("the kinds of this program cannot be served: {}", problems.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use planesmith_machinery::Resource;
    use planesmith_machinery::meta::ObjectMeta;
    use planesmith_machinery::scheme::Scheme;
    use planesmith_server::routes::Routes;
    use planesmith_server::verbs::Finalize;
    use planesmith_store::{MemoryLog, Storage, StorageOptions};

    use super::*;

    /// An order with a bill.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "shop.example.com", version = "v1", subresource = "bill")]
    struct Order {
        /// Metadata.
        metadata: ObjectMeta,
    }

    #[test]
    fn a_subresource_without_a_handler_is_reported_with_the_line_to_add() {
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let mut scheme = Scheme::new();
        scheme.add::<Order>();
        let stores = Stores::new(storage, Arc::new(scheme));
        let routes = || {
            let mut core = Routes::new();
            core.serve::<Order>(&stores);
            ServerRoutes {
                core,
                components: Vec::new(),
            }
        };
        let refused = check(&stores, &routes()).unwrap_err().to_string();
        assert_eq!(
            refused,
            "the kinds of this program cannot be served: the subresource \"bill\" of shop.example.com/v1, Kind=Order has no \
             handler; add one with `Stores::handle(\"shop.example.com\", \"orders\", \"bill\", ...)`, or remove `subresource = \
             \"bill\"` from its `#[resource(...)]`"
        );
        stores.handle("shop.example.com", "orders", "bill", Arc::new(Finalize));
        check(&stores, &routes()).unwrap();
    }
}
