use planesmith_api_defs::core::v1::PersistentVolume;
use planesmith_api_defs::resource::v1::ResourceSlice;
use planesmith_api_defs::storage::v1::VolumeAttachment;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::stores::{ObjectLister, Stores};
use planesmith_store::{Expect, Op};
use serde_json::{Value, json};

use super::*;
use crate::memory_stores;

fn stores() -> Stores {
    memory_stores::stores(|scheme: &mut Scheme| {
        scheme.add::<Pod>();
        scheme.add::<PersistentVolume>();
        scheme.add::<VolumeAttachment>();
        scheme.add::<ResourceSlice>();
    })
}

fn authorizer(stores: &Stores) -> NodeAuthorizer {
    let (storage, scheme) = (stores.storage(), stores.scheme());
    let objects: Arc<dyn Lister> = Arc::new(ObjectLister::new(storage, scheme));
    NodeAuthorizer::new(storage, scheme, &objects, |_| false).unwrap()
}

fn node(name: &str) -> UserInfo {
    UserInfo {
        name: format!("system:node:{name}"),
        groups: vec!["system:nodes".to_owned()],
        ..UserInfo::default()
    }
}

/// Asks for `verb group/resource/subresource namespace/name?fieldSelector` in the name of n1; group, subresource and selector
/// may be empty. Returns the reason of a refusal.
fn authorize(authorizer: &NodeAuthorizer, verb: &str, what: &str, place: &str) -> Result<(), String> {
    let mut parts = what.split('/');
    let [group, resource, subresource] = [(); 3].map(|()| parts.next().unwrap_or_default());
    let (place, field) = place.split_once('?').unwrap_or((place, ""));
    let (namespace, name) = place.split_once('/').unwrap();
    let target = Target::Resource {
        group,
        version: "v1",
        resource,
        subresource,
        namespace,
        name,
    };
    let user = node("n1");
    let attributes = Attributes {
        selectors: Selectors { field, label: "" },
        ..Attributes::new(&user, verb, target)
    };
    match authorizer.authorize(&attributes).ready().unwrap() {
        Decision::Allow(_) => Ok(()),
        Decision::NoOpinion(reason) => Err(reason),
        other => panic!("nodes are never denied: {other:?}"),
    }
}

async fn put_pod(stores: &Stores, name: &str, node: &str, spec: Value, status: Value) {
    let mut spec = spec;
    spec["nodeName"] = node.into();
    let metadata = json!({"name": name, "namespace": "ns", "uid": format!("uid-of-{name}")});
    let pod = json!({"metadata": metadata, "spec": spec, "status": status});
    memory_stores::put::<Pod>(stores, &pod).await;
}

async fn delete_pod(stores: &Stores, name: &str) {
    let store = stores.resource(Pod::RESOURCE);
    let op = Op::Delete {
        key: store.key("ns", name).unwrap().into(),
        expect: Expect::Any,
        last: None,
    };
    store.collection().write(op).await.unwrap();
}

fn unrelated() -> Result<(), String> {
    Err("no relationship found between node 'n1' and this object".to_owned())
}

fn refused(reason: &str) -> Result<(), String> {
    Err(reason.to_owned())
}

#[tokio::test]
async fn objects_of_the_pods_of_a_node_can_be_read_at_once() {
    let stores = stores();
    let authorizer = authorizer(&stores);
    assert_eq!(authorize(&authorizer, "get", "/secrets", "ns/s"), unrelated());
    let spec = json!({
        "serviceAccountName": "sa",
        "volumes": [
            {"name": "a", "secret": {"secretName": "s"}},
            {"name": "b", "configMap": {"name": "m"}},
            {"name": "c", "persistentVolumeClaim": {"claimName": "c"}},
        ],
        "resourceClaims": [{"name": "d", "resourceClaimTemplateName": "t"}],
    });
    put_pod(&stores, "p", "n1", spec.clone(), json!({})).await;
    put_pod(
        &stores,
        "q",
        "n2",
        json!({"imagePullSecrets": [{"name": "other"}]}),
        json!({}),
    )
    .await;
    for (verb, what, place) in [
        ("get", "/secrets", "ns/s"),
        ("watch", "/secrets", "ns/s"),
        ("list", "/configmaps", "ns/m"),
        ("get", "/persistentvolumeclaims", "ns/c"),
        ("patch", "/persistentvolumeclaims/status", "ns/c"),
        ("get", "/serviceaccounts", "ns/sa"),
        ("create", "/serviceaccounts/token", "ns/sa"),
        ("get", "/pods", "ns/p"),
        ("list", "/pods", "/?spec.nodeName=n1"),
        ("watch", "/pods", "ns/p"),
    ] {
        assert_eq!(
            authorize(&authorizer, verb, what, place),
            Ok(()),
            "{verb} {what} {place}"
        );
    }
    for (verb, what, place) in [
        ("get", "/secrets", "ns/other"),
        ("get", "/secrets", "elsewhere/s"),
        ("get", "/configmaps", "ns/s"),
        ("get", "/pods", "ns/q"),
        ("get", "resource.k8s.io/resourceclaims", "ns/p-d"),
    ] {
        assert_eq!(
            authorize(&authorizer, verb, what, place),
            unrelated(),
            "{verb} {what} {place}"
        );
    }
    let created = json!({"resourceClaimStatuses": [{"name": "d", "resourceClaimName": "p-d"}]});
    put_pod(&stores, "p", "n1", spec, created).await;
    assert_eq!(
        authorize(&authorizer, "get", "resource.k8s.io/resourceclaims", "ns/p-d"),
        Ok(())
    );
    delete_pod(&stores, "p").await;
    assert_eq!(authorize(&authorizer, "get", "/secrets", "ns/s"), unrelated());
}

#[tokio::test]
async fn volumes_are_related_through_claims() {
    let stores = stores();
    let authorizer = authorizer(&stores);
    let spec = json!({"volumes": [{"name": "c", "persistentVolumeClaim": {"claimName": "c"}}]});
    put_pod(&stores, "p", "n1", spec, json!({})).await;
    let volume = |claim: &str| {
        let csi =
            json!({"driver": "d", "volumeHandle": "h", "nodeStageSecretRef": {"name": "s", "namespace": "storage"}});
        json!({"metadata": {"name": "v"}, "spec": {"claimRef": {"namespace": "ns", "name": claim}, "csi": csi}})
    };
    memory_stores::put::<PersistentVolume>(&stores, &volume("c")).await;
    let attachment = json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n1"}});
    memory_stores::put::<VolumeAttachment>(&stores, &attachment).await;
    for (what, place) in [
        ("/persistentvolumes", "/v"),
        ("/secrets", "storage/s"),
        ("storage.k8s.io/volumeattachments", "/a"),
    ] {
        assert_eq!(authorize(&authorizer, "get", what, place), Ok(()), "{what} {place}");
    }
    memory_stores::put::<PersistentVolume>(&stores, &volume("other")).await;
    assert_eq!(authorize(&authorizer, "get", "/persistentvolumes", "/v"), unrelated());
    assert_eq!(authorize(&authorizer, "get", "/secrets", "storage/s"), unrelated());
}

#[tokio::test]
async fn slices_are_those_of_the_devices_of_a_node() {
    let stores = stores();
    let authorizer = authorizer(&stores);
    for (name, node) in [("own", "n1"), ("other", "n2")] {
        let slice = json!({"metadata": {"name": name}, "spec": {"nodeName": node}});
        memory_stores::put::<ResourceSlice>(&stores, &slice).await;
    }
    let slices = "resource.k8s.io/resourceslices";
    for (verb, place) in [
        ("update", "/own"),
        ("create", "/"),
        ("deletecollection", "/?spec.nodeName=n1"),
    ] {
        assert_eq!(authorize(&authorizer, verb, slices, place), Ok(()), "{verb} {place}");
    }
    assert_eq!(authorize(&authorizer, "delete", slices, "/other"), unrelated());
    let unselected = refused("can only list/watch/deletecollection resourceslices with nodeName field selector");
    assert_eq!(
        authorize(&authorizer, "list", slices, "/?spec.nodeName!=n1"),
        unselected
    );
}

#[test]
fn nodes_write_what_kubelets_report() {
    let authorizer = authorizer(&stores());
    for (verb, what, place) in [
        ("create", "/nodes", "/"),
        ("patch", "/nodes/status", "/n1"),
        ("get", "/nodes", "/n1"),
        ("create", "/pods", "ns/"),
        ("update", "/pods/status", "ns/p"),
        ("create", "/pods/eviction", "ns/p"),
        ("create", "coordination.k8s.io/leases", "kube-node-lease/"),
        ("update", "coordination.k8s.io/leases", "kube-node-lease/n1"),
        ("get", "storage.k8s.io/csinodes", "/n1"),
        ("create", "events.k8s.io/events", "ns/"),
        ("create", "certificates.k8s.io/certificatesigningrequests", "/"),
        ("create", "authorization.k8s.io/subjectaccessreviews", "/"),
        ("watch", "/services", "/"),
    ] {
        assert_eq!(
            authorize(&authorizer, verb, what, place),
            Ok(()),
            "{verb} {what} {place}"
        );
    }
    for (verb, what, place, reason) in [
        ("delete", "/nodes", "/n1", ""),
        ("get", "/nodes/proxy", "/n1", ""),
        ("create", "/services", "ns/", ""),
        ("get", "/pods/log", "ns/p", ""),
        ("list", "certificates.k8s.io/podcertificaterequests", "ns/", ""),
        (
            "list",
            "/nodes",
            "/",
            "node 'n1' cannot read all nodes, only its own Node object",
        ),
        (
            "get",
            "/nodes",
            "/n2",
            "node 'n1' cannot read 'n2', only its own Node object",
        ),
        (
            "list",
            "/pods",
            "/",
            "can only list/watch pods with spec.nodeName field selector",
        ),
        ("create", "/secrets", "ns/", "can only read resources of this type"),
        ("list", "/secrets", "/", "can only read namespaced object of this type"),
        ("list", "/secrets", "ns/", "No Object name found"),
        (
            "list",
            "/persistentvolumes",
            "/",
            "can only get individual resources of this type",
        ),
        ("get", "/persistentvolumes/status", "/v", "cannot get subresource"),
        (
            "get",
            "/persistentvolumeclaims/status",
            "ns/c",
            "can only get/update/patch this type",
        ),
        (
            "create",
            "/serviceaccounts",
            "ns/",
            "can only create tokens for individual service accounts",
        ),
        (
            "list",
            "coordination.k8s.io/leases",
            "kube-node-lease/",
            "can only get, create, update, patch, or delete a node lease",
        ),
        (
            "get",
            "coordination.k8s.io/leases",
            "ns/n1",
            "can only access leases in the \"kube-node-lease\" system namespace",
        ),
        (
            "get",
            "coordination.k8s.io/leases",
            "kube-node-lease/n2",
            "can only access node lease with the same name as the requesting node",
        ),
    ] {
        assert_eq!(
            authorize(&authorizer, verb, what, place),
            refused(reason),
            "{verb} {what} {place}"
        );
    }
}

#[test]
fn other_users_are_left_to_other_authorizers() {
    let authorizer = authorizer(&stores());
    let decide = |user: &UserInfo| {
        let attributes = Attributes::new(user, "get", Target::Path("/version"));
        authorizer.authorize(&attributes).ready().unwrap()
    };
    let outside = UserInfo {
        groups: Vec::new(),
        ..node("n1")
    };
    assert_eq!(decide(&outside), Decision::NoOpinion(String::new()));
    assert!(!authorizer.rules(&outside, "ns").incomplete);
    let nameless = Decision::NoOpinion("unknown node for user \"system:node:\"".to_owned());
    assert_eq!(decide(&node("")), nameless);
    let rules = authorizer.rules(&node("n1"), "ns");
    assert!(rules.incomplete && rules.errors.len() == 1);
}
