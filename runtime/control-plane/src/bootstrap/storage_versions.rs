//! Records the version in which each built-in resource is stored, for migrations of objects.

use std::collections::BTreeMap;

use planesmith_machinery::time::Time;
use planesmith_server::chain::SharedTable;
use planesmith_server::hooks::Hook;
use planesmith_server::stores::Stores;
use serde_json::{Value, json};

use super::identity_lease;
use crate::feature_gates::FeatureGates;
use crate::loopback::{Loopback, LoopbackError};
use crate::reconciler::{self, Reconcile};
use crate::resource_client::{ResourceClient, text};

/// The feature gate; off unless it is named, as in kube-apiserver.
pub(crate) const GATE: &str = "StorageVersionAPI";

const GROUP: &str = "internal.apiserver.k8s.io";
const VERSION: &str = "v1alpha1";
const CONDITION: &str = "AllEncodingVersionsEqual";

/// Records the storage versions of the kinds in `tables`; `None` unless the gate is on and the kind is served.
pub(super) fn hook(tables: &[SharedTable], stores: &Stores, loopback: &Loopback, gates: &FeatureGates) -> Option<Hook> {
    if !gates.enabled(GATE) {
        return None;
    }
    if !are_served(tables) {
        tracing::warn!("--feature-gates has {GATE}, but --runtime-config does not have {GROUP}/{VERSION}");
        return None;
    }
    let versions = StorageVersions {
        objects: objects(stores, loopback)?,
        server: identity_lease::own_name(),
        resources: resources(tables, stores),
    };
    let hook = Hook::new(
        "built-in-resources-storage-version-updater",
        move |shutdown| async move {
            reconciler::start(versions, shutdown).await;
            Ok(())
        },
    );
    // Other servers on the same store remove the entries of servers without a lease.
    Some(hook.after(identity_lease::HOOK))
}

/// True if clients can read and write the versions.
pub(crate) fn are_served(tables: &[SharedTable]) -> bool {
    let serve = |table: &SharedTable| table.load().handler(GROUP, VERSION, "storageversions").is_some();
    tables.iter().any(serve)
}

/// The StorageVersion objects.
pub(crate) fn objects(stores: &Stores, loopback: &Loopback) -> Option<ResourceClient> {
    ResourceClient::of(stores, loopback, GROUP, VERSION, "storageversions")
}

struct StorageVersions {
    objects: ResourceClient,
    /// The name of the server.
    server: String,
    resources: BTreeMap<String, Versions>,
}

/// The versions of one resource.
#[derive(Debug, Default)]
struct Versions {
    encoding: String,
    decodable: Vec<String>,
    served: Vec<String>,
}

/// Returns the versions in which resources are stored, by `group.resource`.
fn resources(tables: &[SharedTable], stores: &Stores) -> BTreeMap<String, Versions> {
    let mut resources: BTreeMap<String, Versions> = BTreeMap::new();
    let tables: Vec<_> = tables.iter().map(SharedTable::load_full).collect();
    for handler in tables.iter().flat_map(|table| table.handlers()) {
        let (Some(store), served) = (handler.objects(), handler.facts()) else {
            continue;
        };
        let (group, version) = match &*served.group {
            "" => ("core", served.version.to_string()),
            group => (group, format!("{group}/{}", served.version)),
        };
        let hub = store.facts();
        let versions = resources.entry(format!("{group}.{}", served.plural)).or_default();
        versions.encoding = hub.api_version.to_string();
        let related = stores.scheme().iter().filter(|facts| facts.is_version_of(hub));
        versions.decodable = related.map(|facts| facts.api_version.to_string()).collect();
        versions.served.push(version);
    }
    for versions in resources.values_mut() {
        versions.served.sort();
        versions.decodable.sort();
    }
    resources
}

impl Reconcile for StorageVersions {
    const NAME: &'static str = "storage versions of this server";

    fn watched(&self) -> Vec<&ResourceClient> {
        vec![&self.objects]
    }

    fn all(&self) -> Vec<String> {
        self.resources.keys().cloned().collect()
    }

    fn touched(&self, _kind: usize, _namespace: &str, name: &str) -> Vec<String> {
        let own = self.resources.contains_key(name);
        own.then(|| name.to_owned()).into_iter().collect()
    }

    async fn reconcile(&self, name: &str) -> Result<(), LoopbackError> {
        let Some(versions) = self.resources.get(name) else {
            return Ok(());
        };
        if !self.objects.has("", name) {
            let object = json!({
                "apiVersion": format!("{GROUP}/{VERSION}"),
                "kind": "StorageVersion",
                "metadata": {"name": name},
                "spec": {},
            });
            self.objects.create(&object).await?;
        }
        let Some(mut object) = self.objects.get("", name) else {
            return Ok(());
        };
        let now = Time::from(self.objects.clock().now()).to_string();
        let status = status(&object["status"], &self.server, versions, &now);
        if object["status"] == status {
            return Ok(());
        }
        object["status"] = status;
        // A conflict with another server is seen next, and this server's versions are added then.
        self.objects.replace_part(&object, "/status").await
    }
}

/// Returns the status with the versions of one server; those of others stay.
fn status(before: &Value, server: &str, versions: &Versions, now: &str) -> Value {
    let own = json!({
        "apiServerID": server,
        "encodingVersion": versions.encoding,
        "decodableVersions": versions.decodable,
        "servedVersions": versions.served,
    });
    let mut servers = before["storageVersions"].as_array().cloned().unwrap_or_default();
    match servers.iter_mut().find(|said| said["apiServerID"] == server) {
        Some(said) => *said = own,
        None => servers.push(own),
    }
    agreed(before, &servers, now)
}

/// Returns the status for the versions of `servers`; the condition keeps its time if its status is unchanged.
pub(crate) fn agreed(before: &Value, servers: &[Value], now: &str) -> Value {
    let encoding = |said: &Value| text(said, "/encodingVersion").to_owned();
    let first = servers.first().map(encoding).unwrap_or_default();
    let is_common = servers.iter().all(|said| encoding(said) == first);
    let (holds, word) = if is_common { ("True", "Set") } else { ("False", "Unset") };
    let conditions = before["conditions"].as_array().into_iter().flatten();
    let mut conditions = conditions.filter(|condition| condition["type"] == CONDITION && condition["status"] == holds);
    let condition = conditions.next().cloned().unwrap_or_else(|| {
        json!({
            "type": CONDITION,
            "status": holds,
            "lastTransitionTime": now,
            "reason": format!("CommonEncodingVersion{word}"),
            "message": format!("Common encoding version {}", word.to_lowercase()),
        })
    });
    let mut status = json!({"storageVersions": servers, "conditions": [condition]});
    if is_common {
        status["commonEncodingVersion"] = first.into();
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions(encoding: &str) -> Versions {
        Versions {
            encoding: encoding.to_owned(),
            ..Versions::default()
        }
    }

    #[test]
    fn servers_agree_or_do_not() {
        let first = status(&Value::Null, "a", &versions("apps/v1"), "then");
        assert_eq!(first["commonEncodingVersion"], "apps/v1");
        assert_eq!(first["conditions"][0]["reason"], "CommonEncodingVersionSet");

        let second = status(&first, "b", &versions("apps/v2"), "now");
        assert_eq!(second["commonEncodingVersion"], Value::Null);
        assert_eq!(second["conditions"][0]["message"], "Common encoding version unset");
        assert_eq!(second["storageVersions"][0], first["storageVersions"][0]);

        let third = status(&first, "b", &versions("apps/v1"), "now");
        assert_eq!(third["conditions"][0]["lastTransitionTime"], "then");
        assert_eq!(status(&third, "b", &versions("apps/v1"), "later"), third);

        let last = agreed(&second, &[second["storageVersions"][1].clone()], "now");
        assert_eq!(last["commonEncodingVersion"], "apps/v2");
        assert_eq!(last["conditions"][0]["lastTransitionTime"], "now");
    }
}
