//! The webhooks of all stored configurations.

use std::sync::Arc;

use planesmith_api_defs::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration};
use planesmith_machinery::object::Resource;
use planesmith_server::stores::{Derived, ResourceStore};

use super::Webhook;

/// A kind of configurations.
pub(super) trait Configuration: Resource {
    /// Returns the webhooks, in order.
    fn webhooks(&self) -> Vec<Webhook>;
}

impl Configuration for MutatingWebhookConfiguration {
    fn webhooks(&self) -> Vec<Webhook> {
        let webhooks = self.webhooks.iter().enumerate();
        webhooks
            .map(|(index, webhook)| Webhook::mutating(&self.metadata.name, index, webhook))
            .collect()
    }
}

impl Configuration for ValidatingWebhookConfiguration {
    fn webhooks(&self) -> Vec<Webhook> {
        let webhooks = self.webhooks.iter().enumerate();
        webhooks
            .map(|(index, webhook)| Webhook::validating(&self.metadata.name, index, webhook))
            .collect()
    }
}

/// The webhooks of all stored configurations of one kind.
#[derive(Debug)]
pub(super) struct Configurations {
    webhooks: Derived<Compiled>,
    compile: fn(&[Arc<ResourceStore>], Option<&Compiled>) -> Compiled,
}

/// The webhooks of all configurations, in order: by the name of the configuration, then as listed there.
#[derive(Debug, Default)]
struct Compiled {
    /// By name and resourceVersion of their configuration, so that a change compiles one configuration anew.
    configurations: Vec<(String, String, Vec<Arc<Webhook>>)>,
    all: Arc<[Arc<Webhook>]>,
}

impl Configurations {
    /// Returns the webhooks of the configurations in `store`.
    pub(super) fn new<C: Configuration>(store: ResourceStore) -> Self {
        Self {
            webhooks: Derived::new(vec![Arc::new(store)]),
            compile: compile::<C>,
        }
    }

    /// Returns the webhooks that are configured at the moment.
    pub(super) fn current(&self) -> Arc<[Arc<Webhook>]> {
        Arc::clone(&self.webhooks.get(self.compile).all)
    }
}

fn compile<C: Configuration>(stores: &[Arc<ResourceStore>], previous: Option<&Compiled>) -> Compiled {
    let mut configurations: Vec<C> = stores.iter().flat_map(|store| store.all::<C>()).collect();
    configurations.sort_by(|left, right| left.meta().name.cmp(&right.meta().name));
    let compiled = configurations.iter().map(|configuration| {
        let (name, version) = (&configuration.meta().name, &configuration.meta().resource_version);
        let known = previous.into_iter().flat_map(|previous| &previous.configurations);
        let mut known = known.filter(|(of, at, _)| of == name && at == version);
        let webhooks = match known.next() {
            Some((_, _, webhooks)) => webhooks.clone(),
            None => configuration.webhooks().into_iter().map(Arc::new).collect(),
        };
        (name.clone(), version.clone(), webhooks)
    });
    let configurations: Vec<_> = compiled.collect();
    let all = configurations.iter().flat_map(|(_, _, webhooks)| webhooks).cloned();
    Compiled {
        all: all.collect(),
        configurations,
    }
}
