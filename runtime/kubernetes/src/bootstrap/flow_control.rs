//! The objects that divide the server's capacity among requests: mandatory ones are kept as they are here, suggested
//! ones may be changed.

mod dangling;

use std::time::Duration;

use futures_util::future::try_join_all;
use planesmith_control_plane::loopback::{Loopback, LoopbackError};
use planesmith_control_plane::resource_client::{ResourceClient, text};
use planesmith_server::hooks::{Hook, HookError};
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::Stores;
use serde_json::{Map, Value, json};

use super::table;

const GROUP: &str = "flowcontrol.apiserver.k8s.io";
const API_VERSION: &str = "flowcontrol.apiserver.k8s.io/v1";

/// The annotation that tells the server to maintain the spec of an object, or not.
const AUTO_UPDATE: &str = "apf.kubernetes.io/autoupdate-spec";

/// The field manager of the objects.
const PRODUCER: &str = "api-priority-and-fairness-config-producer-v1";

const PRODUCER_HOOK: &str = "priority-and-fairness-config-producer";

/// The time between two checks of the objects.
const INTERVAL: Duration = Duration::from_secs(60);

/// Creates the objects and maintains them, and sets the condition Dangling of schemas. Empty for a server without the
/// kinds.
pub(super) fn hooks(stores: &Stores, loopback: &Loopback) -> Vec<Hook> {
    let of = |plural| ResourceClient::of(stores, loopback, GROUP, "v1", plural);
    let Some((levels, schemas)) = of("prioritylevelconfigurations").zip(of("flowschemas")) else {
        return Vec::new();
    };
    let kinds = [
        Kind {
            objects: levels.clone().managed_by(PRODUCER),
            name: "PriorityLevelConfiguration",
            table: table::levels(),
        },
        Kind {
            objects: schemas.clone().managed_by(PRODUCER),
            name: "FlowSchema",
            table: table::schemas(),
        },
    ];
    let producer = Hook::new(PRODUCER_HOOK, move |shutdown| async move {
        let parts = kinds
            .iter()
            .flat_map(|kind| [kind.make(MANDATORY), kind.make(SUGGESTED)]);
        let made = try_join_all(parts).await;
        made.map_err(|error| HookError(error.to_string()))?;
        tokio::spawn(keep(kinds, shutdown));
        Ok(())
    });
    vec![producer, dangling::hook(schemas, levels).after(PRODUCER_HOOK)]
}

const MANDATORY: &str = "mandatory";
const SUGGESTED: &str = "suggested";

struct Kind {
    objects: ResourceClient,
    name: &'static str,
    table: Value,
}

async fn keep(kinds: [Kind; 2], mut shutdown: Shutdown) {
    loop {
        tokio::select! {
            () = shutdown.requested() => return,
            () = tokio::time::sleep(INTERVAL) => {}
        }
        for kind in &kinds {
            let kept = async {
                kind.make(MANDATORY).await?;
                kind.make(SUGGESTED).await?;
                kind.remove_unwanted().await
            };
            if let Err(error) = kept.await {
                tracing::warn!(kind = kind.name, %error, "objects for priority and fairness cannot be reconciled");
            }
        }
    }
}

impl Kind {
    fn specs(&self, part: &str) -> impl Iterator<Item = (&String, &Value)> {
        self.table[part].as_object().into_iter().flatten()
    }

    /// Creates missing objects of a part of the table, and restores changed ones.
    async fn make(&self, part: &str) -> Result<(), LoopbackError> {
        let each = self.specs(part).map(|(name, spec)| async move {
            match self.objects.get("", name) {
                None => self.objects.create(&self.object(name, spec)).await,
                Some(stored) => match revised(stored, spec, part == MANDATORY) {
                    None => Ok(()),
                    Some(revised) => self.objects.replace(&revised).await,
                },
            }
        });
        try_join_all(each).await.map(drop)
    }

    /// Removes objects that earlier versions of the server created for themselves.
    async fn remove_unwanted(&self) -> Result<(), LoopbackError> {
        for object in self.objects.all("") {
            let name = text(&object, "/metadata/name");
            let wanted = [MANDATORY, SUGGESTED]
                .iter()
                .any(|part| self.table[*part].get(name).is_some());
            if !wanted && object["metadata"]["annotations"][AUTO_UPDATE] == "true" {
                self.objects.delete("", name).await?;
            }
        }
        Ok(())
    }

    fn object(&self, name: &str, spec: &Value) -> Value {
        json!({
            "apiVersion": API_VERSION,
            "kind": self.name,
            "metadata": {"name": name, "annotations": {AUTO_UPDATE: "true"}},
            "spec": spec,
        })
    }
}

/// Returns the stored object as it should be; `None` if it is so already.
///
/// The server maintains a spec while the annotation says so. Without one, it does until a user has changed the
/// object.
fn revised(stored: Value, spec: &Value, mandatory: bool) -> Option<Value> {
    let annotation = stored["metadata"]["annotations"][AUTO_UPDATE].as_str();
    let requested = annotation.and_then(|annotation| match annotation {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    });
    let ours = mandatory || requested.unwrap_or(stored["metadata"]["generation"] == 1);
    let wanted = if ours { "true" } else { "false" };
    let right_annotation = annotation == Some(wanted);
    // The lendable share of an exempt level is for the cluster's administrators.
    let same_spec = stored["spec"] == *spec || (spec["type"] == "Exempt" && stored["spec"]["type"] == "Exempt");
    if right_annotation && (same_spec || !ours) {
        return None;
    }
    let mut revised = stored;
    if ours && !same_spec {
        revised["spec"] = spec.clone();
    }
    if let Some(metadata) = revised["metadata"].as_object_mut() {
        let annotations = metadata.entry("annotations").or_insert_with(|| Map::new().into());
        annotations[AUTO_UPDATE] = wanted.into();
    }
    Some(revised)
}

#[cfg(test)]
mod tests;
