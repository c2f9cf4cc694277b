//! The default roles of a cluster, and their bindings.
//!
//! At start, missing roles, rules and subjects are added; additions by administrators stay. Until the next start,
//! nothing is undone. The server is ready once this is done.

mod bindings;
mod migration;
mod roles;
mod table;

use std::sync::Arc;

use futures_util::future::try_join_all;
use planesmith_control_plane::default_roles::DefaultRoles;
use planesmith_control_plane::feature_gates::FeatureGates;
use planesmith_control_plane::loopback::{Loopback, LoopbackError};
use planesmith_control_plane::resource_client::{ResourceClient, text};
use planesmith_server::hooks::{Hook, HookError};
use planesmith_server::stores::Stores;
use serde_json::{Map, Value, json};

pub(crate) use self::table::BASIC;
use self::table::{TableError, Tables};
use crate::GROUP;
use crate::stored_policy::StoredPolicy;
use planesmith_server::task;

const API_VERSION: &str = "rbac.authorization.k8s.io/v1";

/// `false` on an object keeps the server from changing it.
const AUTO_UPDATE: &str = "rbac.authorization.kubernetes.io/autoupdate";

/// The prefix of the names of controllers' roles.
const CONTROLLER: &str = "system:controller:";

/// Follows changes of `policy` from the start on, creates the roles and bindings, and completes existing ones; `None` for a server
/// without roles.
///
/// # Errors
///
/// The tables of a component are faulty.
pub(crate) fn hook(
    stores: &Stores,
    loopback: &Loopback,
    default_roles: &[DefaultRoles],
    gates: &FeatureGates,
    policy: Arc<StoredPolicy>,
) -> Result<Option<Hook>, TableError> {
    let tables = Tables::read(default_roles, &|gate| gates.enabled(gate))?;
    let of = |plural| ResourceClient::of(stores, loopback, GROUP, "v1", plural);
    let all = of("clusterroles").zip(of("clusterrolebindings"));
    let all = all.zip(of("roles").zip(of("rolebindings")));
    Ok(all.map(|((cluster_roles, cluster_bindings), (roles, bindings))| {
        Hook::new("rbac/bootstrap-roles", move |shutdown| async move {
            task::spawn(policy.follow(shutdown));
            let made = async {
                migration::aggregated_roles(&cluster_roles).await?;
                migration::split_bindings(&cluster_bindings).await?;
                // Roles come first, so that no binding refers to a missing role.
                reconcile(&cluster_roles, &wanted_cluster_roles(&tables), roles::completed).await?;
                reconcile_bindings(&cluster_bindings, &wanted_cluster_role_bindings(&tables)).await?;
                reconcile(&roles, &wanted_roles(&tables), roles::completed).await?;
                reconcile_bindings(&bindings, &wanted_role_bindings(&tables)).await
            };
            made.await.map_err(|error: LoopbackError| HookError(error.to_string()))
        })
    }))
}

/// Creates missing objects, and replaces those that `completed` changes.
async fn reconcile(
    objects: &ResourceClient,
    wanted: &[Value],
    completed: fn(&Value, &Value) -> Option<Value>,
) -> Result<(), LoopbackError> {
    let each = wanted.iter().map(|wanted| async move {
        match stored(objects, wanted) {
            None => objects.create(wanted).await,
            Some(stored) if is_protected(&stored) => Ok(()),
            Some(stored) => match completed(&stored, wanted) {
                None => Ok(()),
                Some(complete) => objects.replace(&complete).await,
            },
        }
    });
    try_join_all(each).await.map(drop)
}

/// As [`reconcile`]; but the role of a binding is immutable, so one that refers to another role is created anew.
async fn reconcile_bindings(objects: &ResourceClient, wanted: &[Value]) -> Result<(), LoopbackError> {
    for wanted in wanted {
        if let Some(stored) = stored(objects, wanted)
            && !is_protected(&stored)
            && stored["roleRef"] != wanted["roleRef"]
        {
            let namespace = text(wanted, "/metadata/namespace");
            objects.delete(namespace, text(wanted, "/metadata/name")).await?;
        }
    }
    reconcile(objects, wanted, bindings::completed).await
}

fn stored(objects: &ResourceClient, wanted: &Value) -> Option<Value> {
    objects.get(text(wanted, "/metadata/namespace"), text(wanted, "/metadata/name"))
}

fn is_protected(stored: &Value) -> bool {
    stored["metadata"]["annotations"][AUTO_UPDATE] == "false"
}

/// Adds missing labels and annotations. Returns true if any was added.
fn complete_metadata(object: &mut Value, wanted: &Value) -> bool {
    let mut changed = false;
    for map in ["labels", "annotations"] {
        let Some(metadata) = object["metadata"].as_object_mut() else {
            continue;
        };
        let have = metadata.entry(map).or_insert_with(|| Map::new().into());
        for (key, value) in wanted["metadata"][map].as_object().into_iter().flatten() {
            if have.get(key).is_none() {
                have[key] = value.clone();
                changed = true;
            }
        }
    }
    changed
}

fn wanted_cluster_roles(tables: &Tables) -> Vec<Value> {
    let people = tables.cluster_roles.iter().flat_map(|table| rows(&table["roles"]));
    let people = people.map(|(name, row)| {
        let mut role = object("ClusterRole", "", name);
        for (key, value) in row["labels"].as_object().into_iter().flatten() {
            role["metadata"]["labels"][key] = value.clone();
        }
        for field in ["aggregationRule", "rules"] {
            if let Some(value) = row.get(field) {
                role[field] = value.clone();
            }
        }
        role
    });
    let controllers = tables.controller_roles.iter().flat_map(|table| rows(&table["roles"]));
    let controllers = controllers.map(|(name, rules)| {
        let mut role = object("ClusterRole", "", &format!("{CONTROLLER}{name}"));
        role["rules"] = rules.clone();
        role
    });
    people.chain(controllers).collect()
}

fn wanted_cluster_role_bindings(tables: &Tables) -> Vec<Value> {
    let people = tables.cluster_role_bindings.iter().flat_map(rows);
    let people = people.map(|(name, subjects)| binding("", name, "ClusterRole", name, subjects));
    let controllers = tables.controller_roles.iter().flat_map(|table| rows(&table["roles"]));
    let controllers = controllers.map(|(name, _)| {
        let role = format!("{CONTROLLER}{name}");
        let account = json!([{"kind": "ServiceAccount", "name": name, "namespace": "kube-system"}]);
        binding("", &role, "ClusterRole", &role, &account)
    });
    people.chain(controllers).collect()
}

fn wanted_roles(tables: &Tables) -> Vec<Value> {
    let namespaces = tables.namespaced_roles.iter().flat_map(|table| rows(&table["roles"]));
    let roles = namespaces.flat_map(|(namespace, roles)| {
        rows(roles).map(move |(name, rules)| {
            let mut role = object("Role", namespace, name);
            role["rules"] = rules.clone();
            role
        })
    });
    roles.collect()
}

fn wanted_role_bindings(tables: &Tables) -> Vec<Value> {
    let namespaces = tables
        .namespaced_roles
        .iter()
        .flat_map(|table| rows(&table["bindings"]));
    let bindings = namespaces.flat_map(|(namespace, bindings)| {
        rows(bindings).map(move |(name, row)| binding(namespace, name, "Role", text(row, "/role"), &row["subjects"]))
    });
    bindings.collect()
}

fn rows(table: &Value) -> impl Iterator<Item = (&String, &Value)> {
    table.as_object().into_iter().flatten()
}

fn binding(namespace: &str, name: &str, role_kind: &str, role: &str, subjects: &Value) -> Value {
    let kind = if namespace.is_empty() {
        "ClusterRoleBinding"
    } else {
        "RoleBinding"
    };
    let mut binding = object(kind, namespace, name);
    binding["roleRef"] = json!({"apiGroup": GROUP, "kind": role_kind, "name": role});
    let mut subjects = subjects.clone();
    for subject in subjects.as_array_mut().into_iter().flatten() {
        if subject["kind"] != "ServiceAccount" {
            subject["apiGroup"] = GROUP.into();
        }
    }
    if subjects.as_array().is_some_and(|subjects| !subjects.is_empty()) {
        binding["subjects"] = subjects;
    }
    binding
}

fn object(kind: &str, namespace: &str, name: &str) -> Value {
    let mut object = json!({
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
            "annotations": {AUTO_UPDATE: "true"},
        },
    });
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = namespace.into();
    }
    object
}

#[cfg(test)]
mod tests;
