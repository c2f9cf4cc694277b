//! Since when the use of service-account tokens in Secrets is recorded.

use planesmith_machinery::time::Time;
use planesmith_server::hooks::Hook;
use planesmith_server::stores::Stores;
use serde_json::json;

use crate::loopback::{Loopback, LoopbackError};
use crate::objects::{Objects, text};
use crate::reconciler::{self, Reconcile};
use crate::service_accounts::token_secrets::{day, start_of};

pub(crate) const NAMESPACE: &str = "kube-system";
pub(crate) const NAME: &str = "kube-apiserver-legacy-service-account-token-tracking";

/// Makes the ConfigMap that holds the day, and keeps it; `None` for a server without ConfigMaps.
pub(super) fn hook(stores: &Stores, loopback: &Loopback) -> Option<Hook> {
    let config_maps = Objects::of(stores, loopback, "", "v1", "configmaps")?;
    Some(Hook::new(
        "start-legacy-token-tracking-controller",
        move |shutdown| async move {
            reconciler::start(TokenTracking { config_maps }, shutdown).await;
            Ok(())
        },
    ))
}

struct TokenTracking {
    config_maps: Objects,
}

impl Reconcile for TokenTracking {
    const NAME: &'static str = "tracking of service-account tokens";

    fn watched(&self) -> Vec<&Objects> {
        vec![&self.config_maps]
    }

    fn all(&self) -> Vec<String> {
        vec![NAME.to_owned()]
    }

    fn touched(&self, _kind: usize, namespace: &str, name: &str) -> Vec<String> {
        if (namespace, name) == (NAMESPACE, NAME) {
            self.all()
        } else {
            Vec::new()
        }
    }

    async fn reconcile(&self, _key: &str) -> Result<(), LoopbackError> {
        let data = json!({"since": day(Time::now())});
        match self.config_maps.get(NAMESPACE, NAME) {
            None => {
                let made = json!({
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": {"name": NAME, "namespace": NAMESPACE},
                    "data": data,
                });
                self.config_maps.create(&made).await
            }
            Some(stored) if start_of(text(&stored, "/data/since")).is_some() => Ok(()),
            Some(mut stored) => {
                stored["data"] = data;
                self.config_maps.replace(&stored).await
            }
        }
    }
}
