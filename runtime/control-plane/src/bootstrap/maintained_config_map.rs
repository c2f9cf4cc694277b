//! ConfigMaps of the system that the server creates and maintains.

use std::time::{Duration, SystemTime};

use planesmith_server::hooks::Hook;
use planesmith_server::stores::Stores;
use serde_json::{Map, Value, json};

use crate::loopback::{Loopback, LoopbackError};
use crate::reconciler::{self, Reconcile};
use crate::resource_client::ResourceClient;

const NAMESPACE: &str = "kube-system";

/// The content of one of these ConfigMaps.
pub(super) trait Content: Send + Sync + 'static {
    /// The ConfigMap.
    const NAME: &'static str;

    /// The name of the work in the log.
    const WORK: &'static str;

    /// Time after which the data may have changed without a change of objects; `None` for never.
    const REFRESH: Option<Duration> = None;

    /// Returns the data to replace `have` with at the time `now`; `None` if that may stay.
    fn data(&self, have: &Map<String, Value>, now: SystemTime) -> Option<Map<String, Value>>;
}

/// The hook called `name` that creates and maintains the ConfigMap of `content`; `None` for a server without
/// ConfigMaps.
pub(super) fn hook<C: Content>(name: &'static str, stores: &Stores, loopback: &Loopback, content: C) -> Option<Hook> {
    let config_maps = ResourceClient::of(stores, loopback, "", "v1", "configmaps")?;
    let maintained = MaintainedConfigMap { config_maps, content };
    Some(Hook::new(name, move |shutdown| async move {
        reconciler::start(maintained, shutdown).await;
        Ok(())
    }))
}

struct MaintainedConfigMap<C> {
    config_maps: ResourceClient,
    content: C,
}

impl<C: Content> Reconcile for MaintainedConfigMap<C> {
    const NAME: &'static str = C::WORK;

    fn watched(&self) -> Vec<&ResourceClient> {
        vec![&self.config_maps]
    }

    fn all(&self) -> Vec<String> {
        vec![C::NAME.to_owned()]
    }

    fn touched(&self, _kind: usize, namespace: &str, name: &str) -> Vec<String> {
        match (namespace, name) == (NAMESPACE, C::NAME) {
            true => self.all(),
            false => Vec::new(),
        }
    }

    fn again_in(&self, _key: &str) -> Option<Duration> {
        C::REFRESH
    }

    async fn reconcile(&self, name: &str) -> Result<(), LoopbackError> {
        let (nothing, now) = (Map::new(), self.config_maps.clock().now());
        let Some(mut stored) = self.config_maps.get(NAMESPACE, name) else {
            let made = json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": NAMESPACE},
                "data": self.content.data(&nothing, now).unwrap_or_default(),
            });
            return self.config_maps.create(&made).await;
        };
        let have = stored.get("data").and_then(Value::as_object).unwrap_or(&nothing);
        let Some(data) = self.content.data(have, now) else {
            return Ok(());
        };
        stored["data"] = Value::Object(data);
        self.config_maps.replace(&stored).await
    }
}
